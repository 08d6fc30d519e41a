package lexical

import (
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/recalld/recalld/index"
)

// reference is BM25 as its formula reads: every document, every term, float64.
// It is what the index is compared with, in tests and in benchmarks.
type reference struct {
	options Options
	docs    map[uint32]referenceDoc
}

type referenceDoc struct {
	frequencies map[string]float64
	length      float64
}

func newReference(options Options) *reference {
	return &reference{options: options.withDefaults(), docs: make(map[uint32]referenceDoc)}
}

func (r *reference) upsert(doc uint32, body, extra index.Terms) {
	d := referenceDoc{frequencies: make(map[string]float64), length: float64(body.Length())}
	for _, t := range body {
		d.frequencies[t.Text] += float64(t.Count)
	}
	for _, t := range extra {
		d.frequencies[t.Text] += r.options.ExtraWeight * float64(t.Count)
	}
	r.docs[doc] = d
}

func (r *reference) delete(doc uint32) { delete(r.docs, doc) }

// retrieve answers with every allowed document that scores, not only q.Limit.
func (r *reference) retrieve(q index.Query) (hits []index.Hit, best float64, searched int) {
	in := func(set *roaring.Bitmap, doc uint32) bool { return set == nil || set.Contains(doc) }
	size, length := 0.0, 0.0
	for doc, d := range r.docs {
		if in(q.Universe, doc) {
			size++
			length += d.length
		}
		if in(q.Allow, doc) {
			searched++
		}
	}
	mean := 1.0
	if length > 0 {
		mean = length / size
	}
	k1, b := r.options.K1, r.options.B
	scores := make(map[uint32]float64)
	found := false
	for _, t := range queryTerms(q.Text) {
		df := 0.0
		for doc, d := range r.docs {
			if in(q.Universe, doc) && d.frequencies[t.text] > 0 {
				df++
			}
		}
		weight := t.weight * math.Log(1+(size-df+0.5)/(df+0.5))
		best += weight * (k1 + 1)
		found = found || df > 0
		for doc, d := range r.docs {
			tf := d.frequencies[t.text]
			if tf == 0 || !in(q.Allow, doc) {
				continue
			}
			scores[doc] += weight * tf * (k1 + 1) / (tf + k1*(1-b+b*d.length/mean))
		}
	}
	for doc, score := range scores {
		hits = append(hits, index.Hit{Doc: doc, Score: float32(score)})
	}
	slices.SortFunc(hits, compareHits)
	if !found && len(hits) == 0 {
		best = 0
	}
	return hits, best, searched
}
