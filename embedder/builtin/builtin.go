// Package builtin is the embedder that is always there: it needs no server, no
// download and microseconds for a text.
//
// A text becomes the weighted sum of the directions of its features (see
// internal/feature), as in feature hashing (Weinberger et al., "Feature
// Hashing for Large Scale Multitask Learning", 2009): words that share a stem
// or letters are near, synonyms are not. Weights are inverse document
// frequencies from an embedded table; repeats count by their logarithm.
//
// All sums are of integers, so that a text has the same vector, bit for bit,
// on every platform.
package builtin

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/recalld/recalld/embedder"
)

const (
	// Name is the model's name. It changes whenever its vectors do.
	Name = "builtin/hash-v1"
	// Dim is the width of its vectors.
	Dim = 256
)

// Embedder is the built-in embedder. Its zero value is ready; all of them give
// the same vectors.
type Embedder struct{}

var _ embedder.Embedder = Embedder{}

// New returns the built-in embedder.
func New() Embedder { return Embedder{} }

// model computes the identity once; the probes take some microseconds.
var model = sync.OnceValues(func() (embedder.Model, error) {
	vs, err := Embedder{}.Embed(context.Background(), embedder.Document, embedder.Probes)
	if err != nil {
		return embedder.Model{}, err
	}
	return embedder.Model{Name: Name, Dim: Dim, Fingerprint: embedder.Fingerprint(vs), Probes: vs}, nil
})

// Model implements embedder.Embedder. It fails only if the program's own table
// of weights is damaged.
func (Embedder) Model(ctx context.Context) (embedder.Model, error) {
	if err := ctx.Err(); err != nil {
		return embedder.Model{}, err
	}
	return model()
}

var errBlank = errors.New("the text is blank")

// Embed implements embedder.Embedder. Both purposes give the same vectors.
// Only blank texts fail.
func (Embedder) Embed(ctx context.Context, _ embedder.Purpose, texts []string) ([][]float32, error) {
	w, err := table()
	if err != nil {
		return nil, err
	}
	s := sums.Get().(*sum)
	defer sums.Put(s)
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
		vectors[i] = s.embed(w, text)
	}
	if failed != nil {
		return vectors, &embedder.PartialError{Failed: failed}
	}
	return vectors, nil
}
