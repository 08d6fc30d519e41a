package recall

import (
	"cmp"
	"math"
)

// Gumbel is the distribution of the strongest evidence that a question about something else
// finds in a collection. The best of n scores follows an extreme-value distribution (Fisher
// and Tippett, 1928; Gumbel, 1958):
//
//	P(best < x) = exp(-exp(-(x-μ)/β))
//
// For scores with an exponential tail the location μ grows with ln n at a constant scale β.
// It also depends on the number m of the question's content words: a document easily holds
// all of a few words, and of many words some are anywhere. The evidence of short questions
// varies more:
//
//	μ = Place + PlaceLog·ln n + Length·(ln m/usualWords)²,   β = Scale·(1 + Short/m)
type Gumbel struct {
	Place, PlaceLog, Length float64
	Scale, Short            float64
}

const (
	// usualWords is the number of content words with the lowest location.
	usualWords = 6
	// manyWords bounds m: that much of a pasted log is about everything.
	manyWords = 60
)

// Size is what the strongest evidence depends on: the number of documents searched, and of
// content words of the question.
type Size struct{ Documents, Words int }

// Tail returns the probability that a question about something else finds evidence of at
// least x.
func (g Gumbel) Tail(x float64, of Size) float64 {
	place, scale := g.at(of)
	// 1 - exp(-e) without losing small values.
	return -math.Expm1(-math.Exp(-(x - place) / scale))
}

// Quantile returns the evidence that a share p of such questions stays below.
func (g Gumbel) Quantile(p float64, of Size) float64 {
	place, scale := g.at(of)
	return place - scale*math.Log(-math.Log(p))
}

func (g Gumbel) at(of Size) (place, scale float64) {
	words := float64(min(max(cmp.Or(of.Words, usualWords), 1), manyWords)) // no words: not known
	length := math.Log(words / usualWords)
	return g.Place + g.PlaceLog*math.Log(float64(max(of.Documents, 1))) + g.Length*length*length, g.Scale * (1 + g.Short/words)
}
