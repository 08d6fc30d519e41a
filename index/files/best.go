package files

import (
	"cmp"
	"slices"
)

// hit is a file that was found.
type hit struct {
	file  *file
	rank  float64 // the lower the better
	share float64
}

// compare is the order of results: by rank, then by length of the path, then by path, then
// by number.
func (a hit) compare(b hit) int {
	switch {
	case a.rank != b.rank:
		return cmp.Compare(a.rank, b.rank)
	case len(a.file.path) != len(b.file.path):
		return cmp.Compare(len(a.file.path), len(b.file.path))
	case a.file.path != b.file.path:
		return cmp.Compare(a.file.path, b.file.path)
	}
	return cmp.Compare(a.file.id, b.file.id)
}

// best keeps the best of many hits. It collects a few times as many as wanted, then drops
// the rest at once, so that each hit costs a comparison or two.
type best struct {
	limit int
	hits  []hit
	// last is the worst hit kept, once there were more than wanted.
	last *hit
}

func newBest(limit int) *best { return &best{limit: max(limit, 0)} }

func (b *best) offer(h hit) {
	if b.limit == 0 || b.last != nil && h.compare(*b.last) > 0 {
		return
	}
	if b.hits = append(b.hits, h); len(b.hits) >= 4*b.limit+64 {
		b.cut()
	}
}

func (b *best) cut() {
	slices.SortFunc(b.hits, hit.compare)
	if len(b.hits) > b.limit {
		clear(b.hits[b.limit:])
		b.hits = b.hits[:b.limit]
		b.last = new(b.hits[b.limit-1])
	}
}

func (b *best) matches() []Match {
	b.cut()
	out := make([]Match, len(b.hits))
	for i, h := range b.hits {
		out[i] = Match{ID: h.file.id, Share: h.share}
	}
	return out
}
