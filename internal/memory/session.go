package memory

import (
	"encoding/json"
	"time"
)

// Session is one run of one agent in one project. Its steps are records that
// carry its id.
type Session struct {
	ID      string `json:"sessionId"`
	Project string `json:"project"`
	// Client is the program that opened it, as Caller.Client; empty for an
	// imported one.
	Client string `json:"client,omitempty"`
	// Window is the window that it belongs to, as Caller.Window; empty for one that
	// nobody can tell.
	Window    string    `json:"window,omitempty"`
	CreatedAt time.Time `json:"createdAt"`
	EndedAt   time.Time `json:"endedAt,omitzero"`
	// ResumedAt is when its client last took it up again.
	ResumedAt time.Time `json:"resumedAt,omitzero"`
	Goal      string    `json:"goal,omitempty"`
	FlowTags  []string  `json:"flowTags,omitempty"`
	Tags      []string  `json:"tags,omitempty"`
	Git       *Git      `json:"git,omitempty"`
	// Build and Launch are objects of the host's, kept as they came.
	Build  json.RawMessage `json:"build,omitempty"`
	Launch json.RawMessage `json:"launch,omitempty"`
	// Screenshots says that the pictures its steps name are stored.
	Screenshots bool `json:"screenshots,omitempty"`
	// Imported says that it was read from a file: it is never a current session, and
	// the file may change it. A file never changes a session that was started here.
	Imported bool `json:"imported,omitempty"`
	// Provenance is where its metadata comes from. Each step has its own.
	Provenance Provenance `json:"provenance,omitzero"`
	// Bare says that only steps of it are known. It passes no filter of sessions.
	Bare bool `json:"bare,omitempty"`
	// Extra holds fields of an imported file that this version does not know.
	Extra map[string]json.RawMessage `json:"extra,omitempty"`
}

// Started is when the session began, or was last taken up again.
func (s *Session) Started() time.Time {
	if s.ResumedAt.After(s.CreatedAt) {
		return s.ResumedAt
	}
	return s.CreatedAt
}

// SessionKey names a session; ids are unique in a project.
type SessionKey struct{ Project, ID string }

// Key returns the session's key.
func (s *Session) Key() SessionKey { return SessionKey{s.Project, s.ID} }

// Open says that the session was started here and has not ended.
func (s *Session) Open() bool { return s.EndedAt.IsZero() && !s.Bare && !s.Imported }

// Git is where a repository stood.
type Git struct {
	Branch string `json:"branch,omitempty" limit:"0-4096" text:"exact"`
	Commit string `json:"commit,omitempty" limit:"0-200" text:"exact"`
	Dirty  bool   `json:"dirty,omitempty"`
}

// SessionFilter chooses sessions by their metadata. Zero values do not narrow;
// Screen keeps sessions that have a step on that screen.
type SessionFilter struct {
	FlowTag   string
	Tag       string
	GitBranch string
	Screen    string
	// Since is the earliest createdAt.
	Since time.Time
}

// IsZero says that the filter lets every session pass, a bare one too.
func (f SessionFilter) IsZero() bool { return f == SessionFilter{} }
