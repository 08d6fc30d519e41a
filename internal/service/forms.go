package service

import "github.com/recalld/recalld/internal/memory"

// recallForm accepts the older name of query.
type recallForm struct {
	memory.RecallRequest
	Text string `json:"text,omitempty"`
}

func (f recallForm) request() (memory.RecallRequest, error) {
	if f.Text != "" && f.Query != "" && f.Text != f.Query {
		return memory.RecallRequest{}, memory.Invalid("text", "the older name of query", "differs from query")
	}
	if f.Query == "" {
		f.Query = f.Text
	}
	return f.RecallRequest, nil
}

// stepForm requires an outcome: a step without one would count as failed.
type stepForm struct {
	memory.RecordStepRequest
	Outcome struct {
		OK    *bool             `json:"ok"`
		Error *memory.StepError `json:"error"`
	} `json:"outcome"`
}

func (f stepForm) request() (memory.RecordStepRequest, error) {
	if f.Outcome.OK == nil {
		return memory.RecordStepRequest{}, memory.Invalid("outcome.ok", "true or false", "is missing")
	}
	step := f.RecordStepRequest
	step.Outcome = memory.Outcome{OK: *f.Outcome.OK, Error: f.Outcome.Error}
	return step, nil
}

// summarizeForm accepts the older form of a scope, which wins over it.
type summarizeForm struct {
	memory.SummarizeRequest
	SessionID string `json:"sessionId,omitempty" limit:"4-200"`
}

func (f summarizeForm) request() (memory.SummarizeRequest, error) {
	if f.SessionID != "" {
		if err := memory.Text("sessionId", f.SessionID, memory.MinSessionID, memory.MaxNameText); err != nil {
			return memory.SummarizeRequest{}, err
		}
		f.Scope = &memory.Scope{Session: f.SessionID}
	}
	return f.SummarizeRequest, nil
}
