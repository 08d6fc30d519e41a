package index

import (
	"cmp"
	"math"
	"slices"
	"sync"
)

// ZScoreWeight is the weight of a vector part's z-scores beside a lexical part of weight 1.
// It is in a flat optimum (.08 to .12) over nine retrieval sets with the built-in model,
// ahead of reciprocal-rank fusion; docs/quality.md has the figures.
const ZScoreWeight = .1

// Form says how the scores of a part are made comparable with other parts.
type Form int

const (
	// Lexical divides each score by the geometric mean of the part's highest score and of
	// Result.Best: 0 to 1 for scores that are not negative, and 0 for a document that the
	// part lacks. The best hit gets the square root of the share of the question that it
	// matches. So where no document matches many words of the question, words count less
	// than meaning.
	Lexical Form = iota
	// ZScore is a score's distance from the mean in standard deviations, over all documents
	// searched if the result has these statistics, otherwise over its hits. A document that
	// the part lacks gets the z-score of the last hit if more documents were searched than
	// returned: it is no better than the last hit, and the limit should not cost it more.
	// Otherwise it gets 0: it has no vector, which says nothing about its relevance.
	ZScore
)

// Ranking is one retriever's result as input to Fuse.
type Ranking struct {
	// Name is the retriever's name.
	Name   string
	Result Result
	Form   Form
	// Weight multiplies the part's normalised scores: 1 for Lexical,
	// ZScoreWeight for vectors. A part of weight 0 only contributes documents.
	Weight float64
}

// Fused is one document with the sum of its weighted, normalised scores.
type Fused struct {
	Doc   uint32
	Score float64
	// Raw holds the document's hits as returned by the retrievers, in the order of the
	// parts.
	Raw []RawHit
}

// RawHit is a hit of one part, given by its index among the parts.
type RawHit struct {
	Part int
	Hit  Hit
}

// Fuse merges the parts' hits: every document that any part returned, scored by the
// weighted sum of its normalised scores, highest first and ties by document number, at most
// limit of them. Adding scores rather than ranks keeps the distance between hits. It is a
// pure function; the order of parts affects only rounding.
func Fuse(parts []Ranking, limit int) []Fused {
	if limit <= 0 {
		return nil
	}
	lacked := 0.0
	normalisers := make([]func(float32) float64, len(parts))
	missing := make([]float64, len(parts))
	for i, p := range parts {
		normalisers[i], missing[i] = p.normaliser()
		lacked += p.Weight * missing[i]
	}
	// Many more hits are merged than returned: their memory is used again.
	work := fusions.Get().(*fusion)
	defer fusions.Put(work)
	clear(work.place)
	fused, place := work.fused[:0], work.place
	for i, p := range parts {
		for _, h := range p.Result.Hits {
			at, known := place[h.Doc]
			if !known {
				at = int32(len(fused))
				place[h.Doc] = at
				fused = append(fused, Fused{Doc: h.Doc, Score: lacked})
			}
			fused[at].Score += p.Weight * (normalisers[i](h.Score) - missing[i])
		}
	}
	slices.SortFunc(fused, func(a, b Fused) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Doc, b.Doc))
	})
	work.fused = fused
	fused = slices.Clone(fused[:min(limit, len(fused))])
	addRaw(fused, parts, place)
	return fused
}

// fusion is the working memory of Fuse.
type fusion struct {
	fused []Fused // without raw hits
	place map[uint32]int32
}

var fusions = sync.Pool{New: func() any { return &fusion{place: make(map[uint32]int32)} }}

// normaliser returns the function that makes the part's scores comparable, and the score of
// a document that the part lacks.
func (p Ranking) normaliser() (normalise func(float32) float64, missing float64) {
	hits := p.Result.Hits
	none := func(float32) float64 { return 0 }
	if len(hits) == 0 {
		return none, 0
	}
	if p.Form == Lexical {
		top := float64(hits[0].Score)
		if top <= 0 {
			return none, 0
		}
		unit := math.Sqrt(top * max(top, float64(p.Result.Best)))
		return func(s float32) float64 { return float64(s) / unit }, 0
	}
	mean, deviation := float64(p.Result.Mean), float64(p.Result.Deviation)
	if deviation == 0 {
		mean, deviation = Spread(hits)
	}
	if deviation == 0 { // all scores are equal
		return none, 0
	}
	normalise = func(s float32) float64 { return (float64(s) - mean) / deviation }
	if p.Result.Searched > len(hits) {
		missing = normalise(hits[len(hits)-1].Score)
	}
	return normalise, missing
}

// Spread returns the mean and the standard deviation of the hits' scores.
func Spread(hits []Hit) (mean, deviation float64) {
	n := float64(len(hits))
	for _, h := range hits {
		mean += float64(h.Score) / n
	}
	var variance float64
	for _, h := range hits {
		d := float64(h.Score) - mean
		variance += d * d / n
	}
	return mean, math.Sqrt(variance)
}

// addRaw fills in the raw hits of the documents within the limit. place is memory to reuse.
func addRaw(fused []Fused, parts []Ranking, place map[uint32]int32) {
	clear(place)
	all := make([]RawHit, len(fused)*len(parts)) // one allocation for all
	for i := range fused {
		fused[i].Raw = all[i*len(parts) : i*len(parts) : (i+1)*len(parts)]
		place[fused[i].Doc] = int32(i)
	}
	for n, p := range parts {
		for _, h := range p.Result.Hits {
			if i, ok := place[h.Doc]; ok {
				fused[i].Raw = append(fused[i].Raw, RawHit{n, h})
			}
		}
	}
}
