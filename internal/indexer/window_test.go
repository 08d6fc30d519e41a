package indexer

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestWindow: a window of a list is that of the sorted list, whatever is equal in it.
func TestWindow(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		list := make([]int, random.IntN(60))
		for i := range list {
			list[i] = random.IntN(20)
		}
		skip, most := random.IntN(70), random.IntN(70)
		sorted := slices.Sorted(slices.Values(list))
		want := sorted[min(skip, len(sorted)):]
		want = want[:min(most, len(want))]
		if got := window(slices.Clone(list), skip, most, cmp.Compare); !slices.Equal(got, want) {
			t.Fatalf("of %v from %d on %d are %v, want %v", list, skip, most, got, want)
		}
	}
}
