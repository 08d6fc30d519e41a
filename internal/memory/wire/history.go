package wire

import "github.com/recalld/recalld/internal/memory"

// The requests of the history routes: of memory.HistoryRequest exactly what each
// question takes, by the names of contract 1. In a call, a field of another question
// is an unknown one.
type (
	// SearchRequest is the request of Search.
	SearchRequest struct {
		Query   string              `json:"query"`
		Scope   *memory.Scope       `json:"scope,omitempty"`
		Filters *memory.StepFilters `json:"filters,omitempty"`
		Limit   int                 `json:"limit,omitempty" given:"1–100"`
		Project string              `json:"project,omitempty"`
		Caller  memory.Caller       `json:"caller,omitzero"`
	}
	// LastRequest is the request of Last.
	LastRequest struct {
		N       int                 `json:"n,omitempty" given:"1–200"`
		Scope   *memory.Scope       `json:"scope,omitempty"`
		Filters *memory.StepFilters `json:"filters,omitempty"`
		Project string              `json:"project,omitempty"`
		Caller  memory.Caller       `json:"caller,omitzero"`
	}
	// SummaryRequest is the request of Summary.
	SummaryRequest struct {
		Scope *memory.Scope `json:"scope,omitempty"`
		// SessionID is the older form of a scope, and wins over it.
		SessionID string        `json:"sessionId,omitempty" given:"4–200 characters"`
		Project   string        `json:"project,omitempty"`
		Caller    memory.Caller `json:"caller,omitzero"`
	}
	// SessionsRequest is the request of Sessions.
	SessionsRequest struct {
		Filters *memory.StepFilters `json:"filters,omitempty"`
		Limit   int                 `json:"limit,omitempty" given:"1–50"`
		Project string              `json:"project,omitempty"`
		Caller  memory.Caller       `json:"caller,omitzero"`
	}
)
