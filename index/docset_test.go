package index

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
)

// TestDocSet compares a set with a bitmap after each of many random changes, most of them at
// the ends of what is there, also at the ends of all numbers.
func TestDocSet(t *testing.T) {
	for seed := range uint64(300) {
		draw := rand.New(rand.NewPCG(seed, 1))
		base := []uint32{0, 65_530, math.MaxUint32 - 12}[seed%3]
		var set docSet
		want := roaring.New()
		for range 40 {
			doc := base + draw.Uint32N(13)
			if draw.IntN(3) > 0 {
				if !want.IsEmpty() && want.Maximum() < math.MaxUint32 && draw.IntN(2) == 0 {
					doc = want.Maximum() + 1
				}
				set.add(doc)
				want.Add(doc)
			} else {
				set.remove(doc)
				want.Remove(doc)
			}
			got := roaring.BitmapOf(7)
			set.addTo(got)
			if all := roaring.Or(want, roaring.BitmapOf(7)); !got.Equals(all) || set.isEmpty() != want.IsEmpty() {
				t.Fatalf("seed %d: %v, empty %v, want %v", seed, got, set.isEmpty(), want)
			}
		}
	}
	var chunks docSet
	for doc := range uint32(2_000) {
		chunks.add(doc + 70_000)
	}
	if chunks.bitmap != nil {
		t.Error("numbers in a row made a bitmap")
	}
}
