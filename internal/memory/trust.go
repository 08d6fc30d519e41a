package memory

import (
	"context"
	"strings"
	"time"
)

// ProvenanceOf returns the provenance of what a source registers.
func ProvenanceOf(source string) Provenance {
	if path, ok := strings.CutPrefix(source, FilePrefix); ok {
		return Provenance{Origin: OriginFollowed, Path: path}
	}
	return Provenance{Origin: OriginTold, Agent: source}
}

// Origin says how something got into the memory.
type Origin string

// The origins, by rising trust.
const (
	// OriginFollowed was read from a file of a repository, which the author of the
	// repository has written. It is shown in its own project only, after what was reported
	// or imported, marked, and its file counts no success of its own.
	OriginFollowed Origin = "followed"
	// OriginTeam was learned by another member of the team, named by Agent.
	OriginTeam Origin = "team"
	// OriginImported was read from a file because a command named that file.
	OriginImported Origin = "imported"
	// OriginHistory was learned from what the logs of an agent show: something failed, and
	// then a fix was seen to work. It is shown as likely at most until a success is counted.
	OriginHistory Origin = "history"
	// OriginTold came from an agent or a person, in a call.
	OriginTold Origin = "told"
)

// Provenance says where a record comes from. The zero value stands for a record
// which was stored before provenance was kept and which no file is known to have
// brought: it counts as reported.
type Provenance struct {
	Origin Origin `json:"origin"`
	// Agent and Session say who reported the record, and in which session; for a session
	// summary of the team, the member, and what the team calls the session.
	Agent   string `json:"agent,omitempty"`
	Session string `json:"session,omitempty"`
	// Path is the file that it was read from; for a session and its steps, the
	// folder of the session; for a lesson of the team, a followed file that has it too.
	Path string `json:"path,omitempty"`
}

// Trust is the level of trust that follows from an origin.
type Trust int

// The levels of trust. A higher one is never changed by a lower one.
const (
	trustFollowed Trust = iota // text of the repository's author
	trustTeam                  // a colleague
	trustImported              // a file that the user named
	trustTold
)

// Trust returns the level of trust of what has this provenance.
func (p Provenance) Trust() Trust {
	switch p.Origin {
	case OriginFollowed:
		return trustFollowed
	case OriginTeam:
		return trustTeam
	case OriginImported, OriginHistory:
		return trustImported
	}
	return trustTold
}

// Followed says that it was read from a file of a repository.
func (p Provenance) Followed() bool { return p.Origin == OriginFollowed }

// FollowedMark marks text from a repository's files wherever it is shown.
const FollowedMark = "[from the repository's files]"

// ProjectResolver finds the project that a caller means.
type ProjectResolver interface {
	// Resolve returns the project of an id, a name or a folder, or of the caller's folder
	// when none is named, and whether it is stored.
	Resolve(ctx context.Context, project string, caller Caller) (p Project, known bool, err error)
}

// HistoryMark marks a lesson that was learned from the logs of agents.
const HistoryMark = "[learned from history]"

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

// TrustRequest agrees to the files of a repository being read into the memory, or takes
// that back.
type TrustRequest struct {
	// Path is a folder of the repository; the caller's if empty.
	Path   string `json:"path,omitempty" text:"exact"`
	Revoke bool   `json:"revoke,omitempty"`
	// List changes nothing. With a path, its repository is looked at before.
	List   bool   `json:"list,omitempty"`
	Caller Caller `json:"caller,omitzero"`
}

// TrustedFolder is a repository whose files are read into the memory.
type TrustedFolder struct {
	// Folder is the top of the repository; its linked worktrees are trusted with it.
	Folder      string    `json:"folder"`
	Project     string    `json:"project,omitempty"`
	ProjectName string    `json:"project_name,omitempty"`
	At          time.Time `json:"at,omitzero"`
	// Setting says that it is a folder, or pattern, of sources.trusted.
	Setting bool `json:"setting,omitempty"`
}

// WaitingFiles are files of a repository that are not read before the user agrees.
type WaitingFiles struct {
	Root        string `json:"root"`
	ProjectName string `json:"project_name,omitempty"`
	// Logs are lesson logs with lines that are not known, Sessions folders of sessions
	// that are not known, ContextFiles files with rules, references or servers.
	Logs         int `json:"logs,omitempty"`
	Sessions     int `json:"sessions,omitempty"`
	ContextFiles int `json:"context_files,omitempty"`
}

// Text says what waits: "1 lesson log, 2 sessions and 1 context file".
func (w WaitingFiles) Text() string {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{w.Logs, "lesson log"}, {w.Sessions, "session"}, {w.ContextFiles, "context file"}} {
		if p.n > 0 {
			parts = append(parts, Count(p.n, p.what))
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	text := parts[len(parts)-1]
	if len(parts) > 1 {
		text = strings.Join(parts[:len(parts)-1], ", ") + " and " + text
	}
	return text
}

// TrustState says which repositories are trusted, and which files of others wait.
type TrustState struct {
	// Root is the repository that the request was about; empty for a list.
	Root    string          `json:"root,omitempty"`
	Trusted []TrustedFolder `json:"trusted"`
	Waiting []WaitingFiles  `json:"waiting"`
	// Removed counts the records that a revocation took out of the memory.
	Removed int `json:"removed,omitempty"`
}
