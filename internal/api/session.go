package api

import (
	"net/http"

	"github.com/recalld/recalld/internal/memory/session"
	"github.com/recalld/recalld/internal/memory/wire"
)

// sessionRoutes lists the routes of package session.
func (h *handler) sessionRoutes() {
	serve(h, wire.Complete, h.svc.CompleteTask)
	serve(h, wire.Block, h.svc.BlockTask)
	serve(h, wire.Unblock, h.svc.UnblockTask)
	serve(h, wire.Tasks, h.svc.TaskWindow)
	serve(h, wire.Load, h.svc.LoadTasks)
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
	h.mux.HandleFunc("POST "+wire.Replay, h.replay)
}

// replay asks past questions again and tells how far it is, line by line.
func (h *handler) replay(w http.ResponseWriter, r *http.Request) {
	var req session.ReplayRequest
	if err := decode(w, r, h.opts.MaxBody, &req); err != nil {
		h.fail(w, r, err)
		return
	}
	lines := &lineWriter{w: w}
	done, err := h.svc.Replay(r.Context(), req, func(p session.ReplayProgress) {
		lines.send(wire.ReplayEvent{Progress: &p})
	})
	switch {
	case err == nil:
		lines.send(wire.ReplayEvent{Done: done})
	case lines.begun:
		lines.send(wire.ReplayEvent{Error: outward(err)})
	default:
		h.fail(w, r, err)
	}
}
