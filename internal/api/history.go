package api

import (
	"context"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/memory/wire"
)

// The questions about sessions and steps are memory.HistoryRequest, with the
// names beside that contract 1 has for some of its fields.

// lastRequest calls its limit n.
type lastRequest struct {
	memory.HistoryRequest
	N int `json:"n,omitempty" given:"1–200"`
}

func (r *lastRequest) question() (memory.HistoryRequest, error) {
	if r.N != 0 && r.Limit != 0 && r.N != r.Limit {
		return memory.HistoryRequest{}, memory.Invalid("n", "the same as limit", "differs from limit")
	}
	if r.N != 0 {
		r.Limit = r.N
	}
	return r.HistoryRequest, nil
}

// summaryRequest takes the older form of a scope, which wins over it.
type summaryRequest struct {
	memory.HistoryRequest
	SessionID string `json:"sessionId,omitempty" given:"4–200 characters"`
}

func (r *summaryRequest) question() (memory.HistoryRequest, error) {
	if r.SessionID != "" {
		r.Scope = &memory.Scope{Session: r.SessionID}
		return r.HistoryRequest, memory.Text("sessionId", r.SessionID, memory.MinSessionID, memory.MaxNameText)
	}
	return r.HistoryRequest, nil
}

// historyRoutes lists the routes of memory.History.
func (h *handler) historyRoutes() {
	serve(h, wire.Search, h.svc.SearchSteps)
	serve(h, wire.Sessions, h.svc.Sessions)
	post(h, wire.Last, func(ctx context.Context, req lastRequest) (any, error) {
		question, err := req.question()
		if err != nil {
			return nil, err
		}
		return h.svc.LastSteps(ctx, question)
	})
	post(h, wire.Summary, func(ctx context.Context, req summaryRequest) (any, error) {
		question, err := req.question()
		if err != nil {
			return nil, err
		}
		return h.svc.SummarizeSession(ctx, question)
	})
}
