package vector

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/recalld/recalld/index"
)

func TestKeeperAgainstSort(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 3))
	var k keeper // used again and again, as by searches
	for _, n := range []int{1, 2, 10, 400} {
		for _, shown := range []int{0, 1, n - 1, n, n + 1, 5_000} {
			for _, order := range []string{"random", "ascending", "descending"} {
				keys := make([]uint64, shown)
				for i := range keys {
					keys[i] = uint64(random.IntN(50))<<32 | uint64(i)
				}
				random.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
				want := slices.Sorted(slices.Values(keys))
				switch order {
				case "ascending":
					slices.Sort(keys)
				case "descending":
					slices.Sort(keys)
					slices.Reverse(keys)
				}
				k.reset(n)
				for _, key := range keys {
					k.add(key)
				}
				if got := k.sorted(); !slices.Equal(got, want[:min(n, shown)]) {
					t.Errorf("%d of %d in %s order: got %x, want %x", n, shown, order, got, want[:min(n, shown)])
				}
			}
		}
	}
}

func TestScoreKeyOrders(t *testing.T) {
	hits := []index.Hit{ // as they must stand
		{Doc: 9, Score: 1}, {Doc: 0, Score: .5}, {Doc: 3, Score: .5}, {Doc: 4_000_000_000, Score: .5},
		{Doc: 1, Score: 1e-30}, {Doc: 2, Score: 0}, {Doc: 7, Score: -1e-30}, {Doc: 5, Score: -.5},
		{Doc: 6, Score: -.5}, {Doc: 0, Score: -1},
	}
	for i, h := range hits {
		if got := hitOf(scoreKey(h)); got != h {
			t.Errorf("hit %v comes back as %v", h, got)
		}
		if i > 0 && scoreKey(hits[i-1]) >= scoreKey(h) {
			t.Errorf("hit %v does not stand before %v", hits[i-1], h)
		}
	}
	negative := float32(math.Copysign(0, -1))
	if scoreKey(index.Hit{Doc: 1, Score: negative}) != scoreKey(index.Hit{Doc: 1, Score: 0}) {
		t.Error("the two zeros differ")
	}
}
