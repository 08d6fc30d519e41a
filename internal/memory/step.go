package memory

import "encoding/json"

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
