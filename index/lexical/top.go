package lexical

import (
	"cmp"
	"slices"

	"github.com/recalld/recalld/index"
)

// offer adds a hit to the best if it is one of them; harvest offers no lower score.
func (s *search) offer(hit index.Hit) {
	switch {
	case len(s.best) < s.limit:
		s.best = append(s.best, hit)
		s.best.up()
	case compareHits(hit, s.best[0]) < 0:
		s.best[0] = hit
		s.best.down()
	}
}

// top returns the best hits in their order, and the number of content terms.
func (s *search) top() (hits []index.Hit, content int) {
	var sum float32
	for _, t := range s.terms {
		if t.content {
			content++
			sum += float32(t.bound)
		}
	}
	slices.SortFunc(s.best, compareHits)
	hits = slices.Clone([]index.Hit(s.best))
	for i := range hits {
		if sum > 0 {
			hits[i].Held = min(hits[i].Held/sum, 1)
		}
	}
	return hits, content
}

// compareHits orders hits by score, highest first, then by number. Scores are numbers, so
// they are compared without cmp.Compare's order of NaN.
func compareHits(a, b index.Hit) int {
	switch {
	case a.Score > b.Score:
		return -1
	case a.Score < b.Score:
		return 1
	}
	return cmp.Compare(a.Doc, b.Doc)
}

// worstFirst is a heap of hits with the worst at its root, written out because
// container/heap would pay two calls through an interface for every comparison.
type worstFirst []index.Hit

// up restores the order after a hit was appended.
func (h worstFirst) up() {
	for i := len(h) - 1; i > 0; {
		parent := (i - 1) / 2
		if compareHits(h[i], h[parent]) < 0 {
			return
		}
		h[i], h[parent] = h[parent], h[i]
		i = parent
	}
}

// down restores the order after the root was replaced.
func (h worstFirst) down() {
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(h) {
			return
		}
		if right := child + 1; right < len(h) && compareHits(h[right], h[child]) > 0 {
			child = right
		}
		if compareHits(h[child], h[i]) < 0 {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}
