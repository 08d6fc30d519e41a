package recall

import (
	"cmp"
	"slices"

	"github.com/recalld/recalld/internal/memory"
)

// aloneDepth is how many records are searched for alone: more than an answer shows.
const aloneDepth = 50

// recordsAlone says how sure records are by searches among them alone: steps among steps, and
// all other kinds but code among each other. It adds those that the whole search did not
// reach. Among code and steps, the same words are rarer or more common and there are more
// documents: a lesson must be found, and be as sure, in a store of 20 as beside four
// repositories and a year of steps. The order stays that of the whole search; what it did not
// reach comes last.
func (r *run) recordsAlone() {
	var found []*candidate
	for group := range kindGroups {
		if group != groupOf(memory.Chunk) {
			found = append(found, r.alone(group)...)
		}
	}
	byDoc := r.memory().emptyByDoc()
	fused, match := 1.0, 1.0 // of the last candidate
	for _, c := range r.candidates {
		byDoc[c.num], fused, match = c, c.fused, c.match
	}
	for _, c := range found {
		switch known := byDoc[c.num]; {
		case known == nil: // its match, 1 for the best of its group, orders it among those added
			c.fused, c.match = min(fused, fused*c.match), match*c.match
			byDoc[c.num] = c
			r.candidates = append(r.candidates, c)
		case groupOf(known.Kind) == groupOf(c.Kind): // not code with the text of a record
			known.scores, known.relevance, known.coverage = c.scores, c.relevance, max(known.coverage, c.coverage)
		}
	}
}

// kindGroups is the number of groups of kinds that are searched alone.
const kindGroups = 3

func groupOf(k memory.Kind) int {
	switch k {
	case memory.Chunk:
		return 0
	case memory.Step:
		return 1
	}
	return 2
}

// isOneGroup says that kinds are all of one group of records.
func isOneGroup(kinds []memory.Kind) bool {
	return len(kinds) > 0 && kinds[0] != memory.Chunk &&
		!slices.ContainsFunc(kinds, func(k memory.Kind) bool { return groupOf(k) != groupOf(kinds[0]) })
}

// alone returns what a search among one group of the searched kinds finds; nothing if there is
// nothing else, so that the whole search was the same.
func (r *run) alone(group int) []*candidate {
	of := r.searched
	of.Kinds = slices.DeleteFunc(slices.Clone(of.Kinds), func(k memory.Kind) bool { return groupOf(k) != group })
	if r.nothing || r.err != nil || len(of.Kinds) == 0 || isOneGroup(r.searched.Kinds) {
		return nil
	}
	whole, all := r.s.opts.Corpus.Select(r.searched)
	part, _ := r.s.opts.Corpus.Select(of)
	if n := part.GetCardinality(); n == 0 || n == whole.GetCardinality() && n == all.GetCardinality() {
		return nil
	}
	settings := r.settings
	settings.Depth = min(settings.Depth, aloneDepth)
	alone := r.s.newSearch(r.ctx, settings, r.query, r.sel)
	alone.scratch = r.memory()
	alone.searched = of
	alone.vectorsUntil = r.vectorsUntil
	alone.retrieve()
	alone.fuse()
	if r.err = alone.err; r.err != nil {
		return nil
	}
	if len(alone.rankings) < len(r.rankings) {
		// A late retriever: how sure records are must not come from a part of the evidence, and
		// the answer must not say that there is nothing more.
		for _, part := range alone.degraded {
			if !slices.Contains(r.degraded, part) {
				r.degraded = append(r.degraded, part)
			}
		}
		r.noWords = cmp.Or(r.noWords, alone.noWords)
		return nil
	}
	alone.resolve()
	return alone.candidates
}
