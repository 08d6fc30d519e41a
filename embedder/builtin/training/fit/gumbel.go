package main

import (
	"cmp"
	"math"
	"slices"

	"github.com/recalld/recalld/internal/recall"
)

// sighting is the strongest evidence that a question found, and the sizes that it depends
// on.
type sighting struct {
	evidence         float64
	documents, words int
}

// levels are the quantiles used for the fit: from where a line is shown to where all of a
// text is.
var levels = []float64{0.3, 0.5, 0.7, 0.85, 0.92, 0.97, 0.99}

// fitGumbel is a regression on quantiles (Koenker and Bassett, 1978): it minimises the check
// functions of all levels. The check function of a level is divided by what a tail level
// has at its minimum, so that rare levels count.
func fitGumbel(seen []sighting) recall.Gumbel {
	gumbel := func(v []float64) recall.Gumbel {
		return recall.Gumbel{Place: v[0], PlaceLog: v[1], Length: v[2], Scale: math.Abs(v[3]), Short: math.Abs(v[4])}
	}
	loss := func(v []float64) float64 {
		g, total := gumbel(v), 0.0
		for _, s := range seen {
			for _, level := range levels {
				total += check(s.evidence-g.Quantile(level, recall.Size{Documents: s.documents, Words: s.words}), level) / (0.1 + level*(1-level))
			}
		}
		return total
	}
	return gumbel(minimise(loss, []float64{1, 0.8, 0.3, 1.5, 0.5}))
}

// check is the loss of a quantile of a level that is exceeded by this much.
func check(excess, level float64) float64 {
	if excess > 0 {
		return level * excess
	}
	return (level - 1) * excess
}

// minimise is the downhill simplex of Nelder and Mead (1965) with its usual
// coefficients.
func minimise(f func([]float64) float64, start []float64) []float64 {
	type vertex struct {
		at    []float64
		value float64
	}
	at := func(v []float64) vertex { return vertex{v, f(v)} }
	simplex := []vertex{at(start)}
	for i := range start {
		v := slices.Clone(start)
		v[i] += max(0.1, math.Abs(v[i])/2)
		simplex = append(simplex, at(v))
	}
	for range 1000 {
		slices.SortFunc(simplex, func(a, b vertex) int { return cmp.Compare(a.value, b.value) })
		best, worst := simplex[0], &simplex[len(start)]
		if worst.value-best.value < 1e-9*math.Abs(best.value) {
			break
		}
		centre := make([]float64, len(start))
		for _, v := range simplex[:len(start)] {
			for i, x := range v.at {
				centre[i] += x / float64(len(start))
			}
		}
		towards := func(share float64) vertex {
			v := make([]float64, len(start))
			for i := range v {
				v[i] = centre[i] + share*(centre[i]-worst.at[i])
			}
			return at(v)
		}
		switch reflected := towards(1); {
		case reflected.value < best.value:
			*worst = reflected
			if expanded := towards(2); expanded.value < reflected.value {
				simplex[len(start)] = expanded
			}
		case reflected.value < simplex[len(start)-1].value:
			*worst = reflected
		default:
			if contracted := towards(-0.5); contracted.value < worst.value {
				*worst = contracted
				continue
			}
			for i := range simplex[1:] {
				v := simplex[i+1].at
				for j := range v {
					v[j] = best.at[j] + (v[j]-best.at[j])/2
				}
				simplex[i+1] = at(v)
			}
		}
	}
	return simplex[0].at
}
