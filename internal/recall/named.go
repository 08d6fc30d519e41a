package recall

import (
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/recalld/recalld/internal/memory"
)

const (
	// calledShare is what a document gains, in shares of the best score, if the question
	// names it by its title, and again if it names what the document declares. A name that
	// n documents have gains 1/√n of it; from maxCalled on it is a common word. Chosen with
	// sets of commits and functions that the final figures do not contain (docs/quality.md).
	calledShare = 0.2
	maxCalled   = 8
)

// calledKinds are the kinds of what a question calls by its name.
var calledKinds = []memory.Kind{memory.Reference, memory.Rule, memory.Tool}

// liftNamed lifts what the question calls by its name: the page, file or tool of a title, and
// what a text declares, in any case and with any separators. What is lifted takes the
// places of its own kind, so it does not displace other kinds.
func (r *run) liftNamed() {
	gains := r.nameGains()
	if len(gains) == 0 || len(r.candidates) == 0 {
		return
	}
	best := r.candidates[0].fused
	for _, kind := range calledKinds {
		r.reorderByScore(func(c *candidate) bool { return c.Kind == kind }, func(c *candidate) float64 {
			return c.fused + calledShare*best*gains[c.num]
		})
	}
}

// nameGains returns what documents gain by the names in the question, by document number.
// A title may be any word of it. What a text declares must be written as a name, or spelled
// with several words: "get" is declared everywhere.
func (r *run) nameGains() map[uint32]float64 {
	if r.nothing || r.searched.Project == "" {
		return nil
	}
	if kinds := r.searched.Kinds; len(kinds) > 0 && !slices.ContainsFunc(kinds, func(k memory.Kind) bool { return slices.Contains(calledKinds, k) }) {
		return nil
	}
	written := writtenNames(r.query)
	titles, declared := map[uint32]float64{}, map[uint32]float64{}
	for name, words := range spelledBy(r.query) {
		docs := r.s.opts.Corpus.Called(name, r.searched.Project)
		firsts := 0 // a long document has several parts
		for _, d := range docs {
			if !d.Further {
				firsts++
			}
		}
		if len(docs) == 0 || firsts > maxCalled {
			continue
		}
		gain := 1 / math.Sqrt(float64(max(firsts, 1)))
		for _, d := range docs {
			if d.Title {
				titles[d.Doc] = max(titles[d.Doc], gain)
			} else if words > 1 || written[name] {
				declared[d.Doc] = max(declared[d.Doc], gain)
			}
		}
	}
	for doc, gain := range declared {
		titles[doc] += gain
	}
	return titles
}

// writtenNames returns the words of a question that are written as names, folded:
// readFile, `read`, read().
func writtenNames(question string) map[string]bool {
	names := map[string]bool{}
	for _, w := range wordsOf(question) {
		called := w.end < len(question) && question[w.end] == '('
		quoted := w.start > 0 && question[w.start-1] == '`'
		for part := range strings.FieldsFuncSeq(w.text, func(r rune) bool { return strings.ContainsRune(`./\:-#`, r) }) {
			if called || quoted || strings.ContainsFunc(part[1:], unicode.IsUpper) && strings.ContainsFunc(part, unicode.IsLower) {
				names[memory.FoldName(part)] = true
			}
		}
	}
	return names
}
