package ollama

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/ollama/ollama/api"
	"github.com/sony/gobreaker/v2"

	"github.com/recalld/recalld/embedder"
)

// errCallerGone marks failures caused by the end of the caller's context.
var errCallerGone = errors.New("the caller has gone")

// retryFor returns how often a request is tried after a kind of failure, and the pause before
// the second try. The pause doubles after each try, and is shortened at random by up to half
// so that refused callers do not retry together. If the server is down, the circuit breaker
// and the caller's queue take over.
func retryFor(err error) (tries int, pause time.Duration) {
	switch {
	case errors.Is(err, errBusy):
		return 4, 250 * time.Millisecond
	case errors.Is(err, errRunner), errors.Is(err, errDropped):
		return 3, 100 * time.Millisecond
	}
	return 1, 0
}

// attempt sends a batch and returns a usable vector for each input. It retries transient
// failures. It counts once for the circuit breaker.
func (e *Embedder) attempt(ctx context.Context, inputs []string) ([][]float32, error) {
	return e.guarded(ctx, func() ([][]float32, error) { return e.try(ctx, inputs) })
}

// guarded runs a request, with its retries, unless the circuit breaker is open.
func (e *Embedder) guarded(ctx context.Context, request func() ([][]float32, error)) ([][]float32, error) {
	vectors, err := e.breaker.Execute(func() ([][]float32, error) {
		vectors, err := request()
		if err != nil && ctx.Err() != nil {
			return nil, errCallerGone
		}
		return vectors, err
	})
	switch {
	case errors.Is(err, errCallerGone):
		return nil, ctx.Err()
	case errors.Is(err, gobreaker.ErrOpenState), errors.Is(err, gobreaker.ErrTooManyRequests):
		return nil, fmt.Errorf("%w: it failed %d times and will not be called for %v", embedder.ErrUnavailable, breakAfter, e.opts.Cooldown)
	}
	return vectors, err
}

// try sends a batch until it succeeds or its retries are used up.
func (e *Embedder) try(ctx context.Context, inputs []string) ([][]float32, error) {
	for tried := 1; ; tried++ {
		vectors, err := e.once(ctx, func(ctx context.Context) ([][]float32, error) { return e.send(ctx, inputs) })
		tries, pause := retryFor(err)
		if err == nil || tried >= tries {
			return vectors, err
		}
		pause <<= tried - 1
		pause -= rand.N(pause/2 + 1)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// once runs one request under the time-out.
func (e *Embedder) once(ctx context.Context, request func(context.Context) ([][]float32, error)) ([][]float32, error) {
	bounded, cancel := context.WithTimeout(ctx, e.opts.Timeout)
	defer cancel()
	vectors, err := request(bounded)
	if err != nil && ctx.Err() == nil && bounded.Err() != nil {
		return nil, fmt.Errorf("%w: %w within %v", embedder.ErrUnavailable, errTimeout, e.opts.Timeout)
	}
	return vectors, err
}

// send makes one request to the server.
func (e *Embedder) send(ctx context.Context, inputs []string) ([][]float32, error) {
	req := &api.EmbedRequest{Model: e.opts.Model, Input: inputs, Truncate: new(false)}
	if e.opts.KeepAlive != 0 {
		req.KeepAlive = &api.Duration{Duration: e.opts.KeepAlive}
	}
	resp, err := e.api.Embed(ctx, req)
	if err != nil {
		return nil, classify(ctx, err)
	}
	if len(resp.Embeddings) != len(inputs) {
		return nil, fmt.Errorf("%w: %d vectors for %d texts", errVector, len(resp.Embeddings), len(inputs))
	}
	for i, v := range resp.Embeddings {
		if err := normalise(v); err != nil {
			return nil, fmt.Errorf("text %d: %w", i, err)
		}
		if len(v) != len(resp.Embeddings[0]) {
			return nil, fmt.Errorf("%w: widths %d and %d in one response", errVector, len(resp.Embeddings[0]), len(v))
		}
	}
	e.ratio.learn(inputs, resp.PromptEvalCount)
	return resp.Embeddings, nil
}

// normalise scales a vector to unit length in place. It returns an error for empty and zero
// vectors, and for NaN or infinite components.
func normalise(v []float32) error {
	var squares float64
	for _, x := range v {
		squares += float64(x) * float64(x)
	}
	if !(squares > 1e-24) || math.IsInf(squares, 0) {
		return fmt.Errorf("%w: its squared length is %v", errVector, squares)
	}
	length := math.Sqrt(squares)
	for i, x := range v {
		v[i] = float32(float64(x) / length)
	}
	return nil
}

func dot(a, b []float32) float64 {
	var sum float64
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
