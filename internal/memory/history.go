package memory

import (
	"cmp"
	"time"
)

// SearchStepsRequest finds steps by words and meaning, best first.
type SearchStepsRequest struct {
	Query   string       `json:"query" limit:"1-200" desc:"A tool, a screen, a target, words of an error or of a goal."`
	Scope   *Scope       `json:"scope,omitempty" usual:"all" desc:"Whose steps."`
	Filters *StepFilters `json:"filters,omitempty" desc:"All that are given must hold."`
	Limit   int          `json:"limit,omitempty" limit:"1-100" default:"20" desc:"Most steps to return."`
	Project string       `json:"project,omitempty" limit:"0-4096" mcp:"-"`
	Caller  Caller       `json:"caller,omitzero"`
}

func (r *SearchStepsRequest) relations(string) error {
	r.Scope = cmp.Or(r.Scope, &Scope{Name: ScopeAll})
	return nil
}

// LastStepsRequest lists the newest steps, newest first.
type LastStepsRequest struct {
	N       int          `json:"n,omitempty" limit:"1-200" default:"20" desc:"Most steps to return, counted after the filters."`
	Skip    int          `json:"skip,omitempty" limit:"0-1000000" desc:"How many of the newest to leave out." mcp:"-"`
	Scope   *Scope       `json:"scope,omitempty" usual:"current" desc:"Whose steps."`
	Filters *StepFilters `json:"filters,omitempty" desc:"All that are given must hold."`
	Project string       `json:"project,omitempty" limit:"0-4096" mcp:"-"`
	Caller  Caller       `json:"caller,omitzero"`
}

func (r *LastStepsRequest) relations(string) error {
	r.Scope = cmp.Or(r.Scope, &Scope{Name: ScopeCurrent})
	return nil
}

// SummarizeRequest summarises one session.
type SummarizeRequest struct {
	Scope   *Scope `json:"scope,omitempty" usual:"current" desc:"Which session; all is refused."`
	Project string `json:"project,omitempty" limit:"0-4096" mcp:"-"`
	Caller  Caller `json:"caller,omitzero"`
}

func (r *SummarizeRequest) relations(string) error {
	r.Scope = cmp.Or(r.Scope, &Scope{Name: ScopeCurrent})
	if r.Scope.Name == ScopeAll {
		return Invalid("scope", "current or {sessionId}", "a summary is of one session")
	}
	return nil
}

// SessionsRequest lists sessions, newest first.
type SessionsRequest struct {
	Filters *StepFilters `json:"filters,omitempty" desc:"All that are given must hold."`
	Limit   int          `json:"limit,omitempty" limit:"1-50" default:"10" desc:"Most sessions to return."`
	Skip    int          `json:"skip,omitempty" limit:"0-1000000" desc:"How many of the newest to leave out." mcp:"-"`
	Project string       `json:"project,omitempty" limit:"0-4096" mcp:"-"`
	Caller  Caller       `json:"caller,omitzero"`
}

// StepFilters are the filters of the knowledge tools; they are ANDed. The fields are
// pointers because an empty value is an error.
type StepFilters struct {
	FlowTag    *string `json:"flowTag,omitempty" limit:"1-200" text:"exact" desc:"Sessions with this flow tag."`
	Tag        *string `json:"tag,omitempty" limit:"1-200" text:"exact" desc:"Sessions with this tag."`
	Screen     *string `json:"screen,omitempty" limit:"1-200" text:"exact" desc:"Steps on this screen; in a list of sessions, those that have such a step."`
	GitBranch  *string `json:"gitBranch,omitempty" limit:"1-200" text:"exact" desc:"Sessions started on this branch."`
	SinceHours *int    `json:"sinceHours,omitempty" limit:"1-720" desc:"Sessions created in the last hours."`
}

// StepView is a step as the knowledge tools show it.
type StepView struct {
	ID        string    `json:"id,omitempty"`
	Timestamp time.Time `json:"timestamp"`
	Tool      string    `json:"tool"`
	Screen    string    `json:"screen" desc:"Empty where the step has none."`
	Snippet   string    `json:"snippet" desc:"The parts that matter, in a line."`
	Labels    []string  `json:"labels"`
	StepEnd
	SessionID     string   `json:"sessionId"`
	SessionGoal   string   `json:"sessionGoal,omitempty"`
	MatchedFields []string `json:"matchedFields,omitempty" desc:"The parts of the step that hold words of the query."`
	// Provenance is set for a step that was read from the repository's files.
	Provenance *Provenance `json:"provenance,omitempty" mcp:"-"`
}

// StepEnd says what a step was done to and how it ended.
type StepEnd struct {
	OK bool `json:"ok" desc:"Whether it worked."`
	// Target is what the tool was used on, in a line of at most 120 bytes: its target,
	// else the file, page or command of its input. It is empty where the step does not say.
	Target string `json:"target,omitempty" desc:"What the tool was used on, in a line."`
	// Error is what it failed with, the message in a line of at most 200 bytes, without
	// details. Nil when OK.
	Error *StepError `json:"error,omitempty" desc:"What it failed with."`
}

// StepMatches is the answer of SearchSteps.
type StepMatches struct {
	Query   string     `json:"query"`
	Matches []StepView `json:"matches" desc:"Best first."`
	// Incomplete and Why are as in RecallResponse.
	Incomplete bool   `json:"incomplete,omitempty" desc:"Not all was searched, so what is missing here may exist; ask again."`
	Why        string `json:"why,omitempty" desc:"Why it is incomplete."`
}

// StepList is the answer of LastSteps.
type StepList struct {
	Steps []StepView `json:"steps" desc:"Newest first."`
}

// SessionView is a session as the knowledge tools show it.
type SessionView struct {
	SessionID string    `json:"sessionId"`
	CreatedAt time.Time `json:"createdAt"`
	Goal      string    `json:"goal"`
	FlowTags  []string  `json:"flowTags"`
	Tags      []string  `json:"tags"`
	Git       Git       `json:"git"`
	// Provenance is set for a session that was read from the repository's files.
	Provenance *Provenance `json:"provenance,omitempty" mcp:"-"`
}

// SessionList is the answer of Sessions.
type SessionList struct {
	Sessions []SessionView `json:"sessions" desc:"Newest first."`
	// Total counts all that the filters let pass.
	Total int `json:"total,omitempty" mcp:"-"`
}

// RecipeStep is one line of a summary's recipe. Numbers count from 1.
type RecipeStep struct {
	StepNumber int    `json:"stepNumber" desc:"Its place in the session, from 1."`
	Tool       string `json:"tool"`
	Notes      string `json:"notes"`
}

// Failure is a step that failed, and what recovered it: the next step of the
// same tool and target that succeeded, with the successes between. RecoveredBy is 0
// when nothing did.
type Failure struct {
	StepNumber  int    `json:"stepNumber" desc:"Its place in the session, from 1."`
	Tool        string `json:"tool"`
	Error       string `json:"error"`
	RecoveredBy int    `json:"recoveredBy,omitempty" desc:"The number of the step that did."`
	Recovery    string `json:"recovery,omitempty" desc:"What was done."`
}

// Summary is the deterministic summary of one session.
type Summary struct {
	SessionID    string         `json:"sessionId"`
	StepCount    int            `json:"stepCount"`
	Recipe       []RecipeStep   `json:"recipe" desc:"The steps in order."`
	OmittedSteps int            `json:"omittedSteps,omitempty" desc:"The last steps, which the recipe has no room for."`
	Goal         string         `json:"goal,omitempty"`
	CreatedAt    time.Time      `json:"createdAt,omitzero"`
	EndedAt      time.Time      `json:"endedAt,omitzero" desc:"Absent while it is open."`
	Labels       map[string]int `json:"labels" desc:"How many steps have each label."`
	Screens      []string       `json:"screens" desc:"In the order in which they were first seen."`
	Failures     []Failure      `json:"failures" desc:"Steps that failed, and what recovered them."`
	// Followed counts the steps that were followed from the repository's files.
	Followed int `json:"followed,omitempty" mcp:"-"`
}
