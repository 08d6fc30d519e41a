package metrics

import (
	"slices"
	"sync/atomic"

	"github.com/recalld/recalld/internal/memory"
)

// CodeQueries counts the results of the queries that code could have answered. The zero
// value is ready, and safe for concurrent use.
type CodeQueries struct{ asked, hits, fallbacks atomic.Int64 }

// Answer counts one answer. A query that the file-name index answered, or that had
// to do without code because it was missing or late, fell back.
func (c *CodeQueries) Answer(req memory.RecallRequest, a *memory.RecallResponse) {
	if len(req.IDs) > 0 || len(req.Kinds) > 0 && !slices.Contains(req.Kinds, memory.Chunk) {
		return
	}
	c.asked.Add(1)
	if slices.ContainsFunc(a.Items, func(i memory.Item) bool { return i.Kind == memory.Chunk && i.Strength != memory.Maybe }) {
		c.hits.Add(1)
	}
	if slices.ContainsFunc(a.Degraded, func(d memory.Degraded) bool { return d.Part == memory.PartCode }) {
		c.fallbacks.Add(1)
	}
}

// Fill puts the counts into a state.
func (c *CodeQueries) Fill(s *memory.CodeState) {
	s.Asked, s.Hits, s.Fallbacks = int(c.asked.Load()), int(c.hits.Load()), int(c.fallbacks.Load())
}
