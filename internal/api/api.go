// Package api serves the table of operations over HTTP: JSON requests and responses
// under /v1, a route per operation, over the daemon's socket and, guarded by the daemon,
// over loopback TCP. GET /metrics is the status as a page for Prometheus.
//
// Decoding is strict: a field that is not known is an error that names it, so
// that a misspelt filter never widens a search. Failures are the codes of
// package memory; this package alone maps them to HTTP statuses.
package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/metrics"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// defaultMaxBody bounds a request's body, in bytes. The largest sensible one
// lists 10,000 changed files.
const defaultMaxBody = 8 << 20

// Options configure a handler.
type Options struct {
	// MaxBody bounds a request's body, in bytes; 0 is defaultMaxBody.
	MaxBody int64
	// Notice says what is wrong and concerns every answer, in a line; empty when
	// nothing is. Nil: nothing ever is.
	Notice func() string
	// Runs is the histogram of index runs on the page of metrics; nil leaves it out.
	Runs *metrics.Runs
	// Log receives what goes wrong inside; nil discards it.
	Log *slog.Logger
}

func (o *Options) validate() {
	o.MaxBody = cmp.Or(o.MaxBody, defaultMaxBody)
	if o.Notice == nil {
		o.Notice = func() string { return "" }
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
}

// handler serves a service.
type handler struct {
	svc  service.Service
	opts Options
	mux  *http.ServeMux
}

// NewHandler returns the API of a service. It is safe for concurrent use.
func NewHandler(svc service.Service, opts Options) http.Handler {
	opts.validate()
	h := &handler{svc: svc, opts: opts, mux: http.NewServeMux()}
	h.routes()
	return h
}

// ServeHTTP checks the protocol, routes, and turns a panic into an error.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set(service.ProtocolHeader, strconv.Itoa(service.Protocol))
	if notice := h.opts.Notice(); notice != "" {
		w.Header().Set(service.NoticeHeader, strings.Map(func(r rune) rune {
			if r < ' ' || r > '~' { // headers are ASCII
				return '?'
			}
			return r
		}, notice))
	}
	rec := &recorder{ResponseWriter: w}
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if p == http.ErrAbortHandler {
			panic(p)
		}
		h.opts.Log.ErrorContext(r.Context(), "panic in request", "path", r.URL.Path, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		if rec.wrote {
			// The answer has begun and cannot become an error any more; breaking
			// the connection tells the client that it is not whole.
			panic(http.ErrAbortHandler)
		}
		WriteError(rec, memory.Errorf(memory.CodeInternal, "the daemon failed on this request; its log says where"))
	}()

	if _, pattern := h.mux.Handler(r); pattern == "" {
		WriteError(rec, h.unrouted(r))
		return
	}
	if err := checkProtocol(r); err != nil {
		WriteError(rec, err)
		return
	}
	h.mux.ServeHTTP(rec, r)
}

// unrouted says why a request has no route.
func (h *handler) unrouted(r *http.Request) error {
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := h.mux.Handler(other); pattern != "" {
			e := memory.Invalid("method", method, "%s does not take %s", r.URL.Path, r.Method)
			e.Cause = errMethod
			return e
		}
	}
	return &memory.Error{Code: memory.CodeNotFound, Field: "path", Message: "no route " + memory.Quote(r.URL.Path), Hint: "GET " + DescriptionPath + " describes all"}
}

// checkProtocol refuses a client of another protocol, except for what every
// protocol understands.
func checkProtocol(r *http.Request) error {
	theirs := r.Header.Get(service.ProtocolHeader)
	if theirs == "" || theirs == strconv.Itoa(service.Protocol) || anyProtocol(r.URL.Path) {
		return nil
	}
	return &memory.Error{
		Code:    memory.CodeIncompatible,
		Field:   service.ProtocolHeader,
		Limit:   strconv.Itoa(service.Protocol),
		Message: fmt.Sprintf("the client speaks protocol %s", theirs),
		Hint:    "use a client of the daemon's version, or stop the daemon and start the newer one",
	}
}

func anyProtocol(path string) bool {
	return slices.ContainsFunc(service.Operations(), func(op *service.Spec) bool { return op.AnyProtocol && op.Path == path })
}

// recorder knows whether an answer has begun.
type recorder struct {
	http.ResponseWriter
	wrote bool
}

func (r *recorder) WriteHeader(status int) {
	r.wrote = true
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	r.wrote = true
	return r.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController flush.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// writeJSON answers 200 with v. It is encoded before anything is sent, so that
// what cannot be encoded becomes an error.
func (h *handler) writeJSON(w http.ResponseWriter, r *http.Request, op *service.Spec, v any) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false) // code is easier to read, and the type is not HTML
	if err := enc.Encode(v); err != nil {
		h.fail(w, r, fmt.Errorf("encode answer: %w", err))
		return
	}
	body := buf.Bytes()
	if op.Stored {
		body = render.WithNotice(body)
	}
	w.Header().Set("Content-Type", service.MIMEJSON)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // the client is gone
}

// fail answers with an error and logs it when it is a fault of ours.
func (h *handler) fail(w http.ResponseWriter, r *http.Request, err error) {
	e := outward(err)
	if e.Code == memory.CodeInternal || e.Code == memory.CodeCorrupt {
		h.opts.Log.ErrorContext(r.Context(), "request failed", "path", r.URL.Path, "code", string(e.Code), "error", err)
	}
	WriteError(w, e)
}

// outward returns err as clients see it. Time-outs and cancellations that no
// part has put into words are the daemon's being unavailable.
func outward(err error) *memory.Error {
	if e, ok := errors.AsType[*memory.Error](err); ok {
		return e
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return &memory.Error{Code: memory.CodeUnavailable, Message: "the daemon took too long", Hint: "try again", Cause: err}
	case errors.Is(err, context.Canceled):
		return &memory.Error{Code: memory.CodeUnavailable, Message: "the request was cancelled", Cause: err}
	}
	return memory.AsError(err)
}
