package memory

import "context"

// Origin says how something got into the memory.
type Origin string

// The origins, by rising trust.
const (
	// OriginFollowed was read from a file of a repository, which whoever wrote the
	// repository has written. It is shown in its own project only, after what was told
	// or imported, marked, and its file counts no success of its own.
	OriginFollowed Origin = "followed"
	// OriginImported was read from a file because a command named that file.
	OriginImported Origin = "imported"
	// OriginTold came from an agent or a person, in a call.
	OriginTold Origin = "told"
)

// Provenance says where a record comes from. The zero value is that of a record
// which was stored before provenance was kept and which no file is known to have
// brought: it counts as told.
type Provenance struct {
	Origin Origin `json:"origin"`
	// Agent and Session are of what was told: who told it, and in which session.
	Agent   string `json:"agent,omitempty"`
	Session string `json:"session,omitempty"`
	// Path is the file that it was read from; for a session and its steps, the
	// folder of the session.
	Path string `json:"path,omitempty"`
}

// Trust is the level of trust that follows from an origin.
type Trust int

// The levels of trust. A higher one is never changed by a lower one.
const (
	TrustFollowed Trust = iota // text of whoever wrote the repository
	TrustImported              // a file that the user named
	TrustTold
)

// Trust returns the level of trust of what has this provenance.
func (p Provenance) Trust() Trust {
	switch p.Origin {
	case OriginFollowed:
		return TrustFollowed
	case OriginImported:
		return TrustImported
	}
	return TrustTold
}

// Followed says that it was read from a file of a repository.
func (p Provenance) Followed() bool { return p.Origin == OriginFollowed }

// FollowedMark marks text from a repository's files wherever it is shown.
const FollowedMark = "[from the repository's files]"

// ProjectResolver finds the project that a caller means.
type ProjectResolver interface {
	Resolve(ctx context.Context, project string, caller Caller) (p Project, known bool, err error)
}

// AsksFrom says whether a caller asks from a project, which named, if it is not empty,
// was resolved to: only then is shown what was followed from the project's files. A
// caller without a folder is where it says.
func AsksFrom(ctx context.Context, projects ProjectResolver, project, named string, caller Caller) bool {
	if named == "" || caller.Dir == "" {
		return true
	}
	own, _, err := projects.Resolve(ctx, "", Caller{Dir: caller.Dir})
	return err == nil && own.ID == project
}
