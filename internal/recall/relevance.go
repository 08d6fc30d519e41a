package recall

import (
	"math"
	"strings"

	"github.com/recalld/recalld/index"
)

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

// Tail is the probability that an unrelated question finds evidence of x or
// more among n documents.
func (g Gumbel) Tail(x float64, n int) float64 {
	place, scale := g.at(n)
	// 1 - exp(-e) without losing small values.
	return -math.Expm1(-math.Exp(-(x - place) / scale))
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

// Model is what is known beforehand of a model's cosines.
type Model struct {
	// Mean and Deviation are of the cosines between questions and documents
	// that have nothing to do with each other; a Deviation of 0 says that they
	// are not known.
	Mean, Deviation float64
	// Best is the distribution of the highest cosine of a collection, as
	// Evidence gives it.
	Best Gumbel
	// Doubt is how many times rarer among unrelated questions evidence of this
	// model must be than evidence of words to be as relevant: what a weak model
	// finds by chance it finds at the cost of answers. At least 1.
	Doubt float64
}

// Calibration turns raw scores into relevance. Its parameters are versioned and
// named in every receipt.
type Calibration struct {
	Version string
	Lexical Gumbel
	// Vectors are by the model's name. A name may stand for the models that
	// begin with it; the empty one is for all others.
	Vectors map[string]Model
}

// priorDocuments is how many documents the prior moments of a model count for
// beside those of the collection searched.
const priorDocuments = 30

// Evidence makes the score of a part comparable between questions.
//
// For words it is score/√best, with best the highest score that the question
// could reach: the geometric mean of how much was matched and of the share of
// the question that this is. The first alone takes long questions for related,
// the second short ones.
//
// For vectors it is the distance of the cosine from the mean of all documents,
// in standard deviations. In a small collection neither can be told, so the
// model's own are counted in as if priorDocuments more had been seen.
func (c Calibration) Evidence(part string, score float64, r index.Result) float64 {
	if !isVector(part) {
		if r.Best <= 0 {
			return 0
		}
		return score / math.Sqrt(float64(r.Best))
	}
	m := c.model(part)
	mean, variance := float64(r.Mean), float64(r.Deviation)*float64(r.Deviation)
	if m.Deviation > 0 {
		n, prior := float64(r.Searched), float64(priorDocuments)
		mean = (n*mean + prior*m.Mean) / (n + prior)
		variance = (n*variance + prior*m.Deviation*m.Deviation) / (n + prior)
	}
	if variance <= 0 {
		return 0 // nothing to compare the cosine with
	}
	return (score - mean) / math.Sqrt(variance)
}

// The curve of relevance. evenOdds is the share of unrelated questions that find,
// by words, evidence of relevance .5, oddsForCode the share that find .75, the
// floor of code: a lesson that is out of place costs a line, code that is costs
// half of the answer.
const (
	evenOdds    = 0.08
	oddsForCode = 0.015
)

// steepness has the curve pass through both.
var steepness = math.Log(3) / (logit(evenOdds) - logit(oddsForCode))

func logit(p float64) float64 { return math.Log(p) - math.Log1p(-p) }

// What a document that holds all content of a question is worth at least; the
// share leaves room for rounding.
const (
	allHeld           = 0.999
	allHeldRelevance  = 0.8
	wordHeldRelevance = 0.5 // of a single word
)

// Relevance returns how surely a hit has to do with the question, 0 to 1. With
// p the probability that an unrelated question finds as strong evidence, times
// the doubt in the model,
//
//	relevance = 1 / (1 + exp(steepness·(logit p - logit evenOdds)))
//
// a logistic curve over the log odds of p. docs/quality.md has the shares that
// were measured. A document that holds every word of a question has to do with it
// however common they are: those words are what was asked for.
func (c Calibration) Relevance(part string, h index.Hit, r index.Result) float64 {
	best, doubt := c.Lexical, 1.0
	if isVector(part) {
		m := c.model(part)
		best, doubt = m.Best, max(m.Doubt, 1)
	}
	p := min(doubt*best.Tail(c.Evidence(part, float64(h.Score), r), r.Searched), 1)
	relevance := 1 / (1 + math.Exp(steepness*(logit(p)-logit(evenOdds))))
	switch {
	case h.Held < allHeld:
		return relevance
	case r.Content == 1:
		return max(relevance, wordHeldRelevance)
	}
	return max(relevance, allHeldRelevance)
}

// model returns the parameters of the longest name that the part's model begins
// with.
func (c Calibration) model(part string) Model {
	name := strings.TrimPrefix(part, vectorPrefix)
	best := ""
	for known := range c.Vectors {
		if strings.HasPrefix(name, known) && len(known) > len(best) {
			best = known
		}
	}
	return c.Vectors[best]
}

// ShippedCalibration holds the priors that come with the program, fitted by
// internal/eval/fit as docs/quality.md tells. Models that were not fitted have
// the distribution of the built-in one, without its moments.
func ShippedCalibration() Calibration {
	best := Gumbel{Place: 0.059, PlaceLog: 0.438, Scale: 0.487}
	return Calibration{
		Version: "priors-4",
		Lexical: Gumbel{Place: 0.060, PlaceLog: 0.106, Scale: 0.265, Half: 5},
		Vectors: map[string]Model{
			"":                  {Best: best, Doubt: 2.5},
			"builtin/static-v1": {Mean: 0.007, Deviation: 0.0614, Best: best, Doubt: 10},
		},
	}
}

// round keeps four decimals: more would only differ between machines.
func round(x float64) float64 { return math.Round(x*1e4) / 1e4 }
