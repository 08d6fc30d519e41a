package memory

import (
	"encoding/json"
	"time"
)

// StartSessionRequest opens a session.
type StartSessionRequest struct {
	// RequestID is as in RememberRequest.
	RequestID string `json:"request_id,omitempty"`
	// SessionID is made where none is given.
	SessionID   string          `json:"sessionId,omitempty"`
	Goal        string          `json:"goal,omitempty"`
	FlowTags    []string        `json:"flowTags,omitempty"`
	Tags        []string        `json:"tags,omitempty"`
	Build       json.RawMessage `json:"build,omitempty"`
	Launch      json.RawMessage `json:"launch,omitempty"`
	Screenshots bool            `json:"screenshots,omitempty"`
	// Resume takes up an open session of the same client that has this id: it gets the
	// goal if it has none, the tags, and the caller's window. For hooks, which do not
	// know what came before them.
	Resume  bool   `json:"resume,omitempty"`
	Project string `json:"project,omitempty"`
	Caller  Caller `json:"caller,omitzero"`
}

// RecordStepRequest records one step.
type RecordStepRequest struct {
	RequestID string `json:"request_id,omitempty"`
	// SessionID is by default the caller's current session.
	SessionID string `json:"sessionId,omitempty"`
	// Open opens the session named if it is not known, for hooks that may see
	// a step before a start.
	Open bool `json:"open,omitempty"`
	// Timestamp is by default now.
	Timestamp   time.Time       `json:"timestamp,omitzero"`
	Tool        StepTool        `json:"tool"`
	Outcome     Outcome         `json:"outcome"`
	Observation json.RawMessage `json:"observation,omitempty"`
	Environment json.RawMessage `json:"environment,omitempty"`
	DurationMs  int64           `json:"durationMs,omitempty"`
	Screenshot  string          `json:"screenshot,omitempty"`
	// Advise asks, for a step that failed, for lessons about its error.
	Advise  bool   `json:"advise,omitempty"`
	Project string `json:"project,omitempty"`
	Caller  Caller `json:"caller,omitzero"`
}

// StepRecorded says what became of a step.
type StepRecorded struct {
	ID        string    `json:"id"`
	SessionID string    `json:"sessionId"`
	Project   string    `json:"project"`
	Timestamp time.Time `json:"timestamp"`
	Labels    []string  `json:"labels"`
	Redacted  bool      `json:"redacted,omitempty"`
	// File is the step's file, if files are written.
	File string `json:"file,omitempty"`
	// Warning says what of it could not be kept: a file that could not be
	// written. The record is there.
	Warning string `json:"warning,omitempty"`
	// Advice holds lessons about the step's error, if they were asked for.
	Advice *RecallResponse `json:"advice,omitempty"`
	Seq    uint64          `json:"seq"`
	// Repeated says that the request was done before. It stays in the daemon: a
	// caller is answered as the first time.
	Repeated bool `json:"-"`
}

// EndSessionRequest ends a session; by default the caller's current one.
type EndSessionRequest struct {
	RequestID string `json:"request_id,omitempty"`
	SessionID string `json:"sessionId,omitempty"`
	Project   string `json:"project,omitempty"`
	Caller    Caller `json:"caller,omitzero"`
}

// SessionState is a session as its writer is told of it.
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

// HistoryRequest asks for steps or sessions (contract 1). Each question uses the
// fields that it needs; zero values mean its defaults. Transports take each question
// in a form of its own (package wire), so that a field of another one is refused.
type HistoryRequest struct {
	Query   string
	Scope   *Scope
	Filters *StepFilters
	Limit   int
	Project string
	Caller  Caller
}

// StepFilters are the filters of the knowledge tools; they are ANDed. A pointer
// tells a value that is empty, which is an error, from none.
type StepFilters struct {
	FlowTag    *string `json:"flowTag,omitempty"`
	Tag        *string `json:"tag,omitempty"`
	Screen     *string `json:"screen,omitempty"`
	GitBranch  *string `json:"gitBranch,omitempty"`
	SinceHours *int    `json:"sinceHours,omitempty"`
}

// StepView is a step as the knowledge tools show it.
type StepView struct {
	ID        string    `json:"id,omitempty"`
	Timestamp time.Time `json:"timestamp"`
	Tool      string    `json:"tool"`
	Screen    string    `json:"screen"`
	Snippet   string    `json:"snippet"`
	Labels    []string  `json:"labels"`
	StepEnd
	SessionID   string `json:"sessionId"`
	SessionGoal string `json:"sessionGoal,omitempty"`
	// MatchedFields names the parts of the step that hold words of the question.
	MatchedFields []string `json:"matchedFields,omitempty"`
	// Provenance is that of a step which was followed from the repository's files.
	Provenance *Provenance `json:"provenance,omitempty"`
}

// StepEnd says what a step was done to and how it ended.
type StepEnd struct {
	OK bool `json:"ok"`
	// Target is what the tool was used on, in a line of at most 120 bytes: its target,
	// else the file, page or command of its input. It is empty where the step does not say.
	Target string `json:"target,omitempty"`
	// Error is what it failed with, the message in a line of at most 200 bytes, without
	// details. Nil when OK.
	Error *StepError `json:"error,omitempty"`
}

// StepMatches is the answer of SearchSteps.
type StepMatches struct {
	Query   string     `json:"query"`
	Matches []StepView `json:"matches"`
	// Incomplete and Why are as in RecallResponse.
	Incomplete bool   `json:"incomplete,omitempty"`
	Why        string `json:"why,omitempty"`
}

// StepList is the answer of LastSteps.
type StepList struct {
	Steps []StepView `json:"steps"`
}

// SessionView is a session as the knowledge tools show it.
type SessionView struct {
	SessionID string    `json:"sessionId"`
	CreatedAt time.Time `json:"createdAt"`
	Goal      string    `json:"goal"`
	FlowTags  []string  `json:"flowTags"`
	Tags      []string  `json:"tags"`
	Git       Git       `json:"git"`
	// Provenance is that of a session which was followed from the repository's files.
	Provenance *Provenance `json:"provenance,omitempty"`
}

// SessionList is the answer of Sessions.
type SessionList struct {
	Sessions []SessionView `json:"sessions"`
}

// RecipeStep is one line of a summary's recipe. Numbers count from 1.
type RecipeStep struct {
	StepNumber int    `json:"stepNumber"`
	Tool       string `json:"tool"`
	Notes      string `json:"notes"`
}

// Failure is a step that failed, and what recovered it: the next step of the
// same tool and target that succeeded, with those between. RecoveredBy is 0
// when nothing did.
type Failure struct {
	StepNumber  int    `json:"stepNumber"`
	Tool        string `json:"tool"`
	Error       string `json:"error"`
	RecoveredBy int    `json:"recoveredBy,omitempty"`
	Recovery    string `json:"recovery,omitempty"`
}

// Summary is the deterministic summary of one session.
type Summary struct {
	SessionID string       `json:"sessionId"`
	StepCount int          `json:"stepCount"`
	Recipe    []RecipeStep `json:"recipe"`
	// OmittedSteps are the last ones, which the recipe has no room for.
	OmittedSteps int            `json:"omittedSteps,omitempty"`
	Goal         string         `json:"goal,omitempty"`
	CreatedAt    time.Time      `json:"createdAt,omitzero"`
	EndedAt      time.Time      `json:"endedAt,omitzero"`
	Labels       map[string]int `json:"labels"`
	// Screens are the screens in the order in which they were first seen.
	Screens  []string  `json:"screens"`
	Failures []Failure `json:"failures"`
	// Followed counts the steps that were followed from the repository's files.
	Followed int `json:"followed,omitempty"`
}
