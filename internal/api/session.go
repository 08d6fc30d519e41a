package api

import (
	"context"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/memory/wire"
)

// sessionRoutes lists the routes of package session.
func (h *handler) sessionRoutes() {
	serve(h, wire.Complete, h.svc.CompleteTask)
	serve(h, wire.Block, h.svc.BlockTask)
	serve(h, wire.Unblock, h.svc.UnblockTask)
	serve(h, wire.Tasks, h.svc.TaskWindow)
	serve(h, wire.Load, h.svc.LoadTasks)
	serve(h, wire.Past, h.svc.TaskHistory)
	serve(h, wire.Register, h.svc.Register)
	serve(h, wire.Remove, h.svc.Unregister)
	serve(h, wire.Entries, h.svc.Entries)
	serve(h, wire.Tools, h.svc.SearchTools)
	serve(h, wire.Context, h.svc.SessionContext)
	serve(h, wire.Change, h.svc.ChangeContext)
	serve(h, wire.Assemble, h.svc.Assemble)
	serve(h, wire.Working, h.svc.WorkingContext)
	serve(h, wire.Report, h.svc.Report)
	serve(h, wire.Compact, h.svc.Compact)
	serve(h, wire.Ledger, h.svc.Receipts)
	serve(h, wire.Turn, h.svc.ContextOf)
	serve(h, wire.Feedback, h.svc.Feedback)
	stream(h, wire.Replay, func(ctx context.Context, req memory.ReplayRequest, send func(wire.ReplayEvent)) (wire.ReplayEvent, error) {
		done, err := h.svc.Replay(ctx, req, func(p memory.ReplayProgress) { send(wire.ReplayEvent{Progress: &p}) })
		return wire.ReplayEvent{Done: done}, err
	}, func(e *memory.Error) wire.ReplayEvent { return wire.ReplayEvent{Error: e} })
}
