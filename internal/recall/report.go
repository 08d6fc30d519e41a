package recall

import (
	"cmp"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

const (
	// leastReport is the length from which a question of several lines is a report: a title
	// and what it is about, in bytes.
	leastReport = 200
	// longestTitle is the longest first line that is a title, in bytes.
	longestTitle = 300
	leastTitle   = 2 // words
)

// titleOf returns the title of a report: its first line. A shorter question, and one that
// begins with a long line, has none.
func titleOf(question string) string {
	question = strings.TrimSpace(question)
	line, rest, _ := strings.Cut(question, "\n")
	line = strings.TrimSpace(strings.TrimLeft(line, "# "))
	if len(question) < leastReport || strings.TrimSpace(rest) == "" || len(line) > longestTitle || len(strings.Fields(line)) < leastTitle {
		return ""
	}
	return line
}

// byTitle searches for the title of a report by itself and adds what it finds: in the whole
// text, the words of a log outnumber those that say what it is about. A candidate has the
// sum of both scores, each 1 for the best, and the higher relevance.
func (r *run) byTitle() {
	title := titleOf(r.query)
	if title == "" || r.nothing || r.err != nil {
		return
	}
	t := r.s.newSearch(r.ctx, r.settings, title, r.sel)
	t.searched, t.vectorsUntil, t.scratch = r.searched, r.vectorsUntil, r.memory()
	t.ordered()
	if r.err = t.err; r.err != nil {
		return
	}
	of := make(map[memory.DocID]*candidate, len(r.candidates))
	for _, c := range r.candidates {
		c.fused = c.match
		of[c.Doc] = c
	}
	for _, c := range t.candidates {
		known := of[c.Doc]
		if known == nil {
			c.fused = c.match
			r.candidates = append(r.candidates, c)
			continue
		}
		known.fused += c.match
		known.relevance = max(known.relevance, c.relevance)
	}
	r.sortCandidates()
	for _, c := range r.candidates {
		c.match = c.fused / max(r.candidates[0].fused, 1)
	}
}

// sortCandidates orders candidates by their fused scores.
func (r *run) sortCandidates() {
	slices.SortStableFunc(r.candidates, func(a, b *candidate) int { return cmp.Compare(b.fused, a.fused) })
}
