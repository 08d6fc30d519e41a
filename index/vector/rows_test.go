package vector

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/recalld/recalld/index"
)

// TestRowsOverPages adds and removes rows over several pages and compares all of them.
func TestRowsOverPages(t *testing.T) {
	const dim = 9
	c := newCorpus(dim, 20, 1)
	random := rand.New(rand.NewPCG(1, 2))
	r := rows{dim: dim, perPage: 500}
	var model [][]float32
	compare := func() {
		t.Helper()
		vec := make([]float32, dim)
		for slot, want := range model {
			if r.vector(uint32(slot), vec); !slices.Equal(vec, want) {
				t.Fatalf("row %d of %d is %v, want %v", slot, len(model), vec, want)
			}
			for i, c := range r.row(uint32(slot)) {
				if d := float32(c)*r.scales[slot] - want[i]; d < -1e-6 || d > 1e-6 {
					t.Fatalf("component %d of row %d is %v, scaled by %v, want %v", i, slot, c, r.scales[slot], want[i])
				}
			}
		}
	}
	for range 2*r.perPage + 50 {
		vec := c.vector()
		r.grow()
		r.set(uint32(len(model)), vec)
		model = append(model, rounded(vec))
	}
	compare()
	for len(model) > 0 {
		slot, last := random.IntN(len(model)), len(model)-1
		r.dropLast(uint32(slot))
		model[slot] = model[last]
		model = model[:last]
		if last%500 == 0 {
			compare()
		}
	}
	if len(r.pages) != 0 {
		t.Errorf("%d pages are left without a row", len(r.pages))
	}
}

// TestSavedRows changes rows at random, saves them, lets them lie in what was saved, and
// restores them. What was saved is never changed.
func TestSavedRows(t *testing.T) {
	const dim = 5
	c := newCorpus(dim, 20, 1)
	random := rand.New(rand.NewPCG(3, 4))
	empty := rows{dim: dim, perPage: 7}
	r := empty
	var model [][]float32
	var saved, kept [][]byte // each save, and a copy
	save := func() []byte {
		var b bytes.Buffer
		to := index.NewSaver(&b)
		r.save(to)
		if err := to.Flush(); err != nil {
			t.Fatal(err)
		}
		saved, kept = append(saved, b.Bytes()), append(kept, bytes.Clone(b.Bytes()))
		return b.Bytes()
	}
	steps := []func(){
		func() {
			for range min(len(model), random.IntN(3*empty.perPage)) { // also down to a former page
				slot, last := random.IntN(len(model)), len(model)-1
				r.dropLast(uint32(slot))
				model[slot] = model[last]
				model = model[:last]
			}
		},
		func() {
			if len(model) > 0 {
				slot, vec := random.IntN(len(model)), c.vector()
				r.set(uint32(slot), vec)
				model[slot] = rounded(vec)
			}
		},
		func() { save() },
		func() {
			if n := len(saved) - 1; n >= 0 {
				r.remap(saved[n], &saved[n])
			}
		},
		func() {
			b := save()
			r = empty
			from := index.NewRestorer(b, &saved)
			if r.restore(from, len(model)); from.End() != nil {
				t.Fatal(from.Err())
			}
		},
	}
	vec := make([]float32, dim)
	for step := range 8000 {
		if n := random.IntN(40); n < len(steps) {
			steps[n]()
		} else if len(model) < 100 {
			added := c.vector()
			r.grow()
			r.set(uint32(len(model)), added)
			model = append(model, rounded(added))
		} else {
			steps[0]()
		}
		for slot, want := range model {
			if r.vector(uint32(slot), vec); !slices.Equal(vec, want) {
				t.Fatalf("after step %d, row %d of %d is %v, want %v", step, slot, len(model), vec, want)
			}
		}
	}
	for n := range saved {
		if !bytes.Equal(saved[n], kept[n]) {
			t.Fatalf("what save %d wrote was changed", n)
		}
	}
}
