// Package ollama embeds texts with a model on an Ollama server.
//
// Vocabulary. An input is what is sent for one text: a prefix and the text, or a window of
// it. A window is a part of a text that is longer than the model's context; the vector of a
// long text is the mean of its windows' vectors, weighted by their length. A batch is the
// inputs of one request. A request is retried before it counts as failed. If the server
// refuses a batch because of its content, the batch is halved until the bad text is alone.
//
// The server is never asked to truncate, so nothing is cut silently. A Server also lists
// and fetches models, and answers one chat message, for summaries.
package ollama

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/recalld/recalld/embedder"
)

// Options configure an Embedder. Zero values take the defaults.
type Options struct {
	ServerOptions
	// Model is the model's name on the server, with or without ":latest".
	// Required.
	Model string
	// Prefixes is the table of models' prefixes; nil is DefaultPrefixes.
	Prefixes Prefixes
	// BatchSize is the most inputs in a request, 1–512; 32. Requests become smaller while
	// the server does not answer in time.
	BatchSize int
	// MaxConcurrency is the most requests at a time, 1–64; 4. Queries have the same number of
	// separate requests, so that they never wait behind documents.
	MaxConcurrency int
	// Timeout bounds each request; 2 minutes, enough for a server that loads a large
	// model first. The caller's deadline applies too.
	Timeout time.Duration
	// KeepAlive is how long the server keeps the model loaded after a request;
	// 0 leaves it to the server, a negative value means forever.
	KeepAlive time.Duration
	// Cooldown is how long a failing server is not called; 5 seconds. Calls in that time
	// fail at once.
	Cooldown time.Duration
	// Logger receives the start and the end of outages; nil discards them.
	Logger *slog.Logger
}

func (o *Options) validate() error {
	o.Model = strings.TrimSpace(o.Model)
	o.BatchSize = cmp.Or(o.BatchSize, 32)
	o.MaxConcurrency = cmp.Or(o.MaxConcurrency, 4)
	o.Timeout = cmp.Or(o.Timeout, 2*time.Minute)
	o.Cooldown = cmp.Or(o.Cooldown, 5*time.Second)
	if o.Prefixes == nil {
		o.Prefixes = DefaultPrefixes()
	}
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	switch {
	case o.Model == "":
		return errors.New("ollama: the model is not named")
	case o.BatchSize < 1 || o.BatchSize > 512:
		return fmt.Errorf("ollama: batch size %d is not in 1–512", o.BatchSize)
	case o.MaxConcurrency < 1 || o.MaxConcurrency > 64:
		return fmt.Errorf("ollama: concurrency %d is not in 1–64", o.MaxConcurrency)
	case o.Timeout < 0:
		return fmt.Errorf("ollama: time-out %v is negative", o.Timeout)
	case o.Cooldown < 0:
		return fmt.Errorf("ollama: cooldown %v is negative", o.Cooldown)
	}
	return nil
}

// breakAfter is how many requests in a row must fail before the server is not called for
// Options.Cooldown.
const breakAfter = 3

// Embedder embeds with one model of one server.
type Embedder struct {
	*Server
	opts    Options
	prefix  Prefix
	breaker *gobreaker.CircuitBreaker[[][]float32]
	// A slot for each request in flight, of documents and of queries.
	documents, queries chan struct{}
	batch              atomic.Int32 // inputs allowed in a request, at least 1
	ratio              ratio

	// identity has one slot; its holder asks the server for the model's identity.
	identity chan struct{}
	known    *embedder.Model // guarded by identity
	stale    atomic.Bool     // set after an outage: the model may have changed

	mu     sync.Mutex // guards closed, and orders calls.Add before calls.Wait
	closed bool
	calls  sync.WaitGroup
	life   context.Context // ends with Close
	end    context.CancelCauseFunc
}

var _ embedder.Embedder = (*Embedder)(nil)

// New returns an Embedder. No connection is made yet.
func New(o Options) (*Embedder, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	server, err := NewServer(o.ServerOptions)
	if err != nil {
		return nil, err
	}
	e := &Embedder{
		Server: server, opts: o, prefix: o.Prefixes.For(o.Model),
		documents: make(chan struct{}, o.MaxConcurrency), queries: make(chan struct{}, o.MaxConcurrency), identity: make(chan struct{}, 1),
	}
	e.batch.Store(int32(o.BatchSize))
	e.life, e.end = context.WithCancelCause(context.Background())
	e.breaker = gobreaker.NewCircuitBreaker[[][]float32](gobreaker.Settings{
		Name:        "ollama/" + o.Model,
		Timeout:     o.Cooldown,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= breakAfter },
		// A caller that gives up says nothing about the server. A text that kills the
		// runner counts only when another text fails too: see blame.
		IsExcluded:   func(err error) bool { return errors.Is(err, errCallerGone) || errors.Is(err, errRunner) },
		IsSuccessful: func(err error) bool { return !errors.Is(err, embedder.ErrUnavailable) },
		OnStateChange: func(_ string, from, to gobreaker.State) {
			if to == gobreaker.StateOpen {
				e.stale.Store(true)
			}
			o.Logger.Info("ollama circuit breaker", "model", o.Model, "from", from.String(), "to", to.String())
		},
	})
	return e, nil
}

// Close cancels all calls and waits for them. Closing twice is a no-op.
func (e *Embedder) Close() error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.end(ErrClosed)
	e.calls.Wait()
	e.Server.Close()
	return nil
}

// begin starts a call. Its context also ends with Close. The caller must call the
// returned function when the call ends.
func (e *Embedder) begin(ctx context.Context) (context.Context, func(), error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, nil, ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	e.calls.Add(1)
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(e.life, func() { cancel(ErrClosed) })
	return ctx, func() {
		stop()
		cancel(nil)
		e.calls.Done()
	}, nil
}

// ended returns why a call's context ended: ErrClosed or ctx's own error.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(context.Cause(ctx), ErrClosed) {
		return ErrClosed
	}
	return err
}
