package service

import (
	"cmp"

	"github.com/recalld/recalld/internal/memory"
)

// recallForm accepts the older name of query.
type recallForm struct {
	memory.RecallRequest
	Text string `json:"text,omitempty" limit:"1-1000000" desc:"Older name of query." mcp:"deprecated"`
}

func (f recallForm) request() (memory.RecallRequest, error) {
	if f.Text != "" && f.Query != "" && f.Text != f.Query {
		return memory.RecallRequest{}, memory.Invalid("text", "one of query and text", "is the older name of query, and differs from it")
	}
	f.Query = cmp.Or(f.Query, f.Text)
	return f.RecallRequest, nil
}

// summarizeForm accepts the older form of a scope, which wins over it.
type summarizeForm struct {
	memory.SummarizeRequest
	SessionID string `json:"sessionId,omitempty" limit:"4-200" desc:"Older form of scope; it wins over it." mcp:"deprecated"`
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
