package builtin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/embedder/builtin/table"
)

// Embedder embeds with one table at one of its widths. It ignores the order of words, and
// reads texts of any length to their end.
type Embedder struct {
	width   int
	table   func() (*table.Model, error)
	model   func() (embedder.Model, error)
	poolers sync.Pool // of *table.Pooler
}

var _ embedder.Weigher = (*Embedder)(nil)

// errWidth is returned when the table was not trained for the requested width.
var errWidth = errors.New("builtin: no such width")

// newEmbedder returns an embedder over the table that load returns, with vectors of the
// given width. load is called once, at the first use. If it fails, or the table does
// not have the width (errWidth), every call returns that error.
func newEmbedder(load func() (*table.Model, error), width int) *Embedder {
	e := &Embedder{width: width}
	e.table = sync.OnceValues(func() (*table.Model, error) {
		t, err := load()
		if err != nil {
			return nil, fmt.Errorf("load table: %w", err)
		}
		if !slices.Contains(t.Widths(), width) {
			return nil, fmt.Errorf("%w: %d, %s has %v", errWidth, width, t.Name(), t.Widths())
		}
		return t, nil
	})
	e.model = sync.OnceValues(e.identify)
	return e
}

// identify embeds the probes.
func (e *Embedder) identify() (embedder.Model, error) {
	t, err := e.table()
	if err != nil {
		return embedder.Model{}, err
	}
	vectors, err := e.Embed(context.Background(), embedder.Document, embedder.Probes)
	if err != nil {
		return embedder.Model{}, fmt.Errorf("embed probes: %w", err)
	}
	return embedder.Model{
		Name: provider + t.Name(), Dim: e.width, Fingerprint: embedder.Fingerprint(vectors), Probes: vectors,
	}, nil
}

// Model implements embedder.Embedder. It returns ctx's errors and the errors of loading the
// table.
func (e *Embedder) Model(ctx context.Context) (embedder.Model, error) {
	if err := ctx.Err(); err != nil {
		return embedder.Model{}, err
	}
	return e.model()
}

var errBlank = errors.New("the text is blank")

// Embed implements embedder.Embedder. Both purposes give the same vectors. A text fails
// only if it is blank; other errors are the errors of Model.
func (e *Embedder) Embed(ctx context.Context, _ embedder.Purpose, texts []string) ([][]float32, error) {
	t, err := e.table()
	if err != nil {
		return nil, err
	}
	p := e.pooler(t)
	defer e.poolers.Put(p)
	vectors := make([][]float32, len(texts))
	var failed map[int]error
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if strings.TrimSpace(text) == "" {
			if failed == nil {
				failed = map[int]error{}
			}
			failed[i] = errBlank
			continue
		}
		v := make([]float32, e.width)
		if !p.Vector(text, v) {
			v[0] = 1 // no token has weight: use any fixed direction
		}
		vectors[i] = v
	}
	if failed != nil {
		return vectors, &embedder.PartialError{Failed: failed}
	}
	return vectors, nil
}

// EmbedWeighted implements embedder.Weigher.
func (e *Embedder) EmbedWeighted(ctx context.Context, text string, weight func(word []byte) float64) ([]float32, error) {
	t, err := e.table()
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if strings.TrimSpace(text) == "" {
		return nil, errBlank
	}
	p := e.pooler(t)
	defer e.poolers.Put(p)
	v := make([]float32, e.width)
	if !p.Weighted(text, weight, v) && !p.Vector(text, v) {
		v[0] = 1 // as for Embed
	}
	return v, nil
}

// pooler returns a pooler that is not in use.
func (e *Embedder) pooler(t *table.Model) *table.Pooler {
	if p, ok := e.poolers.Get().(*table.Pooler); ok {
		return p
	}
	return table.NewPooler(t, e.width)
}
