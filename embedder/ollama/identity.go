package ollama

import (
	"context"
	"errors"
	"fmt"

	"github.com/recalld/recalld/embedder"
)

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
	return *known, nil
}

// identify returns the model as first seen. It asks the server if it is not known.
func (e *Embedder) identify(ctx context.Context) (*embedder.Model, error) {
	select {
	case e.identity <- struct{}{}:
		defer func() { <-e.identity }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if e.known != nil && !e.stale.Swap(false) {
		return e.known, nil
	}
	now, err := e.meet(ctx)
	if err != nil {
		e.stale.Store(true) // the server has not answered yet
		return nil, err
	}
	if e.known == nil {
		e.known = now
		return now, nil
	}
	if err := compare(e.known, now); err != nil {
		e.stale.Store(true)
		return nil, err
	}
	return e.known, nil
}

func compare(known, now *embedder.Model) error {
	if known.Dim != now.Dim {
		return fmt.Errorf("%s had width %d and has %d: %w", known.Name, known.Dim, now.Dim, ErrModelChanged)
	}
	for i := range known.Probes {
		if c := dot(known.Probes[i], now.Probes[i]); c < embedder.SameCosine {
			return fmt.Errorf("%s: the vector of probe %d has cosine %.3f with the former one: %w", known.Name, i, c, ErrModelChanged)
		}
	}
	return nil
}

// meet asks the server for the model's description and for the probes' vectors.
func (e *Embedder) meet(ctx context.Context) (*embedder.Model, error) {
	var said, size int // the width that the server reports, and the context
	_, err := e.guarded(ctx, func() ([][]float32, error) {
		return e.once(ctx, func(ctx context.Context) (_ [][]float32, err error) {
			said, size, err = e.describe(ctx, e.opts.Model)
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
	if said != 0 && said != dim {
		// A Matryoshka model may be served at another width: the width of its vectors
		// counts.
		e.opts.Logger.Warn("ollama model has another width than the server reports", "model", e.opts.Model, "says", said, "has", dim)
	}
	return &embedder.Model{
		Name: "ollama/" + shortName(e.opts.Model), Dim: dim, ContextTokens: size,
		Fingerprint: embedder.Fingerprint(vectors), Probes: vectors,
	}, nil
}
