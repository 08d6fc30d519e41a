package ollama

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/recalld/recalld/embedder"
)

// identity is the model as first seen.
type identity struct{ model embedder.Model }

// signal is a flag: any goroutine may set it, and one takes it.
type signal struct{ b atomic.Bool }

func (s *signal) set()       { s.b.Store(true) }
func (s *signal) take() bool { return s.b.Swap(false) }

// Model implements embedder.Embedder. It asks the server the first time, and again after an
// outage: if the server then has another model by that name, it returns ErrModelChanged.
// ContextTokens is the smaller of the model's own context and its num_ctx parameter.
func (e *Embedder) Model(ctx context.Context) (embedder.Model, error) {
	ctx, done, err := e.begin(ctx)
	if err != nil {
		return embedder.Model{}, err
	}
	defer done()
	known, err := e.identify(ctx)
	if err != nil {
		return embedder.Model{}, ended(ctx, err)
	}
	return known.model, nil
}

// identify returns the model's identity. It asks the server if it is not known.
func (e *Embedder) identify(ctx context.Context) (*identity, error) {
	select {
	case e.identity <- struct{}{}:
		defer func() { <-e.identity }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if e.known != nil && !e.stale.take() {
		return e.known, nil
	}
	now, err := e.meet(ctx)
	if err != nil {
		e.stale.set() // the server has not answered yet
		return nil, err
	}
	if e.known == nil {
		e.known = now
		return now, nil
	}
	if err := e.known.compare(now); err != nil {
		e.stale.set()
		return nil, err
	}
	return e.known, nil
}

func (known *identity) compare(now *identity) error {
	if known.model.Dim != now.model.Dim {
		return fmt.Errorf("%s had width %d and has %d: %w", known.model.Name, known.model.Dim, now.model.Dim, ErrModelChanged)
	}
	for i := range known.model.Probes {
		if c := dot(known.model.Probes[i], now.model.Probes[i]); c < embedder.SameCosine {
			return fmt.Errorf("%s: the vector of probe %d has cosine %.3f with the former one: %w", known.model.Name, i, c, ErrModelChanged)
		}
	}
	return nil
}

// meet asks the server for the model's description and for the probes' vectors.
func (e *Embedder) meet(ctx context.Context) (*identity, error) {
	var d description
	_, err := e.guarded(ctx, func() ([][]float32, error) {
		return e.once(ctx, func(ctx context.Context) (_ [][]float32, err error) {
			d, err = e.describe(ctx, e.opts.Model)
			return nil, err
		})
	})
	if err != nil {
		return nil, err
	}
	inputs := make([]string, len(embedder.Probes))
	for i, p := range embedder.Probes {
		inputs[i] = e.prefix.Document + p
	}
	vectors, err := e.attempt(ctx, inputs)
	if errors.Is(err, errRefused) {
		return nil, fmt.Errorf("embed probes: %w: %w", embedder.ErrNotEmbedding, err)
	}
	if err != nil {
		return nil, fmt.Errorf("embed probes: %w", err)
	}
	dim := len(vectors[0])
	if d.dim != 0 && d.dim != dim {
		// A Matryoshka model may be served at another width: the width of its vectors
		// counts.
		e.opts.Logger.Warn("ollama model has another width than the server reports", "model", e.opts.Model, "says", d.dim, "has", dim)
	}
	return &identity{
		model: embedder.Model{
			Name: "ollama/" + shortName(e.opts.Model), Dim: dim, ContextTokens: d.context,
			Fingerprint: embedder.Fingerprint(vectors), Probes: vectors,
		},
	}, nil
}
