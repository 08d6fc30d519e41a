package vector

import (
	"math"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/index/indextest"
)

// FuzzAgainstBruteForce changes a collection as the input says, and compares what a search
// finds, in each way and with filters, with brute force. By shortlist documents may be
// missing, but those found have their exact scores.
func FuzzAgainstBruteForce(f *testing.F) {
	f.Add([]byte("vectors and queries"), uint8(0))
	f.Add([]byte{0xff, 0x10, 0x20, 0x30, 0, 0xff, 0x7f, 0x80, 1, 2, 3, 4, 5, 0xfe, 0xfd, 0, 0, 0, 0, 0x55, 0xaa}, uint8(1))
	f.Add([]byte("many documents, which a shortlist finds by their signs alone"), uint8(2))
	names := []string{"collection", "exact", "shortlist"}
	f.Fuzz(func(t *testing.T, input []byte, way uint8) {
		const dim, documents = 8, 24
		name := names[int(way)%len(names)]
		options := ways[name]
		options.Name, options.Dim = "m", dim
		s := openSpace(t, options)
		c := indextest.NewChoices(input[:min(len(input), 800)])
		// A vector of few different numbers, so that scores are often equal.
		vector := func() []float32 {
			vec := make([]float32, dim)
			for i := range vec {
				vec[i] = float32(c.IntN(5) - 2)
			}
			if slices.Max(vec) == 0 && slices.Min(vec) == 0 {
				vec[0] = 1
			}
			return unit(vec)
		}
		model := map[uint32][]float32{}
		search := func() {
			var allow *roaring.Bitmap
			if c.IntN(2) == 0 {
				allow = roaring.New()
				for range c.IntN(documents) {
					allow.Add(c.Uint32N(documents) * 37)
				}
			}
			query, k := vector(), 1+c.IntN(12)
			got, err := s.Search(t.Context(), query, allow, k)
			if err != nil {
				t.Fatalf("searching %d documents: %v", len(model), err)
			}
			if name != "shortlist" {
				sameHits(t, name, got, bruteForce(model, query, allow, k))
				return
			}
			all := bruteForce(model, query, allow, len(model))
			if len(got) != min(k, len(all)) {
				t.Errorf("%d hits, want %d", len(got), min(k, len(all)))
			}
			for _, h := range got {
				at := slices.IndexFunc(all, func(w index.Hit) bool { return w.Doc == h.Doc })
				if at < 0 || math.Abs(float64(all[at].Score-h.Score)) > rounding {
					t.Errorf("the hit %v is not among %v", h, all)
				}
			}
		}
		for c.More() && !t.Failed() {
			doc := c.Uint32N(documents) * 37 // over several pages
			switch c.IntN(4) {
			case 0:
				s.Delete(doc)
				delete(model, doc)
			case 1:
				search()
			default:
				vec := vector()
				model[doc] = rounded(vec)
				if err := s.Upsert(doc, vec); err != nil {
					t.Fatalf("upserting %v: %v", vec, err)
				}
			}
		}
		search()
		checkSpace(t, s, model)
	})
}

func unit(vec []float32) []float32 {
	var squares float64
	for _, x := range vec {
		squares += float64(x) * float64(x)
	}
	for i := range vec {
		vec[i] = float32(float64(vec[i]) / math.Sqrt(squares))
	}
	return vec
}
