package recall

import (
	"math"
	"strings"

	"github.com/recalld/recalld/index"
)

// Gumbel is the distribution of the best score that a question reaches on a
// collection which has nothing to do with it. The best of N scores follows an
// extreme-value distribution (Fisher and Tippett, 1928; Gumbel, 1958), whose
// place moves with the logarithm of N:
//
//	P(best < x) = exp(-exp(-(x-μ)/β)),   μ = A + B·ln N
type Gumbel struct {
	A, B float64
	Beta float64
}

// tail is the probability that an unrelated question's best score on n
// documents reaches x.
func (g Gumbel) tail(x float64, n int) float64 {
	mu := g.A + g.B*math.Log(float64(max(n, 1)))
	// 1 - exp(-e) without losing small values.
	return -math.Expm1(-math.Exp(-(x - mu) / g.Beta))
}

// Calibration turns raw scores into relevance. Its parameters are versioned and
// named in every receipt.
type Calibration struct {
	Version string
	// Lexical is for BM25 divided by the highest score that the question could
	// reach.
	Lexical Gumbel
	// Vectors are for cosines, as their distance from the mean of the
	// collection in standard deviations, by the model's name. A name may stand
	// for the models that begin with it; the empty one is for all others.
	Vectors map[string]Gumbel
}

// falseAlarm is the share of unrelated questions for which anything at all
// reaches relevance .5; .75 is reached for a third of that share.
const falseAlarm = 0.05

// Relevance returns how surely a hit has to do with the question, 0 to 1. With
// p the probability that an unrelated question does as well,
//
//	relevance = falseAlarm / (falseAlarm + p)
//
// which is .5 where one unrelated question in twenty does, .75 at one in
// sixty, and near 1 where none ever did. It is the posterior probability of a
// relation when unrelated best hits are uniform in p, and one related hit is
// expected for every falseAlarm of them.
func (c Calibration) Relevance(part string, score float64, r index.Result) float64 {
	x, g := score, c.Lexical
	if isVector(part) {
		g = c.vector(strings.TrimPrefix(part, "vector/"))
		if r.Deviation > 0 {
			x = (score - float64(r.Mean)) / float64(r.Deviation)
		}
	} else if r.Best > 0 {
		x = score / float64(r.Best)
	}
	return falseAlarm / (falseAlarm + g.tail(x, r.Searched))
}

// vector returns the parameters of the longest name that the model's begins
// with.
func (c Calibration) vector(model string) Gumbel {
	best := ""
	for name := range c.Vectors {
		if strings.HasPrefix(model, name) && len(name) > len(best) {
			best = name
		}
	}
	return c.Vectors[best]
}

// ShippedCalibration holds the priors that come with the program, fitted by
// `go test ./internal/recall -run Calibration -fit` as docs/quality.md tells.
func ShippedCalibration() Calibration {
	return Calibration{
		Version: "priors-1",
		Lexical: Gumbel{A: 0.10, B: 0.02, Beta: 0.04},
		Vectors: map[string]Gumbel{
			"": {A: 1.0, B: 0.45, Beta: 0.5},
		},
	}
}

// round keeps four decimals: more would only differ between machines.
func round(x float64) float64 { return math.Round(x*1e4) / 1e4 }
