package recall

import (
	"slices"

	"github.com/recalld/recalld/internal/memory"
)

// maxVersions is how many of the best candidates are checked for their repository: many
// times the size of an answer.
const maxVersions = 64

// version is a chunk at its place in the ranking.
type version struct {
	*candidate
	place int
	own   bool // it is in the caller's repository
}

// ownVersions ranks the caller's version of a chunk first if several worktrees or clones of
// a project have it. Their words are alike, but the caller means its own; near-duplicates
// collapse into it later. A chunk is identified by its path and symbol. If some code is in
// the caller's folder, all other code is marked as foreign.
func (r *run) ownVersions() {
	dir, ranked := r.req.Caller.Dir, r.candidates
	if dir == "" {
		return
	}
	l := &lookup{s: r.s, dir: dir, roots: map[string]string{}}
	byPath := map[string][]version{}
	own, foreign := false, false
	for i, c := range ranked[:min(len(ranked), maxVersions)] {
		if c.Kind != memory.Chunk {
			continue
		}
		v := version{c, i, l.own(append([]memory.Candidate{c.Candidate}, c.others...))}
		own, foreign = own || v.own, foreign || !v.own
		byPath[c.File.Path] = append(byPath[c.File.Path], v)
	}
	if !own || !foreign {
		return // all from one worktree, or none from the caller's
	}
	for _, versions := range byPath {
		for _, v := range versions {
			v.foreign = !v.own
		}
		if !slices.ContainsFunc(versions, func(v version) bool { return v.own }) {
			continue
		}
		bySymbol := map[string][]version{}
		for _, v := range versions {
			if at, err := r.s.opts.Corpus.Location(v.Candidate); err == nil && at.Chunk.Symbol != "" {
				bySymbol[at.Chunk.Symbol] = append(bySymbol[at.Chunk.Symbol], v)
			}
		}
		for _, same := range bySymbol {
			order := slices.Clone(same)
			slices.SortStableFunc(order, func(a, b version) int { return boolOrder(a.own, b.own) })
			for i, v := range order {
				ranked[same[i].place] = v.candidate
			}
		}
	}
}
