package embeddertest

import (
	"context"
	"errors"
	"hash/fnv"
	"math"
	"strings"
	"sync/atomic"

	"github.com/recalld/recalld/embedder"
)

// Fake is an embedder that can be made to fail or to block, for tests. Its vectors are a
// bag of hashed words: texts that share words are near. The zero value works.
type Fake struct {
	// Name is the model's name; "fake/words" when empty.
	Name string
	// Dim is the width; 64 when 0.
	Dim int
	// Salt distinguishes models: the vectors of two salts are unrelated.
	Salt string
	// Drift is added to every component, like the rounding of another processor.
	Drift float32
	// Before, if set, runs at the start of each Model and Embed call (texts is
	// nil for Model). An error is the call's error.
	Before func(ctx context.Context, texts []string) error
	// Refuse, if set, returns the error of a single text, nil for a valid one.
	Refuse func(text string) error

	calls, texts atomic.Int64
}

var _ embedder.Embedder = (*Fake)(nil)

// Calls returns the number of Embed calls and of their texts.
func (f *Fake) Calls() (calls, texts int) { return int(f.calls.Load()), int(f.texts.Load()) }

// Model implements embedder.Embedder.
func (f *Fake) Model(ctx context.Context) (embedder.Model, error) {
	if err := f.before(ctx, nil); err != nil {
		return embedder.Model{}, err
	}
	probes := make([][]float32, len(embedder.Probes))
	for i, p := range embedder.Probes {
		probes[i] = f.vector(p)
	}
	name := f.Name
	if name == "" {
		name = "fake/words"
	}
	return embedder.Model{Name: name, Dim: f.dim(), Fingerprint: embedder.Fingerprint(probes), Probes: probes}, nil
}

// Embed implements embedder.Embedder.
func (f *Fake) Embed(ctx context.Context, _ embedder.Purpose, texts []string) ([][]float32, error) {
	f.calls.Add(1)
	f.texts.Add(int64(len(texts)))
	if err := f.before(ctx, texts); err != nil {
		return nil, err
	}
	vs, failed := make([][]float32, len(texts)), map[int]error{}
	for i, text := range texts {
		switch {
		case strings.TrimSpace(text) == "":
			failed[i] = errors.New("the text is blank")
		case f.Refuse != nil && f.Refuse(text) != nil:
			failed[i] = f.Refuse(text)
		default:
			vs[i] = f.vector(text)
		}
	}
	if len(failed) > 0 {
		return vs, &embedder.PartialError{Failed: failed}
	}
	return vs, nil
}

func (f *Fake) before(ctx context.Context, texts []string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if f.Before != nil {
		return f.Before(ctx, texts)
	}
	return nil
}

func (f *Fake) dim() int {
	if f.Dim == 0 {
		return 64
	}
	return f.Dim
}

func (f *Fake) vector(text string) []float32 {
	sums := make([]float64, f.dim())
	for _, word := range strings.Fields(strings.ToLower(text)) {
		h := fnv.New64a()
		h.Write([]byte(f.Salt + word))
		x := h.Sum64()
		for i := range sums { // xorshift64: a separate direction for every word
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
			sums[i] += float64(int64(x)) / (1 << 63)
		}
	}
	var norm float64
	for _, s := range sums {
		norm += float64(s * s)
	}
	v := make([]float32, len(sums))
	for i, s := range sums {
		v[i] = float32(s/math.Sqrt(norm)) + f.Drift
	}
	return v
}
