package recall

import "math"

// Gumbel is the distribution of the strongest evidence that a question finds in an
// unrelated collection. The best of n scores follows an extreme-value distribution
// (Fisher and Tippett, 1928; Gumbel, 1958):
//
//	P(best < x) = exp(-exp(-(x-μ)/β))
//
// For scores with an exponential tail the location μ grows with ln n at a constant
// scale β. In a collection of a few documents, word rarity is hardly known and scores
// differ less. Half is the size at which β is half of Scale:
//
//	μ = Place + PlaceLog·ln n,   β = Scale·n/(n + Half)
type Gumbel struct {
	Place, PlaceLog float64
	Scale, Half     float64
}

// Reduced returns the reduced variate (x-μ)/β of evidence x among n documents.
func (g Gumbel) Reduced(x float64, n int) float64 {
	place, scale := g.at(n)
	return (x - place) / scale
}

// Tail returns the probability that an unrelated question finds evidence of at least x
// among n documents.
func (g Gumbel) Tail(x float64, n int) float64 {
	// 1 - exp(-e) without losing small values.
	return -math.Expm1(-math.Exp(-g.Reduced(x, n)))
}

// Quantile returns the evidence that a share p of unrelated questions stays below.
func (g Gumbel) Quantile(p float64, n int) float64 {
	place, scale := g.at(n)
	return place - scale*math.Log(-math.Log(p))
}

func (g Gumbel) at(n int) (place, scale float64) {
	size := float64(max(n, 1))
	return g.Place + g.PlaceLog*math.Log(size), g.Scale * size / (size + g.Half)
}
