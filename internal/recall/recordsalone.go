package recall

import (
	"cmp"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/recalld/recalld/internal/memory"
)

// aloneDepth is how many records are searched for alone: more than an answer shows.
const aloneDepth = 50

// group is a set of memories whose relevance comes from a search among that set alone. Other
// documents would make the same words rarer or more common. But a lesson must be found, with
// the same relevance, in a store of 20 as beside four repositories, a year of steps, the lessons
// of other projects and the summaries of colleagues.
type group int

const (
	codeGroup    group = iota // as sure as the whole search says
	stepGroup                 // among steps
	foreignGroup              // lessons of other projects: among all lessons
	summaryGroup              // session summaries of the team: among each other
	ownGroup                  // all else: among each other
)

func (r *run) groupOf(c *candidate) group {
	own := r.searched.Project == "" || c.Project == r.searched.Project || c.Project == r.searched.Also
	switch {
	case c.Kind == memory.Chunk:
		return codeGroup
	case c.Kind == memory.Step:
		return stepGroup
	case c.Kind == memory.Lesson && !own:
		return foreignGroup
	case c.Kind == memory.SessionSummary:
		return summaryGroup
	}
	return ownGroup
}

// among is what the memories of a group are searched among.
func (r *run) among(g group) memory.Selection {
	of := r.searched
	of.Kinds = slices.DeleteFunc(slices.Clone(of.Kinds), func(k memory.Kind) bool {
		switch g {
		case stepGroup:
			return k != memory.Step
		case foreignGroup:
			return k != memory.Lesson
		case summaryGroup:
			return k != memory.SessionSummary
		}
		return k == memory.Chunk || k == memory.Step || k == memory.SessionSummary
	})
	of.AllLessons = of.AllLessons && g == foreignGroup
	return of
}

// recordsAlone says how sure records are by searches among their groups. It adds those that
// the whole search did not reach. The order stays that of the whole search; what it did not
// reach comes last.
func (r *run) recordsAlone() {
	var found []*candidate
	for _, g := range []group{stepGroup, foreignGroup, summaryGroup, ownGroup} {
		found = append(found, r.alone(g)...)
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
		case r.groupOf(known) == r.groupOf(c): // not code with the text of a record
			known.scores, known.relevance, known.coverage = c.scores, c.relevance, max(known.coverage, c.coverage)
		}
	}
}

// alone returns what a search for a group finds; nothing if the group is empty, or if the whole
// search was the same.
func (r *run) alone(g group) []*candidate {
	of := r.among(g)
	if r.nothing || r.err != nil || len(of.Kinds) == 0 {
		return nil
	}
	whole, all := r.selected(r.searched)
	part, counted := r.selected(of)
	if part.IsEmpty() || part.GetCardinality() == whole.GetCardinality() && counted.GetCardinality() == all.GetCardinality() {
		return nil
	}
	if g == foreignGroup {
		own := of
		own.AllLessons = false
		if lessons, _ := r.selected(own); lessons.GetCardinality() == part.GetCardinality() {
			return nil // other projects have none
		}
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
		for _, d := range alone.degraded {
			if !slices.Contains(r.degraded, d) {
				r.degraded = append(r.degraded, d)
			}
		}
		r.noWords = cmp.Or(r.noWords, alone.noWords)
		return nil
	}
	alone.resolve()
	return slices.DeleteFunc(alone.candidates, func(c *candidate) bool { return r.groupOf(c) != g })
}

// selected returns the documents that a selection allows, and those that count for the rarity
// of words: all of the project, or those of the kinds if they are steps alone or records of
// other kinds.
func (r *run) selected(of memory.Selection) (allow, universe *roaring.Bitmap) {
	allow, universe = r.s.opts.Corpus.Select(of)
	code, steps := slices.Contains(of.Kinds, memory.Chunk), slices.Contains(of.Kinds, memory.Step)
	if len(of.Kinds) > 0 && !code && (!steps || len(of.Kinds) == 1) {
		universe, _ = r.s.opts.Corpus.Select(memory.Selection{Project: of.Project, Also: of.Also, AllLessons: of.AllLessons, Followed: of.Followed, Kinds: of.Kinds})
	}
	return allow, universe
}
