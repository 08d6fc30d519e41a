package recall

import (
	"math"
	"strings"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/internal/memory"
)

// Model holds the moments of a model's cosines between questions and documents that have
// nothing to do with each other. A Deviation of 0 means that they are unknown.
type Model struct{ Mean, Deviation float64 }

// Expected is the strongest evidence that questions about other programming find in a
// collection of one kind: of words or of vectors alone, and of both together.
type Expected struct{ Words, Vectors, Both Gumbel }

// Calibration turns raw scores into relevance. Its parameters are versioned, and every
// receipt names the version.
type Calibration struct {
	Version string
	// Vectors maps a model's name to its moments. A name also stands for all models that
	// begin with it.
	Vectors map[string]Model
	// Kinds says what is expected of each kind; the empty kind stands for all others.
	Kinds map[memory.Kind]Expected
}

// Score is the score that one part (the name of a retriever) gives a document.
type Score struct {
	Part string
	Hit  index.Hit
	// Result is the result that contains the hit; its other hits do not matter.
	Result *index.Result
}

// The units of evidence are its usual scales among unrelated documents, so that words and
// vectors can be added. In a collection of a few documents, word rarity is hardly known and
// scores differ less: at halfWords documents the unit of words is half as large.
const (
	wordUnit   = 0.265
	halfWords  = 5
	vectorUnit = 0.605
)

// priorDocuments is the weight of a model's prior moments, in documents, beside the moments
// of the searched collection.
const priorDocuments = 30

// Evidence makes the scores of a part comparable between questions.
//
// For words it is score/√best; best is the highest score that the question could reach.
// This is the geometric mean of the score and of score/best. The score alone overrates
// long questions, the ratio alone short ones.
//
// For vectors it is the distance of the cosine from a mean, in standard deviations. The
// moments are half those of the documents searched and half those of the model, which alone
// tell a question about something else: all its cosines are low. A small collection gives no
// reliable moments, so the model's count as priorDocuments more.
func (c Calibration) Evidence(f Score) float64 {
	score, r := float64(f.Hit.Score), f.Result
	n := float64(r.Searched)
	if !isVector(f.Part) {
		if r.Best <= 0 || n == 0 {
			return 0
		}
		return score / math.Sqrt(float64(r.Best)) * (n + halfWords) / (n * wordUnit)
	}
	m := c.model(f.Part)
	mean, variance := float64(r.Mean), float64(r.Deviation)*float64(r.Deviation)
	if m.Deviation > 0 {
		prior := n + priorDocuments
		mean = (n*mean + prior*m.Mean) / (n + prior)
		variance = (n*variance + prior*m.Deviation*m.Deviation) / (n + prior)
	}
	if variance <= 0 {
		return 0 // without a deviation the cosine has no scale
	}
	return (score - mean) / (math.Sqrt(variance) * vectorUnit)
}

// A scale says what relevance a probability p stands for: that a question about other
// programming finds evidence as strong. It is a logistic curve over the log odds of p,
//
// relevance = 1 / (1 + exp(slope·(logit p - even)))
//
// whose slope changes where relevance is .5. docs/quality.md lists the measured shares.
type scale struct{ even, steep, flat float64 }

// oddsForLine is the share of such questions with evidence of relevance .2, for all kinds: a
// line costs little, and the agent judges it.
const oddsForLine = 0.70

// The shares of such questions with evidence of relevance .5 and .75. A lesson is shown in
// full from .5, code from .75. Code asks for less evidence, because its questions seldom
// share its words, and an agent can read on from code that is only near; decision 0059 has
// the figures.
var (
	scaleOfTexts = newScale(0.03, 0.015)
	scaleOfCode  = newScale(0.14, 0.08)
)

func newScale(even, surer float64) scale {
	return scale{
		even:  logit(even),
		steep: math.Log(3) / (logit(even) - logit(surer)),
		flat:  math.Log(4) / (logit(oddsForLine) - logit(even)),
	}
}

func scaleOf(kind memory.Kind) scale {
	if kind == memory.Chunk {
		return scaleOfCode
	}
	return scaleOfTexts
}

func logit(p float64) float64 { return math.Log(p) - math.Log1p(-p) }

func (s scale) relevance(p float64) float64 {
	slope, x := s.flat, logit(min(p, 1))
	if x < s.even {
		slope = s.steep
	}
	return 1 / (1 + math.Exp(slope*(x-s.even)))
}

// A document that holds all content words of a question has at least allHeldRelevance,
// however common the words are: they are the question. allHeld leaves room for rounding.
const (
	allHeld          = 0.999
	allHeldRelevance = 0.5
)

// atLeast returns the minimum relevance for the share of the question that a document
// contains.
func atLeast(f Score) float64 {
	if f.Hit.Held < allHeld {
		return 0
	}
	return allHeldRelevance
}

// expected returns what is expected of a kind.
func (c Calibration) expected(kind memory.Kind) Expected {
	if kind == memory.SessionSummary { // as long as a reference, and scored by parts as one
		kind = memory.Reference
	}
	if e, known := c.Kinds[kind]; known {
		return e
	}
	return c.Kinds[""]
}

// Relevance returns how surely a document of a kind answers the question by one part alone,
// 0 to 1.
func (c Calibration) Relevance(kind memory.Kind, f Score) float64 {
	of := c.expected(kind).Words
	if isVector(f.Part) {
		of = c.expected(kind).Vectors
	}
	return max(scaleOf(kind).relevance(of.Tail(c.Evidence(f), sizeOf(f))), atLeast(f))
}

// Joint returns how surely a document of a kind answers the question by its words and the
// vectors of one model, 0 to 1. Their evidence is added: one of the two may be high by
// chance, but a document that is a little unusual in both is seldom unrelated.
func (c Calibration) Joint(kind memory.Kind, words, vectors Score) float64 {
	return max(scaleOf(kind).relevance(c.expected(kind).Both.Tail(c.Evidence(words)+c.Evidence(vectors), sizeOf(words))), atLeast(words))
}

func sizeOf(f Score) Size { return Size{Documents: f.Result.Searched, Words: f.Result.Content} }

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
// embedder/builtin/training/fit, as docs/quality.md describes. Lessons stand for all kinds
// of short texts. Other models have no moments.
func ShippedCalibration() Calibration {
	return Calibration{
		Version: "priors-7",
		Vectors: map[string]Model{"builtin/static-v1": {Mean: 0.025, Deviation: 0.076}},
		Kinds: map[memory.Kind]Expected{
			"": {
				Words:   Gumbel{Place: 0.223, PlaceLog: 0.540, Length: 0.208, Scale: 0.939, Short: 0.011},
				Vectors: Gumbel{Place: -0.003, PlaceLog: 0.821, Length: 0.241, Scale: 0.976, Short: 0.111},
				Both:    Gumbel{Place: -0.039, PlaceLog: 1.211, Length: 0.446, Scale: 1.711, Short: 0.202},
			},
			memory.Reference: {
				Words:   Gumbel{Place: 0.163, PlaceLog: 0.552, Length: 0.272, Scale: 1.118},
				Vectors: Gumbel{Place: -0.426, PlaceLog: 0.876, Length: 0.211, Scale: 0.942, Short: 0.980},
				Both:    Gumbel{Place: -0.542, PlaceLog: 1.283, Length: 0.503, Scale: 1.828, Short: 0.582},
			},
			memory.Chunk: {
				Words:   Gumbel{Place: -0.311, PlaceLog: 0.804, Length: 0.385, Scale: 1.130, Short: 0.414},
				Vectors: Gumbel{Place: 0.734, PlaceLog: 0.669, Length: 0.190, Scale: 0.862, Short: 0.629},
				Both:    Gumbel{Place: -0.256, PlaceLog: 1.380, Length: 0.593, Scale: 1.850, Short: 0.511},
			},
		},
	}
}

// round keeps four decimals; further ones differ between machines.
func round(x float64) float64 { return math.Round(x*1e4) / 1e4 }
