package vector

import (
	"math/rand/v2"
	"slices"
	"testing"
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
