package index

import (
	"math"
	"math/rand/v2"
	"slices"
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
	for _, n := range []uint32{2_000, 2 * longRange} {
		var numbers []uint32
		for doc := range n {
			numbers = append(numbers, doc+70_000)
		}
		var row docSet
		row.addMany(numbers)
		all := roaring.New()
		if row.addTo(all); row.bitmap != nil || !slices.Equal(all.ToArray(), numbers) {
			t.Errorf("%d numbers in a row: %v, a bitmap %t", n, all, row.bitmap != nil)
		}
		numbers = append(numbers, 7, 9)
		row.addMany(numbers[n:])
		if row.addTo(all); row.bitmap == nil || !all.Equals(roaring.BitmapOf(numbers...)) {
			t.Errorf("%d numbers in a row and two others: %v", n, all)
		}
	}
}

// TestManyRanges: the files of a pattern are many short ranges. A bitmap that keeps them as
// ranges copies them all with each one that is added.
func TestManyRanges(t *testing.T) {
	all := roaring.New()
	for file := range uint32(1_000) {
		set := docSet{first: 6 * file, n: 4}
		set.addTo(all)
	}
	if all.GetCardinality() != 4_000 || all.HasRunCompression() {
		t.Errorf("%d numbers, as ranges: %t", all.GetCardinality(), all.HasRunCompression())
	}
}
