package index

import (
	"math/rand/v2"
	"testing"
)

// TestFinderAgainstMap adds and removes at random, with hashes that collide.
func TestFinderAgainstMap(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var f Finder
	stands := make([]uint64, 400) // number to what it stands for
	hash := func(v uint64) uint64 { return v % 37 * 11 }
	hashOf := func(n uint32) uint64 { return hash(stands[n]) }
	want := map[uint64]uint32{}
	for step := range 20_000 {
		v := 1 + rng.Uint64N(300)
		n, known := want[v]
		if got, ok := f.Find(hash(v), func(n uint32) bool { return stands[n] == v }); ok != known || got != n {
			t.Fatalf("step %d: Find(%d) = %d, %v; want %d, %v", step, v, got, ok, n, known)
		}
		if known {
			f.Remove(n, hashOf)
			delete(want, v)
			stands[n] = 1 << 60 // of no number
		} else {
			n = uint32(rng.IntN(len(stands)))
			if stands[n] != 0 && stands[n] != 1<<60 {
				continue
			}
			stands[n] = v
			f.Add(n, hashOf)
			want[v] = n
		}
		if f.Len() != len(want) {
			t.Fatalf("step %d: %d numbers, want %d", step, f.Len(), len(want))
		}
	}
	f.Remove(399, func(uint32) uint64 { return 5 }) // unknown or not, the rest stays
	for v, n := range want {
		if got, ok := f.Find(hash(v), func(n uint32) bool { return stands[n] == v }); n != 399 && (!ok || got != n) {
			t.Errorf("Find(%d) = %d, %v; want %d", v, got, ok, n)
		}
	}
}
