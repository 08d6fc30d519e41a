package main

import (
	"slices"
	"testing"

	"github.com/recalld/recalld/embedder/builtin/contrast"
)

// upTo returns the numbers below n.
func upTo(n int) []int {
	at := make([]int, n)
	for i := range at {
		at[i] = i
	}
	return at
}

// TestClusters puts pairs of two directions together, and each in one cohort.
func TestClusters(t *testing.T) {
	m := contrast.NewModel(40, 2)
	pairs := &contrast.Pairs{}
	for i := range 40 {
		m.Row(uint32(i))[i%2] = 1
		pairs.A.Add([]uint32{uint32(i)})
		pairs.B.Add([]uint32{uint32(i)})
	}
	var seen []int
	for _, c := range clusters(m, pairs, upTo(40), 5, 1) {
		for _, p := range c.Pairs {
			if p%2 != c.Pairs[0]%2 {
				t.Errorf("pairs %d and %d are in one cohort and have nothing in common", p, c.Pairs[0])
			}
		}
		seen = append(seen, c.Pairs...)
	}
	slices.Sort(seen)
	if !slices.Equal(seen, upTo(40)) {
		t.Errorf("the cohorts hold %v, want each pair once", seen)
	}
}
