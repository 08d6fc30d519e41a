package lexical

import (
	"cmp"
	"slices"

	"github.com/recalld/recalld/index"
)

// kthScore is the k-th highest score so far; at least k documents are touched.
func (s *search) kthScore(k int) float32 {
	s.ranked = s.ranked[:0]
	for _, slot := range s.touched {
		s.ranked = append(s.ranked, -s.scores[slot].score) // the highest first
	}
	index.SelectSmallest(s.ranked, k)
	return -slices.Max(s.ranked[:k])
}

// top returns the best hits in their order, and the number of content terms.
func (s *search) top(limit int) (hits []index.Hit, content int) {
	var sum float32
	for _, t := range s.terms {
		if t.content {
			content++
			sum += float32(t.bound)
		}
	}
	best := make(worstFirst, 0, min(limit, len(s.touched)))
	for _, slot := range s.touched {
		hit := index.Hit{Doc: s.docs[slot], Score: s.scores[slot].score, Held: s.scores[slot].held}
		switch {
		case len(best) < limit:
			best = append(best, hit)
			best.up()
		case compareHits(hit, best[0]) < 0:
			best[0] = hit
			best.down()
		}
	}
	slices.SortFunc(best, compareHits)
	for i := range best {
		if sum > 0 {
			best[i].Held = min(best[i].Held/sum, 1)
		}
	}
	return best, content
}

// compareHits orders hits by score, highest first, then by number.
func compareHits(a, b index.Hit) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Doc, b.Doc))
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
