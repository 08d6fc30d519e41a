package recall

import (
	"math"
	"strings"

	"github.com/recalld/recalld/index"
)

// Model is what is known beforehand of a model's cosines.
type Model struct {
	// Mean and Deviation are of the cosines between questions and documents
	// that have nothing to do with each other; a Deviation of 0 says that they
	// are not known.
	Mean, Deviation float64
	// Best is the distribution of the highest cosine of a collection, as
	// Evidence gives it.
	Best Gumbel
}

// Calibration turns raw scores into relevance. Its parameters are versioned and
// named in every receipt.
type Calibration struct {
	Version string
	Lexical Gumbel
	// Vectors are by the model's name. A name may stand for the models that
	// begin with it; the empty one is for all others.
	Vectors map[string]Model
	// Together is the distribution of the strongest joint evidence.
	Together Gumbel
}

// Score is what one part, a retriever by its name, says of a document.
type Score struct {
	Part string
	Hit  index.Hit
	// Result is what the hit is of; its other hits do not matter.
	Result *index.Result
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
func (c Calibration) Evidence(f Score) float64 {
	score, r := float64(f.Hit.Score), f.Result
	if !isVector(f.Part) {
		if r.Best <= 0 {
			return 0
		}
		return score / math.Sqrt(float64(r.Best))
	}
	m := c.model(f.Part)
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

// vectorShare is how much the evidence of vectors counts beside that of words: the
// middle of a flat optimum (.35 to 1, docs/quality.md).
const vectorShare = 0.5

// JointEvidence is what words and the vectors of a model say together: the sum of
// their reduced variates, by which evidence of different kinds and of collections of
// different sizes can be compared.
//
//	y = y(words) + vectorShare·y(vectors)
//
// Either alone may be chance. A document that is a little unusual in both is seldom
// unrelated: at any share of unrelated questions more of the right answers pass than
// by the better of the two.
func (c Calibration) JointEvidence(words, vectors Score) float64 {
	return c.reduced(words) + vectorShare*c.reduced(vectors)
}

func (c Calibration) reduced(f Score) float64 {
	return c.best(f.Part).Reduced(c.Evidence(f), f.Result.Searched)
}

// best is the distribution of the strongest evidence of a part.
func (c Calibration) best(part string) Gumbel {
	if isVector(part) {
		return c.model(part).Best
	}
	return c.Lexical
}

// The curve of relevance. evenOdds is the share of unrelated questions that find
// evidence of relevance .5, oddsForCode the share that find .75, the floor of code: a
// lesson that is out of place costs a line, code that is costs half of the answer.
const (
	evenOdds    = 0.08
	oddsForCode = 0.015
)

// steepness has the curve pass through both.
var steepness = math.Log(3) / (logit(evenOdds) - logit(oddsForCode))

func logit(p float64) float64 { return math.Log(p) - math.Log1p(-p) }

// curve turns the probability p that an unrelated question finds as strong evidence
// into relevance, a logistic curve over the log odds of p:
//
//	relevance = 1 / (1 + exp(steepness·(logit p - logit evenOdds)))
//
// docs/quality.md has the shares that were measured.
func curve(p float64) float64 {
	return 1 / (1 + math.Exp(steepness*(logit(min(p, 1))-logit(evenOdds))))
}

// What a document that holds all content of a question is worth at least; the
// share leaves room for rounding.
const (
	allHeld           = 0.999
	allHeldRelevance  = 0.8
	wordHeldRelevance = 0.5 // of a single word
)

// atLeast is the relevance that a document has for what it holds of the question. One
// that holds every word of it has to do with it however common they are: those words
// are what was asked for.
func atLeast(f Score) float64 {
	switch {
	case f.Hit.Held < allHeld:
		return 0
	case f.Result.Content == 1:
		return wordHeldRelevance
	}
	return allHeldRelevance
}

// Relevance returns how surely a document has to do with the question by one part
// alone, 0 to 1.
func (c Calibration) Relevance(f Score) float64 {
	return max(curve(c.best(f.Part).Tail(c.Evidence(f), f.Result.Searched)), atLeast(f))
}

// Joint returns how surely a document has to do with the question by its words and the
// vectors of a model together, 0 to 1.
func (c Calibration) Joint(words, vectors Score) float64 {
	return max(curve(c.Together.Tail(c.JointEvidence(words, vectors), words.Result.Searched)), atLeast(words))
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
// embedder/builtin/training/fit as docs/quality.md tells. Models that were not fitted have
// the distribution of the built-in one, without its moments.
func ShippedCalibration() Calibration {
	best := Gumbel{Place: 0.155, PlaceLog: 0.421, Scale: 0.605}
	return Calibration{
		Version: "priors-5",
		Lexical: Gumbel{Place: 0.060, PlaceLog: 0.106, Scale: 0.265, Half: 5},
		Vectors: map[string]Model{
			"":                  {Best: best},
			"builtin/static-v1": {Mean: -0.021, Deviation: 0.063, Best: best},
		},
		Together: Gumbel{Place: -0.964, PlaceLog: 0.001, Scale: 1.43},
	}
}

// round keeps four decimals: more would only differ between machines.
func round(x float64) float64 { return math.Round(x*1e4) / 1e4 }
