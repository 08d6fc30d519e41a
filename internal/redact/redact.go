// Package redact takes secrets out of text.
//
// Vocabulary. A rule says what a kind of secret looks like and which keywords
// one cannot be without. The prefilter finds the keywords of all rules in one
// pass over the text; only where one stands is its rule tried, so that text
// without keywords costs little. What a rule finds is a span, and a span is
// replaced by a mark, "[redacted:jwt]", that no rule takes for a secret.
//
// This is a guard against accidents, not a proof: it knows the common forms of
// secrets and leaves ordinary code alone.
package redact

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// Span is a secret's place in a text, in bytes, and what it was taken for.
type Span struct {
	Start, End int
	What       string
}

// maxPasses bounds how often the text is looked at again after something was
// taken out of it. Two passes are the rule: one that finds, one that does not.
const maxPasses = 8

const markStart = "[redacted:"

// Redact returns the text with every secret replaced by "[redacted:WHAT]", and
// how many there were. Redacting the result again changes nothing. Valid UTF-8
// stays valid.
func Redact(text string) (clean string, n int) {
	for range maxPasses {
		spans := Find(text)
		if len(spans) == 0 {
			break
		}
		text = Apply(text, 0, spans)
		n += len(spans)
	}
	return text, n
}

// Find returns the secrets of a text in their order. They do not overlap.
func Find(text string) []Span {
	var spans []Span
	done := make(map[*rule]int) // where a rule's last match ended
	for _, hit := range prefilter().scan(text) {
		r := hit.rule
		if hit.at < done[r] {
			continue
		}
		start, end, ok := r.find(text, hit.at)
		if !ok || isMark(text[start:end]) {
			continue
		}
		spans = append(spans, Span{start, end, r.what})
		done[r] = end
	}
	return settle(spans)
}

// Apply replaces the spans of text by marks. Spans are relative to a larger
// text, of which this one begins at offset: what lies outside is passed over,
// what reaches in is cut to what is there. They must be as Find gives them.
func Apply(text string, offset int, spans []Span) string {
	var b strings.Builder
	at := 0
	for _, s := range spans {
		start, end := max(s.Start-offset, at), min(s.End-offset, len(text))
		if start >= end {
			continue
		}
		b.WriteString(text[at:start])
		b.WriteString(markStart)
		b.WriteString(s.What)
		b.WriteByte(']')
		at = end
	}
	if at == 0 {
		return text
	}
	b.WriteString(text[at:])
	return b.String()
}

// settle orders the spans and drops those that overlap an earlier or, from the
// same place on, a longer one.
func settle(spans []Span) []Span {
	if len(spans) < 2 {
		return spans
	}
	slices.SortStableFunc(spans, func(a, b Span) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	kept := spans[:1]
	for _, s := range spans[1:] {
		if s.Start >= kept[len(kept)-1].End {
			kept = append(kept, s)
		}
	}
	return kept
}

// isMark says that a supposed secret is, or holds, what was put in place of one.
func isMark(s string) bool { return strings.Contains(s, markStart) }

// prefilter is made when the first text comes.
var prefilter = sync.OnceValue(func() *keywords { return newKeywords(rules()) })
