package vector

import (
	"testing"

	"github.com/recalld/recalld/index/indextest"
)

// TestRetriever runs the suite over each way in which a space is searched.
func TestRetriever(t *testing.T) {
	for name, options := range map[string]Options{
		"defaults":   {},
		"collection": {CollectionUpTo: 100_000},
		"exact":      {CollectionUpTo: 1, ExactUpTo: 100_000},
		"shortlist":  {CollectionUpTo: 1, ExactUpTo: 1, Shortlist: 100, ShortlistPerHit: 4},
	} {
		t.Run(name, func(t *testing.T) {
			options.Name, options.Dim = "toy", toyDim
			indextest.Run(t, func(t *testing.T) indextest.Subject {
				s := openSpace(t, options)
				return indextest.Subject{
					Retriever: s.Retriever(toyEmbed),
					Put: func(doc uint32, text string) {
						vec, err := toyEmbed(t.Context(), text)
						if err == nil {
							err = s.Upsert(doc, vec)
						}
						if err != nil {
							t.Errorf("putting document %d: %v", doc, err)
						}
					},
					Delete: s.Delete,
				}
			})
		})
	}
}
