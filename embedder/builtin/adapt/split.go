package adapt

import (
	"slices"

	"github.com/recalld/recalld/embedder/builtin/training/mine/clean"
)

// Of a hundred documents so many are held out to tune and to judge by.
const (
	tunedShare  = 10
	judgedShare = 15
)

// What is held out is so many pairs at least, or a gain cannot be told from chance,
// and maxJudged at most, which are compared with one another.
const (
	minTuned  = 50
	minJudged = 100
	maxJudged = 3000
)

// minLearned is how many pairs must be left to learn from: those of one batch.
const minLearned = 512

// parts are the pairs of a corpus by what they are for.
type parts struct{ learned, tuned, judged []owned }

// split divides documents by their hashes, so that a document is on the same side
// whenever it is adapted to anew. A pair to learn from that has a text in common
// with one held out, as copies of a file have, is left out.
func (c *Corpus) split() parts {
	var p parts
	pairs := slices.SortedFunc(slices.Values(c.pairs), byHash)
	for _, o := range pairs {
		// The lower bits of the document; the upper ones of the pair choose pairs.
		switch share := o.document % 100; {
		case share < tunedShare:
			p.tuned = append(p.tuned, o)
		case share < tunedShare+judgedShare:
			p.judged = append(p.judged, o)
		default:
			p.learned = append(p.learned, o)
		}
	}
	held := map[uint64]bool{}
	hold := func(list []owned) []owned {
		list = slices.DeleteFunc(list, func(o owned) bool { return held[clean.Key(o.A)] || held[clean.Key(o.B)] })
		list = list[:min(len(list), maxJudged)]
		for _, o := range list {
			held[clean.Key(o.A)], held[clean.Key(o.B)] = true, true
		}
		return list
	}
	p.judged = hold(p.judged)
	p.tuned = hold(p.tuned)
	p.learned = slices.DeleteFunc(p.learned, func(o owned) bool { return held[clean.Key(o.A)] || held[clean.Key(o.B)] })
	return p
}
