package memory

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
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
	// Window is the window that it belongs to, as Caller.Window; empty if it
	// is unknown.
	Window    string    `json:"window,omitempty"`
	CreatedAt time.Time `json:"createdAt"`
	EndedAt   time.Time `json:"endedAt,omitzero"`
	// Derived says that the goal was made from steps, and gives way to one that is told.
	Derived bool `json:"derivedGoal,omitempty"`
	// Hooked says that it was opened by a client's hooks: it ends when the client is gone.
	Hooked bool `json:"hooked,omitempty"`
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
	// Private says that a private lesson was told in it: its summary is not for the team. It
	// stays so when the lesson is forgotten.
	Private bool `json:"private,omitempty"`
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

// Validate checks the limits of a session that was read from a file. They are
// the limits of a session that is started, so that it can be written again.
func (s *Session) Validate() error {
	if err := ValidSessionID("sessionId", s.ID); err != nil {
		return err
	}
	if !validTime(s.CreatedAt) && !s.Bare {
		return Invalid("createdAt", timeLimit, "is missing or out of range")
	}
	if err := checkTime("endedAt", s.EndedAt); err != nil {
		return err
	}
	if err := s.Git.validate(); err != nil {
		return err
	}
	if n := ExtraSize(s.Extra); n > maxSessionJSON {
		return Invalid("sessionId", fmt.Sprintf("at most %d bytes of other fields", maxSessionJSON), "the session has %d bytes of other fields", n)
	}
	return Check(&StartSessionRequest{SessionID: s.ID, Goal: s.Goal, FlowTags: s.FlowTags, Tags: s.Tags, Build: s.Build, Launch: s.Launch})
}

// SessionFinder finds the session that a caller means.
type SessionFinder interface {
	// FindSession returns the session with an id, or the current one of the caller.
	// CodeNotFound for an id that no session has, CodeInvalidInput when none is open.
	FindSession(project, id string, caller Caller) (Session, error)
}

// Git is where a repository stood.
type Git struct {
	Branch string `json:"branch,omitempty" limit:"0-4096" text:"exact"`
	Commit string `json:"commit,omitempty" limit:"0-200" text:"exact"`
	Dirty  bool   `json:"dirty,omitempty"`
}

// validate checks what a file says of git; nil says nothing. A branch is a path.
func (g *Git) validate() error {
	if g == nil {
		return nil
	}
	return checkStruct(reflect.ValueOf(g).Elem(), "git.")
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

// StartSessionRequest opens a session. Whether its flow tags are in the vocabulary, the
// daemon checks.
type StartSessionRequest struct {
	// RequestID is as in RememberRequest.
	RequestID string `json:"request_id,omitempty" limit:"0-200"`
	// SessionID is made where none is given.
	SessionID   string          `json:"sessionId,omitempty" limit:"4-200" text:"id" desc:"Letters, digits, . _ and -; made if left out." pattern:"^[A-Za-z0-9_-][A-Za-z0-9._-]*[A-Za-z0-9_-]$"`
	Goal        string          `json:"goal,omitempty" limit:"0-2000" desc:"What the session is for, in a sentence."`
	FlowTags    []string        `json:"flowTags,omitempty" limit:"0-20" each:"1-64" desc:"The flows it is about, of the vocabulary in the settings."`
	Tags        []string        `json:"tags,omitempty" limit:"0-20" each:"1-64" desc:"A few words of your own to group by."`
	Build       json.RawMessage `json:"build,omitempty" limit:"0-16384" form:"object" desc:"Facts about the build, such as {\"buildType\": \"build:test\"}."`
	Launch      json.RawMessage `json:"launch,omitempty" limit:"0-16384" form:"object" desc:"How the program under test was started."`
	Screenshots bool            `json:"screenshots,omitempty" usual:"false" desc:"Store the pictures that its steps name."`
	// Resume takes up an open session of the same client that has this id: it gets the
	// goal if it has none, the tags, and the caller's window. For hooks, which do not
	// know what came before them.
	Resume  bool   `json:"resume,omitempty" mcp:"-"`
	Project string `json:"project,omitempty" limit:"0-4096"`
	Caller  Caller `json:"caller,omitzero"`
}

// RecordStepRequest records one step.
type RecordStepRequest struct {
	RequestID string `json:"request_id,omitempty" limit:"0-200"`
	SessionID string `json:"sessionId,omitempty" limit:"4-200" text:"id" desc:"Default: the current session."`
	// Open opens the session named if it is not known, for hooks that may see
	// a step before a start.
	Open        bool            `json:"open,omitempty" mcp:"-"`
	Timestamp   time.Time       `json:"timestamp,omitzero" desc:"Default: now."`
	Tool        StepTool        `json:"tool" required:"an object with name" desc:"What was used, and on what."`
	Outcome     Outcome         `json:"outcome" desc:"How it ended."`
	Observation json.RawMessage `json:"observation,omitempty" limit:"0-262144" form:"object,string" desc:"What was seen: a text, or an object such as {state: {currentScreen}, testIds, a11y: {nodes}}."`
	Environment json.RawMessage `json:"environment,omitempty" form:"object" desc:"Facts about where it ran."`
	DurationMs  int64           `json:"durationMs,omitempty" limit:"0-604800000" desc:"How long it took."`
	Screenshot  string          `json:"screenshot,omitempty" limit:"0-200" text:"exact" desc:"Name or path of a picture."`
	// Advise asks, for a step that failed, for lessons about its error.
	Advise  bool   `json:"advise,omitempty" usual:"true" desc:"Answer a step that failed with lessons about its error."`
	Project string `json:"project,omitempty" limit:"0-4096"`
	Caller  Caller `json:"caller,omitzero"`
}

func (r *RecordStepRequest) relations(string) error {
	if r.Outcome.OK && r.Outcome.Error != nil {
		return Invalid("outcome.error", "only with ok false", "a step that went well has no error")
	}
	return validStep(StepContent{Tool: r.Tool, Outcome: r.Outcome, Observation: r.Observation, Environment: r.Environment})
}

// StepRecorded says what became of a step.
type StepRecorded struct {
	ID        string    `json:"id"`
	SessionID string    `json:"sessionId"`
	Project   string    `json:"project"`
	Timestamp time.Time `json:"timestamp" desc:"Moved on by a millisecond where two steps of a tool would share it."`
	Labels    []string  `json:"labels" desc:"Derived from tool, target and outcome."`
	Redacted  bool      `json:"redacted,omitempty" desc:"A secret was taken out."`
	// File is the step's file, if files are written.
	File string `json:"file,omitempty" desc:"The step's file."`
	// Warning says what could not be kept: a file that could not be
	// written. The record is there.
	Warning string `json:"warning,omitempty" desc:"What could not be done beside; the step is kept."`
	// Advice holds lessons about the step's error, if they were asked for.
	Advice *RecallResponse `json:"advice,omitempty" desc:"Lessons about its error, as recall answers."`
	Seq    uint64          `json:"seq" desc:"The committed batch that holds it."`
	// Repeated says that the request was done before. It stays in the daemon: a
	// caller is answered as the first time.
	Repeated bool `json:"-"`
}

// EndSessionRequest ends a session; by default the caller's current one.
type EndSessionRequest struct {
	RequestID string `json:"request_id,omitempty" limit:"0-200"`
	SessionID string `json:"sessionId,omitempty" limit:"4-200" text:"id" desc:"Default: the current session."`
	Project   string `json:"project,omitempty" limit:"0-4096"`
	Caller    Caller `json:"caller,omitzero"`
}

// SessionState is a session as its writer sees it.
type SessionState struct {
	Session
	ProjectName string `json:"project_name,omitempty"`
	Steps       int    `json:"steps"`
	// Dir is the folder of its files, if files are written.
	Dir      string `json:"dir,omitempty"`
	Redacted bool   `json:"redacted,omitempty"`
	Warning  string `json:"warning,omitempty"`
	Seq      uint64 `json:"seq"`
}

// StepContent is what a step says beside its record's id, session, time and
// text. Objects of the host's are kept as they came, secrets taken out.
type StepContent struct {
	Tool    StepTool `json:"tool"`
	Outcome Outcome  `json:"outcome"`
	// Observation is an object, or a text as a JSON string.
	Observation json.RawMessage `json:"observation,omitempty"`
	Environment json.RawMessage `json:"environment,omitempty"`
	Build       json.RawMessage `json:"build,omitempty"`
	Git         *Git            `json:"git,omitempty"`
	DurationMs  int64           `json:"durationMs,omitempty"`
	// Screenshot names a picture; see Session.Screenshots.
	Screenshot string `json:"screenshot,omitempty"`
	// Labels are derived from tool and outcome, or come with an imported step.
	Labels []string `json:"labels,omitempty"`
	// Screen is the observation's state.currentScreen.
	Screen string `json:"screen,omitempty"`
	// Fingerprints name the error of a step that failed (package fingerprint).
	Fingerprints []string `json:"fingerprints,omitempty"`
	// Extra holds fields of an imported file that this version does not know.
	Extra map[string]json.RawMessage `json:"extra,omitempty"`
}

// StepTool is the tool that a step used, and on what. Input and Target are any
// JSON values.
type StepTool struct {
	Name   string          `json:"name" limit:"1-200" text:"exact"`
	Input  json.RawMessage `json:"input,omitempty" desc:"What it was given."`
	Target json.RawMessage `json:"target,omitempty" desc:"What it acted on: a file, a button, a selector."`
}

// Outcome is how a step ended. Error is nil when OK.
type Outcome struct {
	OK    bool       `json:"ok" required:"true or false"`
	Error *StepError `json:"error,omitempty" desc:"Only when it failed."`
}

// StepError is what a step failed with.
type StepError struct {
	Code    string          `json:"code,omitempty" limit:"0-200" text:"exact"`
	Message string          `json:"message,omitempty" limit:"0-8000" text:"exact" desc:"The message as it was shown." out:"In a line."`
	Details json.RawMessage `json:"details,omitempty" desc:"More of it." mcp:"in"`
}

// ExtraSize is what fields that this version does not know take, in bytes.
func ExtraSize(fields map[string]json.RawMessage) int {
	n := 0
	for name, value := range fields {
		n += len(name) + len(value)
	}
	return n
}

// validStep checks that a step names a tool, and that its JSON values are no larger
// together than a step may be; the error names the largest.
func validStep(c StepContent) error {
	if strings.TrimSpace(c.Tool.Name) == "" {
		return Invalid("tool.name", Range{1, MaxNameText}.Of("characters"), "is empty")
	}
	values := map[string]json.RawMessage{
		"tool.input": c.Tool.Input, "tool.target": c.Tool.Target,
		"observation": c.Observation, "environment": c.Environment, "build": c.Build,
	}
	if c.Outcome.Error != nil {
		values["outcome.error.details"] = c.Outcome.Error.Details
	}
	total, largest := 0, "observation"
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value := values[name]
		if len(value) > 0 && !json.Valid(value) {
			return Invalid(name, "valid JSON", "is not valid JSON")
		}
		if total += len(value); len(value) > len(values[largest]) {
			largest = name
		}
	}
	if total > maxStepJSON {
		return Invalid(largest, fmt.Sprintf("at most %d bytes in all JSON values of a step", maxStepJSON),
			"the values have %d bytes, most of them here", total)
	}
	return nil
}
