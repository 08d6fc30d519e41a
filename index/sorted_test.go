package index

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSortedAgainstModel compares with a sorted slice, also where all comes in order.
func TestSortedAgainstModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	s := NewSorted(cmp.Compare[int])
	var model []int
	for step := range 20_000 {
		v := rng.IntN(3_000)
		if step < 2_000 {
			v = step
		}
		at, found := slices.BinarySearch(model, v)
		if step >= 2_000 && rng.IntN(2) == 0 {
			if s.Delete(v) != found {
				t.Fatalf("step %d: Delete(%d) says otherwise than %v", step, v, found)
			}
			if found {
				model = slices.Delete(model, at, at+1)
			}
		} else {
			if s.Insert(v) == found {
				t.Fatalf("step %d: Insert(%d) says it is new: %v", step, v, found)
			}
			if !found {
				model = slices.Insert(model, at, v)
			}
		}
		if step%500 == 0 {
			from := rng.IntN(3_100)
			at, _ := slices.BinarySearch(model, from)
			if got := slices.Collect(s.From(from)); !slices.Equal(got, model[at:]) || !slices.Equal(slices.Collect(s.All()), model) || s.Len() != len(model) {
				t.Fatalf("step %d: from %d there are %v, want %v", step, from, got, model[at:])
			}
		}
	}
}

func TestRecencyAgainstModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	var r Recency
	model := map[uint32]int64{}
	for step := range 60_000 {
		doc := uint32(step)
		if step >= 40_000 {
			doc = rng.Uint32N(40_000)
		}
		if at, held := model[doc]; held {
			r.Remove(doc, at)
			delete(model, doc)
		} else {
			at := int64(step / 100) // many of one time, in order at first
			if step > 20_000 {
				at = rng.Int64N(1_000)
			}
			r.Add(doc, at)
			model[doc] = at
		}
		if step%4_000 != 0 {
			continue
		}
		if step%8_000 == 0 { // as after a load
			r = Recency{}
			r.Fill(maps.All(model))
		}
		for _, since := range []int64{-1, 0, rng.Int64N(1_000), rng.Int64N(1_000), 2_000} {
			got := r.Since(since)
			n := 0
			for doc, at := range model {
				if at >= since {
					n++
					if !got.Contains(doc) {
						t.Fatalf("step %d: document %d of %d is not found since %d", step, doc, at, since)
					}
				}
			}
			if int(got.GetCardinality()) != n || r.Len() != len(model) {
				t.Fatalf("step %d: since %d there are %d of %d, want %d of %d", step, since, got.GetCardinality(), r.Len(), n, len(model))
			}
		}
	}
}
