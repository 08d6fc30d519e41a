package api

import (
	"context"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/memory/wire"
)

// stepRequest is memory.RecordStepRequest with an outcome of which it can be told
// whether it was given: a step without one would count as failed.
type stepRequest struct {
	memory.RecordStepRequest
	Outcome struct {
		OK    *bool             `json:"ok"`
		Error *memory.StepError `json:"error"`
	} `json:"outcome"`
}

func (r *stepRequest) step() (memory.RecordStepRequest, error) {
	if r.Outcome.OK == nil {
		return memory.RecordStepRequest{}, memory.Invalid("outcome.ok", "true or false", "is missing")
	}
	step := r.RecordStepRequest
	step.Outcome = memory.Outcome{OK: *r.Outcome.OK, Error: r.Outcome.Error}
	return step, nil
}

// journalRoutes lists the routes of memory.Journal.
func (h *handler) journalRoutes() {
	serve(h, wire.Start, h.svc.StartSession)
	post(h, wire.Step, func(ctx context.Context, r stepRequest) (any, error) {
		step, err := r.step()
		if err != nil {
			return nil, err
		}
		return h.svc.RecordStep(ctx, step)
	})
	serve(h, wire.End, h.svc.EndSession)
}
