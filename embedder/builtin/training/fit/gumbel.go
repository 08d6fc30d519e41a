package main

import (
	"cmp"
	"math"
	"slices"

	"github.com/recalld/recalld/internal/recall"
)

// sample is the evidence that unrelated questions found among n documents, sorted, and its
// prefix sums: sums[i] is the sum of the first i.
type sample struct {
	n    int
	x    []float64
	sums []float64
}

func newSample(n int, x []float64) sample {
	s := sample{n: n, x: slices.Sorted(slices.Values(x)), sums: make([]float64, len(x)+1)}
	for i, v := range s.x {
		s.sums[i+1] = s.sums[i] + v
	}
	return s
}

// check is the mean of the check function at a level: the loss of q as an estimate of the
// quantile.
func (s sample) check(q, level float64) float64 {
	below, _ := slices.BinarySearch(s.x, q)
	above := float64(len(s.x) - below)
	over := s.sums[len(s.x)] - s.sums[below] - above*q
	under := float64(below)*q - s.sums[below]
	return (level*over + (1-level)*under) / float64(len(s.x))
}

// quantile is the value below which a share p of the sample lies.
func (s sample) quantile(p float64) float64 { return s.x[min(int(p*float64(len(s.x))), len(s.x)-1)] }

// levels are the quantiles used for the fit. They are in the tail, which determines
// relevance.
var levels = []float64{0.8, 0.9, 0.95, 0.97, 0.99, 0.995}

// fitGumbel is a regression on quantiles (Koenker and Bassett, 1978). Each check function
// is divided by its minimum, so that all levels and all collection sizes have equal weight.
func fitGumbel(samples []sample) recall.Gumbel {
	gumbel := func(v []float64) recall.Gumbel {
		return recall.Gumbel{Place: v[0], PlaceLog: v[1], Scale: math.Abs(v[2]), Half: math.Abs(v[3])}
	}
	loss := func(v []float64) float64 {
		g, total := gumbel(v), 0.0
		for _, s := range samples {
			for _, level := range levels {
				total += s.check(g.Quantile(level, s.n), level) / s.check(s.quantile(level), level)
			}
		}
		return total
	}
	return gumbel(minimise(loss, []float64{0.1, 0.3, 0.3, 1}))
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
