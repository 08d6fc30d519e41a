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
	data, err := bags.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var read Bags
	if err := read.UnmarshalBinary(data); err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string]*Bags{"added": &bags, "read": &read} {
		if b.Len() != 3 {
			t.Fatalf("%s: %d bags, want 3", name, b.Len())
		}
		for i, want := range []Bag{
			{[]uint32{1, 3, 7}, []uint8{1, 1, 3}}, {[]uint32{}, []uint8{}}, {[]uint32{2}, []uint8{255}},
		} {
			if got := b.At(i); !slices.Equal(got.Tokens, want.Tokens) || !slices.Equal(got.Counts, want.Counts) {
				t.Errorf("%s: bag %d is %v, want %v", name, i, got, want)
			}
		}
	}
}

func FuzzBags(f *testing.F) {
	var bags Bags
	bags.Add([]uint32{7, 3, 7})
	bags.Add([]uint32{1})
	data, err := bags.MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		var b Bags
		if b.UnmarshalBinary(data) != nil {
			return
		}
		for i := range b.Len() {
			if bag := b.At(i); len(bag.Tokens) != len(bag.Counts) {
				t.Errorf("bag %d has %d tokens and %d counts", i, len(bag.Tokens), len(bag.Counts))
			}
		}
	})
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

// TestCluster puts pairs of two directions together, and each in one cohort.
func TestCluster(t *testing.T) {
	m := NewModel(40, 2)
	pairs := &Pairs{}
	for i := range 40 {
		m.Row(uint32(i))[i%2] = 1
		pairs.A.Add([]uint32{uint32(i)})
		pairs.B.Add([]uint32{uint32(i)})
	}
	var seen []int
	for _, c := range Cluster(m, pairs, all(40), 5, 1) {
		for _, p := range c.Pairs {
			if p%2 != c.Pairs[0]%2 {
				t.Errorf("pairs %d and %d are in one cohort and have nothing in common", p, c.Pairs[0])
			}
		}
		seen = append(seen, c.Pairs...)
	}
	slices.Sort(seen)
	if !slices.Equal(seen, all(40)) {
		t.Errorf("the cohorts hold %v, want each pair once", seen)
	}
}
