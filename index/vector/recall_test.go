//go:build !race

// One goroutine measures here, and for a quarter of a minute under the race detector, which
// has nothing to find in it. TestSpaceConcurrently searches beside changes.

package vector

import (
	"slices"
	"testing"

	"github.com/recalld/recalld/index"
)

// TestShortlistRecall holds the shortlist to what it is there for, on vectors
// like vectors of real models, also after the topics change.
func TestShortlistRecall(t *testing.T) {
	const documents, queries, k = 6_000, 40, 10
	s := openSpace(t, Options{Name: "m", Dim: 256})
	recall := func(c *corpus, model map[uint32][]float32) float64 {
		found := 0
		for range queries {
			query := c.query()
			got, err := s.Search(t.Context(), query, nil, k)
			if err != nil {
				t.Fatalf("searching: %v", err)
			}
			for _, want := range bruteForce(model, query, nil, k) {
				if slices.ContainsFunc(got, func(h index.Hit) bool { return h.Doc == want.Doc }) {
					found++
				}
			}
		}
		return float64(found) / (queries * k)
	}
	first, second := newCorpus(256, 300, 7), newCorpus(256, 300, 8)
	model := map[uint32][]float32{}
	for i, c := range []*corpus{first, second} {
		before := s.codedMean
		for n := range uint32(documents) {
			doc := uint32(i)*documents + n
			vec := c.vector()
			model[doc] = rounded(vec)
			if err := s.Upsert(doc, vec); err != nil {
				t.Fatalf("upserting: %v", err)
			}
		}
		if slices.Equal(before, s.codedMean) {
			t.Errorf("after corpus %d came in, codes are still centred on the mean before", i)
		}
		for j, asked := range []*corpus{first, second}[:i+1] {
			if r := recall(asked, model); r < .99 {
				t.Errorf("with %d corpora, queries of corpus %d: recall@10 is %.3f, want .99", i+1, j, r)
			}
		}
	}
	checkSpace(t, s, model)
}
