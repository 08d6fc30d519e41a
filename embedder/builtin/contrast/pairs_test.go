package contrast

import (
	"slices"
	"testing"
)

func TestBags(t *testing.T) {
	var bags Bags
	bags.Add([]uint32{7, 3, 7, 7, 1})
	bags.Add(nil)
	bags.Add(slices.Repeat([]uint32{2}, 1000))
	if bags.Len() != 3 {
		t.Fatalf("%d bags, want 3", bags.Len())
	}
	for i, want := range []Bag{
		{[]uint32{1, 3, 7}, []uint8{1, 1, 3}}, {[]uint32{}, []uint8{}}, {[]uint32{2}, []uint8{255}},
	} {
		if got := bags.At(i); !slices.Equal(got.Tokens, want.Tokens) || !slices.Equal(got.Counts, want.Counts) {
			t.Errorf("bag %d is %v, want %v", i, got, want)
		}
	}
}

// TestRanks holds ranks at more pairs than are compared at once, with a text
// that is there twice and a vector that is near to nothing.
func TestRanks(t *testing.T) {
	const n = rankBlock + 10
	m := NewModel(n+1, 2)
	pairs := &Pairs{}
	for i := range n {
		m.Row(uint32(i))[i%2] = 1
		pairs.A.Add([]uint32{uint32(i)})
		pairs.B.Add([]uint32{uint32(i % 4)})
	}
	pairs.A.Add([]uint32{n}) // a row of zeros: everything is as near as its b
	pairs.B.Add([]uint32{n})
	ranks := Ranks(m, pairs, all(n+1), 2)
	for i, r := range ranks[:n] {
		// Half of the texts are as near, and half of those are the same text.
		if want := 1 + n/4; r < want-1 || r > want+1 {
			t.Fatalf("pair %d has rank %d, want about %d", i, r, want)
		}
	}
	if got := ranks[n]; got != n+1 {
		t.Errorf("a text that is near to nothing has rank %d, want the last, %d", got, n+1)
	}
}

func TestSampler(t *testing.T) {
	cohorts := []Cohort{
		{Pairs: all(100), Weight: 1}, {Pairs: []int{100, 101}, Weight: 1}, {Weight: 9}, {Pairs: []int{102}},
	}
	s, err := NewSampler(cohorts, 10, 3)
	if err != nil {
		t.Fatal(err)
	}
	at := s.Batch(5, 50)
	if len(at) != 50 || !slices.Equal(at, s.Batch(5, 50)) || slices.Equal(at, s.Batch(6, 50)) {
		t.Errorf("a batch of a step is %v, want 50 pairs that depend on the step alone", at)
	}
	if slices.Contains(at, 102) {
		t.Error("a cohort without weight was drawn from")
	}
	if !slices.Contains(at, 100) || !slices.ContainsFunc(at, func(p int) bool { return p < 100 }) {
		t.Errorf("a batch is %v, want pairs of both cohorts", at)
	}
	for name, cohorts := range map[string][]Cohort{"nothing": nil, "no weight": {{Pairs: []int{1}}}} {
		if _, err := NewSampler(cohorts, 10, 1); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
