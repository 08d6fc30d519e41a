package adaptation

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// TestSplit: no document and no text is on two sides, and the sides do not depend on
// the order in which documents come.
func TestSplit(t *testing.T) {
	make := func(order []int) parts {
		c := &corpus{}
		for _, d := range order {
			for i := range 6 {
				c.addPair(fmt.Sprint("d", d), fmt.Sprintf("open the ledger of account %d page %d", d, i), fmt.Sprintf("function ledger account %d shows page number %d", d, i))
			}
			// A licence or a header that many files have.
			c.addPair(fmt.Sprint("d", d), "what every file begins with here", fmt.Sprintf("common beginning of file %d", d))
		}
		return c.split()
	}
	var order []int
	for d := range 400 {
		order = append(order, d)
	}
	p := make(order)
	slices.Reverse(order)
	if other := make(order); !slices.Equal(p.learned, other.learned) || !slices.Equal(p.tuned, other.tuned) || !slices.Equal(p.judged, other.judged) {
		t.Error("the sides depend on the order of documents")
	}
	side := map[string]int{}
	for n, list := range [][]sample{p.learned, p.tuned, p.judged} {
		if len(list) < 200 {
			t.Errorf("side %d has %d pairs", n, len(list))
		}
		for _, o := range list {
			for _, key := range []string{fmt.Sprint(o.document), fmt.Sprint("text ", keyOf(o.A)), fmt.Sprint("text ", keyOf(o.B))} {
				if on, known := side[key]; known && on != n {
					t.Fatalf("%s of %q is on sides %d and %d", key, o.A, on, n)
				}
				side[key] = n
			}
		}
	}
}

// TestBound: what is kept of too many pairs is the same whatever their order.
func TestBound(t *testing.T) {
	fill := func(from, to, by int) *corpus {
		c := &corpus{}
		for i := from; i != to; i += by {
			a := fmt.Sprint("entry ", i)
			c.add(sample{Pair{a, "register"}, uint64(i / 5), hashOf(a)})
		}
		return c
	}
	const n = maxPairs + maxPairs/4
	up, down := fill(0, n, 1), fill(n-1, -1, -1)
	if len(up.pairs) > maxPairs || len(up.pairs) < maxPairs/2 || len(up.seen) != len(up.pairs) {
		t.Errorf("%d of %d pairs are kept, %d known", len(up.pairs), n, len(up.seen))
	}
	slices.SortFunc(up.pairs, byHash)
	slices.SortFunc(down.pairs, byHash)
	if !slices.Equal(up.pairs, down.pairs) {
		t.Error("which pairs are kept depends on their order")
	}
}

// TestGain holds the standard error to what can be worked out by hand: with one pair a
// document it is that of a mean, and pairs that only repeat make it no smaller.
func TestGain(t *testing.T) {
	var single, doubled []sample
	var before, after, before2, after2 []int
	for i := range 4 {
		o := sample{document: uint64(i)}
		single, doubled = append(single, o), append(doubled, o, o)
		b, a := 2, 1+i%2 // differences of .5 and 0
		before, after = append(before, b), append(after, a)
		before2, after2 = append(before2, b, b), append(after2, a, a)
	}
	mean, err := gain(before, after, single)
	if want := math.Sqrt(.25*.25/3) / 1; math.Abs(mean-.25) > 1e-12 || math.Abs(err-want) > 1e-12 {
		t.Errorf("gain %v ± %v, want .25 ± %v", mean, err, want)
	}
	mean2, err2 := gain(before2, after2, doubled)
	if math.Abs(mean2-mean) > 1e-12 || math.Abs(err2-err) > 1e-12 {
		t.Errorf("each pair twice: %v ± %v, want %v ± %v", mean2, err2, mean, err)
	}
	if _, err := gain([]int{2, 3}, []int{1, 1}, doubled[:2]); !math.IsInf(err, 1) {
		t.Errorf("one document: error %v, want infinite", err)
	}
}
