package recall

import (
	"slices"

	"github.com/recalld/recalld/internal/memory"
)

// sameError marks the candidates that tell of the very error that the question
// quotes, and adds those that the retrievers did not find. They have to do with
// the question for certain, and rank gives them the first places: of the newest
// ones, as many as a retriever may find.
func (s *Service) sameError(cs []*candidate, exact []memory.Candidate) []*candidate {
	slices.SortStableFunc(exact, func(a, b memory.Candidate) int { return b.Created.Compare(a.Created) })
	byRecord := make(map[string]*candidate, len(cs))
	for _, c := range cs {
		byRecord[c.ID] = c
		for _, other := range c.others { // of the same text
			byRecord[other.ID] = c
		}
	}
	for _, place := range exact[:min(len(exact), s.settings.Depth)] {
		c := byRecord[place.ID]
		if c == nil {
			c = &candidate{Candidate: place}
			cs = append(cs, c)
		}
		c.error, c.relevance, c.match = true, 1, 1
	}
	return cs
}

// errorOrder sorts what tells of the quoted error first, lessons, which say what
// to do, before steps.
func errorOrder(a, b *candidate) int {
	if order := boolOrder(a.error, b.error); order != 0 || !a.error {
		return order
	}
	return boolOrder(a.Kind == memory.Lesson, b.Kind == memory.Lesson)
}
