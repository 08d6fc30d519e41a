package recall

import (
	"iter"

	"github.com/recalld/recalld/internal/memory"
)

// What is around a step or a turn says what it is about: an answer rarely repeats the words
// of its question. besideShare and nextShare are the shares of the better neighbour's score
// at a distance of one and two places, seriesShare that of the best of the whole session.
// Chosen on half of the conversations of one set; the optimum is flat (docs/quality.md).
const (
	besideShare = 0.5
	nextShare   = 0.4
	seriesShare = 0.2
)

// maxSeriesPlaces bounds the places of one text that are looked at: "Thanks!" is said everywhere.
const maxSeriesPlaces = 8

// series names a session, or a numbered row of turns.
type series struct {
	kind          memory.Kind
	project, name string
}

// neighbours orders the steps among each other by their own scores and those around them,
// and so the turns of conversations. They share the scores that they had before: how a step
// compares with a lesson or with code does not change.
func (r *run) neighbours() {
	for _, kind := range []memory.Kind{memory.Step, memory.Reference} {
		r.orderSeries(kind)
	}
}

func (r *run) orderSeries(kind memory.Kind) {
	inSeries := func(c *candidate) bool { return c.Kind == kind && c.Series != "" && c.fused > 0 }
	scores := map[series]map[int]float64{}
	best := map[series]float64{}
	members := 0
	for _, c := range r.candidates {
		if !inSeries(c) {
			continue
		}
		members++
		for key, at := range c.places() {
			if scores[key] == nil {
				scores[key] = map[int]float64{}
			}
			scores[key][at] = max(scores[key][at], c.fused)
			best[key] = max(best[key], c.fused)
		}
	}
	if members < 2 {
		return
	}
	r.reorderByScore(inSeries, func(c *candidate) float64 {
		for key, at := range c.places() {
			s := scores[key]
			c.around = max(c.around, besideShare*max(s[at-1], s[at+1])+nextShare*max(s[at-2], s[at+2])+seriesShare*best[key])
		}
		return c.fused + c.around
	})
}

// places yields where a candidate's text stands in series.
func (c *candidate) places() iter.Seq2[series, int] {
	return func(yield func(series, int) bool) {
		if !yield(series{c.Kind, c.Project, c.Series}, c.At) {
			return
		}
		for _, o := range c.others[:min(len(c.others), maxSeriesPlaces-1)] {
			if o.Kind == c.Kind && o.Series != "" && !yield(series{o.Kind, o.Project, o.Series}, o.At) {
				return
			}
		}
	}
}
