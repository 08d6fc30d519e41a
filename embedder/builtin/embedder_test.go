package builtin

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/embedder/builtin/table"
	"github.com/recalld/recalld/embedder/embeddertest"
)

// random returns a small table of random rows, half of them buckets. The piece
// "silent" weighs nothing.
func random() (*table.Model, error) {
	pieces := []string{"the", "server", "closes", "idle", "connections", "silent", "func", "->"}
	v, err := table.NewVocabulary(pieces, 1000)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(1, 2))
	s := table.Spec{Name: "random", Vocabulary: v, Widths: []int{256, 128}}
	silent, _ := v.Token([]byte("silent"))
	for t := range uint32(v.Size()) {
		weight := rng.Float32()
		if t == silent {
			weight = 0
		}
		s.Weights = append(s.Weights, weight)
		for range s.Widths[0] {
			s.Rows = append(s.Rows, rng.Float32()-0.5)
		}
	}
	return table.New(s)
}

func TestConformanceOfWidths(t *testing.T) {
	for _, width := range []int{256, 128} {
		embeddertest.Run(t, func(*testing.T) embedder.Embedder { return newEmbedder(random, width) })
	}
}

func TestModel(t *testing.T) {
	loads := 0
	load := func() (*table.Model, error) { loads++; return random() }
	wide, narrow := newEmbedder(load, 256), newEmbedder(load, 128)
	if loads > 0 {
		t.Error("the table is loaded before anything is embedded")
	}
	spaces := map[string]bool{}
	for _, e := range []*Embedder{wide, narrow, wide} {
		m, err := e.Model(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if m.Name != "builtin/random" {
			t.Errorf("the model is called %s", m.Name)
		}
		spaces[m.Collection()] = true
	}
	if loads != 2 || len(spaces) != 2 {
		t.Errorf("two embedders load their tables %d times and have %d spaces, want 2 and 2", loads, len(spaces))
	}
}

// TestFirstUseTogether has many goroutines embed at once with a table that nobody has
// read yet.
func TestFirstUseTogether(t *testing.T) {
	var loads atomic.Int64
	e := newEmbedder(func() (*table.Model, error) { loads.Add(1); return random() }, 256)
	start, vectors := make(chan struct{}), make([][][]float32, 32)
	var callers sync.WaitGroup
	for i := range vectors {
		callers.Go(func() {
			<-start
			if i%2 == 0 {
				if _, err := e.Model(t.Context()); err != nil {
					t.Error(err)
				}
			}
			vectors[i], _ = e.Embed(t.Context(), embedder.Document, []string{"the server closes idle connections"}) // a failure shows as no vector
		})
	}
	close(start)
	callers.Wait()
	for i, v := range vectors {
		if len(v) != 1 || !slices.Equal(v[0], vectors[0][0]) {
			t.Errorf("caller %d got %v, the first %v", i, v, vectors[0])
		}
	}
	if n := loads.Load(); n != 1 {
		t.Errorf("the table is read %d times, want once", n)
	}
}

func TestNothingWeighs(t *testing.T) {
	vs, err := newEmbedder(random, 128).Embed(t.Context(), embedder.Query, []string{"silent"})
	if err != nil {
		t.Fatal(err)
	}
	if err := embeddertest.CheckUnit(vs[0], 128); err != nil {
		t.Error(err)
	}
}

func TestNoTable(t *testing.T) {
	errLoad := errors.New("no such file")
	for _, c := range []struct {
		name string
		e    *Embedder
		want error
	}{
		{"load fails", newEmbedder(func() (*table.Model, error) { return nil, errLoad }, 256), errLoad},
		{"no such width", newEmbedder(random, 64), errWidth},
	} {
		for range 2 {
			if _, err := c.e.Model(t.Context()); !errors.Is(err, c.want) {
				t.Errorf("%s: Model fails with %v, want %v", c.name, err, c.want)
			}
			if _, err := c.e.Embed(t.Context(), embedder.Document, []string{"text"}); !errors.Is(err, c.want) {
				t.Errorf("%s: Embed fails with %v, want %v", c.name, err, c.want)
			}
		}
	}
}
