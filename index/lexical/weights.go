package lexical

import (
	"context"
	"math"

	"github.com/RoaringBitmap/roaring/v2"
	"golang.org/x/text/unicode/norm"

	"github.com/recalld/recalld/index"
)

// Constants for the weights of question words, for models that take them
// (embedder.Weigher).
const (
	// rarityPower is the power of the idf, the middle of a flat optimum (.4 to .5) over
	// nine retrieval sets. The plain idf, which suits BM25, takes too much from words that
	// a trained model has weighed already.
	rarityPower = 0.45
	// moreDocuments is added to the number of documents, none with the word: otherwise
	// every word of the first few documents would be common.
	moreDocuments = 100
	// noTermWeight is the weight of tokens that are no term of the question: signs, flags,
	// whole names with a hyphen ("maxdepth" of "max-depth"), the beginning of a long
	// number. It is a typical word weight, and its exact value matters little.
	noTermWeight = 0.5
)

// Weights are the weights of the words of one question, by their rarity in the universe of
// the query.
type Weights map[string]float64

// Weights returns the weights of a question's words among the documents of the universe,
// nil for all: (idf(word) / idf of a word in no document)^rarityPower, with the idf of
// Retrieve, as if moreDocuments more documents were searched. It returns ctx's error.
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
		return nil, nil // empty index: all words count alike
	}
	n := float64(s.size + moreDocuments)
	unknown := math.Log1p((n + 0.5) / 0.5)
	for i := range s.terms {
		t := &s.terms[i]
		df, err := s.frequency(ctx, t)
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
	if !norm.NFC.IsNormal(word) { // not in gather: a word that is composed must not be copied
		word = norm.NFC.Bytes(word)
	}
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
