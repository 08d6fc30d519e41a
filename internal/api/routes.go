package api

import (
	"context"
	"net/http"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/memory/wire"
	"github.com/recalld/recalld/internal/metrics"
)

// routes lists every route.
func (h *handler) routes() {
	get := func(path string, fn func(context.Context, *http.Request) (any, error)) {
		h.mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			answer, err := fn(r.Context(), r)
			h.reply(w, r, answer, err)
		})
	}
	get(wire.Hello, func(context.Context, *http.Request) (any, error) { return h.opts.Greeting, nil })
	get(wire.Receipts+"{id}", func(ctx context.Context, r *http.Request) (any, error) {
		return h.svc.Receipt(ctx, r.PathValue("id"))
	})
	get(wire.Repos, func(ctx context.Context, _ *http.Request) (any, error) {
		repos, err := h.svc.Repos(ctx)
		return wire.RepoList{Repos: orEmpty(repos)}, err
	})
	get(wire.Status, func(ctx context.Context, _ *http.Request) (any, error) { return h.svc.Status(ctx) })
	h.mux.HandleFunc("GET "+wire.Metrics, h.metrics)
	get(wire.DeadJobs, func(ctx context.Context, _ *http.Request) (any, error) {
		jobs, err := h.svc.DeadJobs(ctx)
		return wire.DeadJobList{Jobs: orEmpty(jobs)}, err
	})
	get(wire.Models, func(ctx context.Context, _ *http.Request) (any, error) {
		models, err := h.svc.Models(ctx)
		return wire.ModelList{Models: orEmpty(models)}, err
	})

	post(h, wire.Recall, func(ctx context.Context, req recallRequest) (any, error) {
		question, err := req.question()
		if err != nil {
			return nil, err
		}
		return h.svc.Recall(ctx, question)
	})
	serve(h, wire.Remember, h.svc.Remember)
	serve(h, wire.Forget, h.svc.Forget)
	serve(h, wire.Index, h.svc.IndexRepo)
	serve(h, wire.Skipped, h.svc.Skipped)
	serve(h, wire.Pause, h.svc.Pause)
	serve(h, wire.Trust, h.svc.Trust)
	serve(h, wire.Files, h.svc.Files)
	post(h, wire.Check, func(ctx context.Context, _ struct{}) (any, error) { return h.svc.Check(ctx) })
	h.journalRoutes()
	h.historyRoutes()
	h.sessionRoutes()
	serve(h, wire.Import, h.svc.Import)
	serve(h, wire.Export, h.svc.Export)
	h.command(wire.Stop, func(r *http.Request) error { return h.svc.Stop(r.Context()) })
	h.command(wire.Requeue+"{id}", func(r *http.Request) error {
		return h.svc.RequeueJob(r.Context(), r.PathValue("id"))
	})
	stream(h, wire.Pull, func(ctx context.Context, req wire.PullRequest, send func(wire.PullEvent)) (wire.PullEvent, error) {
		err := h.svc.PullModel(ctx, req.Name, func(p memory.PullProgress) { send(wire.PullEvent{Progress: &p}) })
		return wire.PullEvent{Done: true}, err
	}, func(e *memory.Error) wire.PullEvent { return wire.PullEvent{Error: e} })
	stream(h, wire.Adapt, func(ctx context.Context, req memory.AdaptRequest, send func(wire.AdaptEvent)) (wire.AdaptEvent, error) {
		done, err := h.svc.AdaptModel(ctx, req, func(p memory.AdaptProgress) { send(wire.AdaptEvent{Progress: &p}) })
		return wire.AdaptEvent{Done: done}, err
	}, func(e *memory.Error) wire.AdaptEvent { return wire.AdaptEvent{Error: e} })
	post(h, wire.Reset, func(ctx context.Context, _ struct{}) (any, error) { return h.svc.ResetModel(ctx) })
	get(wire.Builtin, func(ctx context.Context, _ *http.Request) (any, error) { return h.svc.BuiltinModel(ctx) })
}

// post routes a call whose request is a JSON object.
func post[Request any](h *handler, path string, fn func(context.Context, Request) (any, error)) {
	h.mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
		var req Request
		if err := decode(w, r, h.opts.MaxBody, &req); err != nil {
			h.fail(w, r, err)
			return
		}
		answer, err := fn(r.Context(), req)
		h.reply(w, r, answer, err)
	})
}

// serve routes a call that hands its request over as it came.
func serve[Request, Answer any](h *handler, path string, fn func(context.Context, Request) (*Answer, error)) {
	post(h, path, func(ctx context.Context, req Request) (any, error) { return fn(ctx, req) })
}

// command routes a call without a body and without an answer but {}.
func (h *handler) command(path string, fn func(*http.Request) error) {
	h.mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
		h.reply(w, r, struct{}{}, fn(r))
	})
}

func (h *handler) reply(w http.ResponseWriter, r *http.Request, answer any, err error) {
	if err != nil {
		h.fail(w, r, err)
		return
	}
	h.writeJSON(w, r, answer)
}

// recallRequest is memory.RecallRequest with the older name of query.
type recallRequest struct {
	memory.RecallRequest
	Text string `json:"text,omitempty"`
}

func (r *recallRequest) question() (memory.RecallRequest, error) {
	if r.Text != "" && r.Query != "" && r.Text != r.Query {
		return memory.RecallRequest{}, memory.Invalid("text", "the older name of query", "differs from query")
	}
	if r.Query == "" {
		r.Query = r.Text
	}
	return r.RecallRequest, nil
}

// metrics answers with the status as a page for Prometheus.
func (h *handler) metrics(w http.ResponseWriter, r *http.Request) {
	status, err := h.svc.Status(r.Context())
	if err != nil {
		h.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", metrics.ContentType)
	_ = metrics.Write(w, status, h.opts.Runs) // the client is gone: nobody to tell
}

// stream routes a call that tells how far it is: an event per line, the last one with
// what it came to or the failure. A failure before the first event is an ordinary error.
func stream[Req, Event any](h *handler, path string, call func(ctx context.Context, req Req, send func(Event)) (done Event, err error), failure func(*memory.Error) Event) {
	h.mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
		var req Req
		if err := decode(w, r, h.opts.MaxBody, &req); err != nil {
			h.fail(w, r, err)
			return
		}
		lines := &lineWriter{w: w}
		done, err := call(r.Context(), req, func(ev Event) { lines.send(ev) })
		switch {
		case err == nil:
			lines.send(done)
		case lines.begun:
			lines.send(failure(outward(err)))
		default:
			h.fail(w, r, err)
		}
	})
}

// orEmpty makes an absent list an empty one, which JSON tells apart.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
