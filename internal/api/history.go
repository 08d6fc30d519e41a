package api

import (
	"context"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/memory/wire"
)

// historyRoutes lists the routes of memory.History.
func (h *handler) historyRoutes() {
	post(h, wire.Search, func(ctx context.Context, r wire.SearchRequest) (any, error) {
		return h.svc.SearchSteps(ctx, memory.HistoryRequest{
			Query: r.Query, Scope: r.Scope, Filters: r.Filters, Limit: r.Limit, Project: r.Project, Caller: r.Caller,
		})
	})
	post(h, wire.Last, func(ctx context.Context, r wire.LastRequest) (any, error) {
		return h.svc.LastSteps(ctx, memory.HistoryRequest{
			Scope: r.Scope, Filters: r.Filters, Limit: r.N, Project: r.Project, Caller: r.Caller,
		})
	})
	post(h, wire.Summary, func(ctx context.Context, r wire.SummaryRequest) (any, error) {
		question := memory.HistoryRequest{Scope: r.Scope, Project: r.Project, Caller: r.Caller}
		if r.SessionID != "" {
			if err := memory.Text("sessionId", r.SessionID, memory.MinSessionID, memory.MaxNameText); err != nil {
				return nil, err
			}
			question.Scope = &memory.Scope{Session: r.SessionID}
		}
		return h.svc.SummarizeSession(ctx, question)
	})
	post(h, wire.Sessions, func(ctx context.Context, r wire.SessionsRequest) (any, error) {
		return h.svc.Sessions(ctx, memory.HistoryRequest{Filters: r.Filters, Limit: r.Limit, Project: r.Project, Caller: r.Caller})
	})
}
