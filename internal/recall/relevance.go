package recall

import (
	"math"
	"strings"

	"github.com/recalld/recalld/index"
)

// Model holds the prior statistics of a model's cosines.
type Model struct {
	// Mean and Deviation are the moments of the cosines between unrelated questions and
	// documents. A Deviation of 0 means that they are unknown.
	Mean, Deviation float64
	// Best is the distribution of the highest cosine in a collection, in the scale of
	// Evidence.
	Best Gumbel
}

// Calibration turns raw scores into relevance. Its parameters are versioned, and every
// receipt names the version.
type Calibration struct {
	Version string
	Lexical Gumbel
	// Vectors maps a model's name to its statistics. A name also stands for all models
	// that begin with it; the empty name stands for all others.
	Vectors map[string]Model
	// Together is the distribution of the strongest joint evidence.
	Together Gumbel
}

// Score is the score that one part (the name of a retriever) gives a document.
type Score struct {
	Part string
	Hit  index.Hit
	// Result is the result that contains the hit; its other hits do not matter.
	Result *index.Result
}

// priorDocuments is the weight of a model's prior moments, in documents, when they are
// combined with the moments of the searched collection.
const priorDocuments = 30

// Evidence makes the scores of a part comparable between questions.
//
// For words it is score/√best; best is the highest score that the question could reach.
// This is the geometric mean of the score and of score/best. The score alone overrates
// long questions, the ratio alone short ones.
//
// For vectors it is the distance of the cosine from the mean over all documents, in
// standard deviations. A small collection gives no reliable moments, so the model's prior
// moments count as priorDocuments further documents.
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
		return 0 // without a deviation the cosine has no scale
	}
	return (score - mean) / math.Sqrt(variance)
}

// vectorShare is the weight of vector evidence; words have weight 1. It is the middle of a
// flat optimum (.35 to 1, docs/quality.md).
const vectorShare = 0.5

// JointEvidence combines the evidence of words and of a model's vectors: the sum of their
// reduced variates, which are comparable between kinds of evidence and sizes of
// collections.
//
// y = y(words) + vectorShare·y(vectors)
//
// One of the two may be high by chance. A document that is a little unusual in both is
// seldom unrelated: at any false positive rate, the sum accepts more right answers than
// the larger of the two.
func (c Calibration) JointEvidence(words, vectors Score) float64 {
	return c.reduced(words) + vectorShare*c.reduced(vectors)
}

func (c Calibration) reduced(f Score) float64 {
	return c.best(f.Part).Reduced(c.Evidence(f), f.Result.Searched)
}

// best returns the distribution of the strongest evidence of a part.
func (c Calibration) best(part string) Gumbel {
	if isVector(part) {
		return c.model(part).Best
	}
	return c.Lexical
}

// Parameters of the relevance curve. evenOdds is the share of unrelated questions that find
// evidence of relevance .5. oddsForCode is the share that find .75, the threshold of code:
// an unrelated lesson costs a line, unrelated code half of the answer.
const (
	evenOdds    = 0.08
	oddsForCode = 0.015
)

// steepness makes the curve pass through both points.
var steepness = math.Log(3) / (logit(evenOdds) - logit(oddsForCode))

func logit(p float64) float64 { return math.Log(p) - math.Log1p(-p) }

// curve turns the probability p that an unrelated question finds as strong evidence
// into relevance, a logistic curve over the log odds of p:
//
// relevance = 1 / (1 + exp(steepness·(logit p - logit evenOdds)))
//
// docs/quality.md lists the measured shares.
func curve(p float64) float64 {
	return 1 / (1 + math.Exp(steepness*(logit(min(p, 1))-logit(evenOdds))))
}

// Minimum relevance of a document that contains all content words of a question. The
// share leaves room for rounding.
const (
	allHeld           = 0.999
	allHeldRelevance  = 0.8
	wordHeldRelevance = 0.5 // for a question of one word
)

// atLeast returns the minimum relevance for the share of the question that a document
// contains. A document with every word of it is related however common the words are:
// they are the question.
func atLeast(f Score) float64 {
	switch {
	case f.Hit.Held < allHeld:
		return 0
	case f.Result.Content == 1:
		return wordHeldRelevance
	}
	return allHeldRelevance
}

// Relevance returns how surely a document is related to the question by one part alone,
// 0 to 1.
func (c Calibration) Relevance(f Score) float64 {
	return max(curve(c.best(f.Part).Tail(c.Evidence(f), f.Result.Searched)), atLeast(f))
}

// Joint returns how surely a document is related to the question by its words and the
// vectors of one model, 0 to 1.
func (c Calibration) Joint(words, vectors Score) float64 {
	return max(curve(c.Together.Tail(c.JointEvidence(words, vectors), words.Result.Searched)), atLeast(words))
}

// model returns the parameters of the longest name that the part's model begins with.
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

// ShippedCalibration returns the priors that come with the program. They were fitted by
// embedder/builtin/training/fit, as docs/quality.md describes. Other models use the
// distribution of the built-in one, without its moments.
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

// round keeps four decimals; further ones differ between machines.
func round(x float64) float64 { return math.Round(x*1e4) / 1e4 }
