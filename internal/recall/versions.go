package recall

import (
	"slices"

	"github.com/recalld/recalld/internal/memory"
)

// maxVersions is how many of the best candidates are asked where they lie: many times
// what an answer shows.
const maxVersions = 64

// version is a chunk at its place in the ranking.
type version struct {
	*candidate
	place int
	own   bool // it lies in the repository that the caller is in
}

// ownVersions gives the places of a piece of code that several worktrees or clones of
// a project have, each as it is there, to that of the caller's first. By their words
// they are alike; the caller's is the one that is meant, and what is nearly the same
// collapses into it. A piece is known by its path and symbol. Where some code is of the
// caller's folder, what is not is marked as foreign.
func (r *run) ownVersions() {
	dir, ranked := r.req.Caller.Dir, r.candidates
	if dir == "" {
		return
	}
	l := &lookup{s: r.s, dir: dir}
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
