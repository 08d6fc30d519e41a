package daemon

import (
	"slices"
	"sync/atomic"

	"github.com/recalld/recalld/internal/memory"
)

// tally counts what became of the questions that code could have answered, since
// the daemon started.
type tally struct{ asked, hits, fallbacks atomic.Int64 }

// answer counts one answer. A query that the file-name index answered, or that had
// to do without code because it was missing or late, fell back.
func (t *tally) answer(req memory.RecallRequest, a *memory.RecallResponse) {
	if len(req.IDs) > 0 || len(req.Kinds) > 0 && !slices.Contains(req.Kinds, memory.Chunk) {
		return
	}
	t.asked.Add(1)
	if slices.ContainsFunc(a.Items, func(i memory.Item) bool { return i.Kind == memory.Chunk }) {
		t.hits.Add(1)
	}
	if slices.ContainsFunc(a.Degraded, func(d memory.Degraded) bool { return d.Part == memory.PartCode }) {
		t.fallbacks.Add(1)
	}
}

// fill puts the counts into a state.
func (t *tally) fill(s *memory.CodeState) {
	s.Asked, s.Hits, s.Fallbacks = int(t.asked.Load()), int(t.hits.Load()), int(t.fallbacks.Load())
}
