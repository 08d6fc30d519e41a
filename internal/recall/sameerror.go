package recall

import (
	"slices"

	"github.com/recalld/recalld/internal/fingerprint"
	"github.com/recalld/recalld/internal/memory"
)

// exactErrors marks the candidates that report the exact error that the question quotes,
// and adds those that the retrievers did not find. They have the highest relevance and
// rank first: the newest ones, at most as many as a retriever may return.
func (r *run) exactErrors() {
	prints := fingerprint.Of(r.query)
	if len(prints) == 0 || r.nothing {
		return
	}
	exact := r.s.opts.Sessions.Fingerprinted(prints, r.searched)
	slices.SortStableFunc(exact, func(a, b memory.Candidate) int { return b.Created.Compare(a.Created) })
	byRecord := make(map[string]*candidate, len(r.candidates))
	for _, c := range r.candidates {
		byRecord[c.ID] = c
		for _, other := range c.others { // with the same text
			byRecord[other.ID] = c
		}
	}
	for _, place := range exact[:min(len(exact), r.settings.Depth)] {
		c := byRecord[place.ID]
		if c == nil {
			c = &candidate{Candidate: place}
			r.candidates = append(r.candidates, c)
		}
		c.error, c.relevance, c.match = true, 1, 1
	}
}

// errorOrder sorts exact error matches first; among them lessons, which say what to do,
// before steps.
func errorOrder(a, b *candidate) int {
	if order := boolOrder(a.error, b.error); order != 0 || !a.error {
		return order
	}
	return boolOrder(a.Kind == memory.Lesson, b.Kind == memory.Lesson)
}
