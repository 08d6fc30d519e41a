package recall

import (
	"slices"

	"github.com/recalld/recalld/internal/memory"
)

// aloneDepth is how many records are searched for alone: more than an answer shows.
const aloneDepth = 50

// recordsAlone says how sure records are by a search among records alone. Among code, the
// same words are rarer or more common and there are more documents: a lesson must be as sure
// in a store of 20 as beside four repositories. The order stays that of the whole search.
func (r *run) recordsAlone() {
	isCode := func(k memory.Kind) bool { return k == memory.Chunk }
	kinds := slices.DeleteFunc(slices.Clone(r.searched.Kinds), isCode)
	if r.nothing || len(kinds) == 0 || len(kinds) == len(r.searched.Kinds) {
		return
	}
	if !slices.ContainsFunc(r.candidates, func(c *candidate) bool { return !isCode(c.Kind) }) {
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
	for _, found := range alone.fused {
		for _, c := range r.candidates {
			if c.num == found.Doc && !isCode(c.Kind) {
				r.score(c, found.Raw, alone.rankings)
			}
		}
	}
}
