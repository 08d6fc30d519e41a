package recall

import "math"

// Gumbel is the distribution of the strongest evidence that a question finds in
// a collection which has nothing to do with it. The best of n scores follows
// an extreme-value distribution (Fisher and Tippett, 1928; Gumbel, 1958):
//
//	P(best < x) = exp(-exp(-(x-μ)/β))
//
// For scores whose tail falls exponentially its place μ grows with ln n at a
// constant scale β. A collection of a few documents hardly knows which words
// are rare, so that scores differ less there; Half is the size at which β has
// half of its Scale:
//
//	μ = Place + PlaceLog·ln n,   β = Scale·n/(n + Half)
type Gumbel struct {
	Place, PlaceLog float64
	Scale, Half     float64
}

// Reduced is the reduced variate of evidence x among n documents: how many scales it
// lies above the place.
func (g Gumbel) Reduced(x float64, n int) float64 {
	place, scale := g.at(n)
	return (x - place) / scale
}

// Tail is the probability that an unrelated question finds evidence of x or
// more among n documents.
func (g Gumbel) Tail(x float64, n int) float64 {
	// 1 - exp(-e) without losing small values.
	return -math.Expm1(-math.Exp(-g.Reduced(x, n)))
}

// Quantile is the evidence that a share p of unrelated questions stays below.
func (g Gumbel) Quantile(p float64, n int) float64 {
	place, scale := g.at(n)
	return place - scale*math.Log(-math.Log(p))
}

func (g Gumbel) at(n int) (place, scale float64) {
	size := float64(max(n, 1))
	return g.Place + g.PlaceLog*math.Log(size), g.Scale * size / (size + g.Half)
}
