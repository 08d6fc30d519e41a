package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/metrics"
	"github.com/recalld/recalld/internal/service"
)

// routes adds a route for every operation, and the page of metrics.
func (h *handler) routes() {
	for _, op := range service.Operations() {
		h.mux.HandleFunc(op.Method+" "+op.Path, func(w http.ResponseWriter, r *http.Request) { h.serve(w, r, op) })
	}
	h.mux.HandleFunc("GET "+service.Metrics, h.metrics)
	h.mux.HandleFunc("GET "+DescriptionPath, h.description)
}

// serve carries out an operation. A stream sends an event per line, the last one with
// the response or the error. An error before the first event is an ordinary one.
func (h *handler) serve(w http.ResponseWriter, r *http.Request, op *service.Spec) {
	request, err := h.request(w, r, op)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	lines := &lineWriter{w: w}
	var progress func(any)
	if op.Progress() != nil {
		progress = func(p any) { lines.send("progress", p) }
	}
	response, err := h.svc.Call(r.Context(), op, request, progress)
	switch {
	case err != nil && lines.begun:
		lines.send("error", outward(err))
	case err != nil:
		h.fail(w, r, err)
	case op.Progress() != nil:
		lines.send("done", response)
	default:
		h.writeJSON(w, r, op, response)
	}
}

// request reads the request of an operation from the path or the body.
func (h *handler) request(w http.ResponseWriter, r *http.Request, op *service.Spec) (any, error) {
	switch {
	case op.AnyProtocol:
		return service.None{}, nil
	case op.InPath():
		text, err := op.FromPath(r.PathValue)
		if err != nil {
			return nil, err
		}
		return op.Decode(text, "path")
	}
	text, err := body(w, r, h.opts.MaxBody)
	if err != nil {
		return nil, err
	}
	if len(text) == 0 && !op.TakesRequest() {
		return service.None{}, nil
	}
	if len(text) == 0 && op.BodyOptional {
		text = []byte("{}")
	}
	return op.Decode(text, "body")
}

// body reads the body of a request. Every error is a *memory.Error that names "body".
func body(w http.ResponseWriter, r *http.Request, max int64) ([]byte, error) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, max))
	if err == nil {
		return text, nil
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, &memory.Error{Code: memory.CodeUnavailable, Field: "body", Message: "did not arrive in time", Hint: "send it again, without a pause", Cause: err}
	}
	if e, ok := errors.AsType[*memory.Error](err); ok {
		return nil, e
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		e := memory.Invalid("body", fmt.Sprintf("at most %d bytes", max), "is too long")
		e.Cause = errTooLong
		return nil, e
	}
	return nil, memory.Invalid("body", "", "could not be read: %v", err)
}

// lineWriter answers with a JSON value per line, each sent at once.
type lineWriter struct {
	w     http.ResponseWriter
	begun bool
}

// send writes an event that has one field.
func (l *lineWriter) send(field string, value any) {
	if !l.begun {
		l.w.Header().Set("Content-Type", service.MIMELine)
		l.begun = true
	}
	line, err := json.Marshal(map[string]any{field: value})
	if err != nil { // values of our own: cannot happen
		line, _ = json.Marshal(service.Event{Error: memory.AsError(err)})
	}
	// A client that is gone ends the request's context, and with it the work.
	_, _ = l.w.Write(append(line, '\n'))
	_ = http.NewResponseController(l.w).Flush()
}

// metrics answers with the status as a page for Prometheus.
func (h *handler) metrics(w http.ResponseWriter, r *http.Request) {
	status, err := service.Status.Do(r.Context(), h.svc, service.None{})
	if err != nil {
		h.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", metrics.ContentType)
	_ = metrics.Write(w, status, h.opts.Runs) // the client is gone: nothing to do
}
