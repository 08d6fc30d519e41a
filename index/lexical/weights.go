package lexical

import (
	"context"
	"math"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/recalld/recalld/index"
)

// What a word of a question counts for a model that is told (embedder.Weigher).
const (
	// rarityPower is the power of the idf, and the middle of a flat optimum (.4 to
	// .5) over nine retrieval sets: the idf as it is, which serves BM25, takes too
	// much from words that a trained model has weighed already.
	rarityPower = 0.45
	// moreDocuments have none of the words: in the first few documents every word
	// would be common.
	moreDocuments = 100
	// noTermWeight is of what is no term of the question: signs, flags and names as a
	// whole whose parts a hyphen joins ("maxdepth" of "max-depth"), the beginning of a
	// long number. It lies among what words weigh, and changes little.
	noTermWeight = 0.5
)

// Weights is how much the words of one question count by how rare they are where it is
// asked.
type Weights map[string]float64

// Weights returns how much the words of a question count among the documents of the
// universe, nil for all: (idf(word) / idf of a word that none holds)^rarityPower, with
// the idf of Retrieve, as if moreDocuments more were searched. It returns ctx's error.
func (x *Index) Weights(ctx context.Context, question string, universe *roaring.Bitmap) (Weights, error) {
	terms := Analyze(question)
	weights := make(Weights, len(terms))
	s := searches.Get().(*search)
	defer s.release()
	s.terms = s.terms[:0]
	for _, t := range terms {
		s.terms = append(s.terms, queryTerm{text: t.Text})
	}
	if !x.snapshot(s, index.Query{Allow: universe, Universe: universe}) {
		return nil, nil // of an empty index: all count alike
	}
	n := float64(s.size + moreDocuments)
	unknown := math.Log1p((n + 0.5) / 0.5)
	for _, t := range s.terms {
		df, err := s.frequency(ctx, t.list)
		if err != nil {
			return nil, err
		}
		weights[t.text] = math.Pow(math.Log1p((n-float64(df)+0.5)/(float64(df)+0.5))/unknown, rarityPower)
	}
	return weights, nil
}

// Of is the weight of a word of the question, 0 to 1.
func (w Weights) Of(word []byte) float64 {
	if w == nil {
		return 1
	}
	a := analyzers.Get().(*analyzer)
	defer analyzers.Put(a)
	return w.of(a, word)
}

func (w Weights) of(a *analyzer, word []byte) float64 {
	a.gather(string(word))
	defer a.forget()
	weight, known := 0.0, false
	for _, id := range a.seen {
		if one, in := w[a.terms[id]]; in {
			weight, known = max(weight, one), true
		}
	}
	if !known {
		return noTermWeight
	}
	return weight
}
