package recall

import (
	"slices"

	"github.com/recalld/recalld/internal/memory"
)

// aloneDepth is how many records are searched for alone: more than an answer shows.
const aloneDepth = 50

// recordsAlone says how sure records are by a search among records alone, and adds those
// that the whole search did not reach. Among code, the same words are rarer or more common
// and there are more documents: a lesson must be found, and be as sure, in a store of 20 as
// beside four repositories. The order stays that of the whole search; what it did not reach
// comes last.
func (r *run) recordsAlone() {
	kinds := slices.DeleteFunc(slices.Clone(r.searched.Kinds), func(k memory.Kind) bool { return k == memory.Chunk })
	if r.nothing || len(kinds) == 0 || len(kinds) == len(r.searched.Kinds) {
		return
	}
	settings := r.settings
	settings.Depth = min(settings.Depth, aloneDepth)
	alone := r.s.newSearch(r.ctx, settings, r.query, r.sel)
	alone.scratch = r.memory()
	alone.searched = r.searched
	alone.searched.Kinds, alone.ownWords = kinds, true
	alone.vectorsUntil = r.vectorsUntil
	alone.retrieve()
	alone.fuse()
	if r.err = alone.err; r.err != nil {
		return
	}
	if len(alone.rankings) < len(r.rankings) {
		return // a late retriever: how sure records are must not come from a part of the evidence
	}
	alone.resolve()
	byDoc := r.memory().emptyByDoc()
	fused, match := 0.0, 0.0 // of the last candidate
	for _, c := range r.candidates {
		byDoc[c.num], fused, match = c, c.fused, c.match
	}
	for _, c := range alone.candidates {
		switch known := byDoc[c.num]; {
		case known == nil:
			c.fused, c.match = fused, match
			r.candidates = append(r.candidates, c)
		case known.Kind != memory.Chunk: // not code with the text of a record
			known.scores, known.relevance, known.coverage = c.scores, c.relevance, max(known.coverage, c.coverage)
		}
	}
}
