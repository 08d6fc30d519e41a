package lexical

import (
	"math/rand/v2"
	"testing"
)

// TestPackedSearch compares search with a look at every posting, over blocks whose slots lie
// close together, far apart, and in heaps.
func TestPackedSearch(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 1))
	for round := range 400 {
		var slots, tfs [blockSize]uint32
		base := random.Uint32N(1 << 20)
		next := base
		for i := range slots {
			gap := uint32(0)
			switch round % 4 {
			case 1:
				gap = random.Uint32N(50)
			case 2:
				gap = random.Uint32N(1 << 20)
			case 3: // seldom, but then far
				if random.IntN(40) == 0 {
					gap = random.Uint32N(1 << 24)
				}
			}
			slots[i], tfs[i] = next+gap, 1+random.Uint32N(100)
			next += gap + 1
		}
		how := layoutOf(base, &slots, &tfs)
		data := make([]byte, how.bytes()+pageSlack)
		pack(data, how, base, &slots, &tfs)
		p, last := newPacked(data, how, base), slots[blockSize-1]
		for range 200 {
			slot := base + random.Uint32N(last-base+1)
			if random.IntN(2) == 0 {
				slot = slots[random.IntN(blockSize)]
			}
			want := 0
			for slots[want] < slot {
				want++
			}
			from := random.IntN(want + 1)
			if got := p.search(from, slot, last); got != want || p.slot(got) != slots[want] || p.tf(got) != tfs[want] {
				t.Fatalf("round %d: search(%d, %d) = %d, want %d of %v", round, from, slot, got, want, slots)
			}
		}
	}
}
