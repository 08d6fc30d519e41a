// Package redact replaces secrets in text.
//
// A rule describes a kind of secret, and the keywords without which it cannot occur. The
// prefilter finds the keywords of all rules in one pass over the text, and a rule is
// tried only where one of its keywords is, so that text without keywords costs little. A
// rule finds spans, and a span is replaced by a mark, "[redacted:jwt]", that no rule
// takes for a secret.
//
// There are two sets of rules. The set for code is ours: the common forms of secrets,
// fast and without false alarms on ordinary source. The set for texts, such as lessons,
// steps and answers, adds the rules of gitleaks and what people paste: commands, headers,
// settings.
//
// A value of JSON, a flag or a setting also has names, and may be a secret because of
// them; see Value.
//
// This protects against accidents. It is not a proof: it knows the common forms of
// secrets and leaves ordinary code alone.
package redact

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// Span is the position of a secret in a text, in bytes, and its kind.
type Span struct {
	Start, End int
	What       string
}

// maxPasses bounds how often the text is searched again after a replacement. Two passes
// are usual: one that finds, one that does not.
const maxPasses = 8

const markStart = "[redacted:"

// Redact returns the text with every secret replaced by "[redacted:WHAT]", and their
// number, by all rules. It is idempotent. Valid UTF-8 stays valid.
func Redact(text string) (clean string, n int) { return redact(text, Find) }

// Code is Redact with the rules for source code, which are fast enough for whole
// repositories.
func Code(text string) (clean string, n int) { return redact(text, FindCode) }

func redact(text string, find func(string) []Span) (string, int) {
	n := 0
	for range maxPasses {
		spans := find(text)
		if len(spans) == 0 {
			break
		}
		text = Apply(text, 0, spans)
		n += len(spans)
	}
	return text, n
}

// Find returns the secrets of a text in order. They do not overlap.
func Find(text string) []Span { return all().find(text) }

// FindCode is Find for source code; see Code.
func FindCode(text string) []Span { return code().find(text) }

// set is a set of rules with one prefilter.
type set struct {
	words *keywords
	leaks *leaks
}

// code and all are made at their first use.
var (
	code = sync.OnceValue(func() *set { return newSet(codeRules(), nil) })
	all  = sync.OnceValue(func() *set {
		l, err := loadLeaks()
		if err != nil {
			panic(err) // the rules are part of the program, and tested
		}
		return newSet(textRules(), l)
	})
)

func newSet(rules []*rule, l *leaks) *set {
	if l != nil {
		for _, r := range l.rules {
			rules = append(rules, &rule{what: r.ID, keywords: r.Keywords, leak: r})
		}
	}
	return &set{newKeywords(rules), l}
}

func (s *set) find(text string) []Span { return s.look(text, func(*rule, int) {}) }

// look implements find; it reports the bytes that each rule has read without a result.
func (s *set) look(text string, tell func(r *rule, read int)) []Span {
	var spans, leaked []Span
	done := make(map[*rule]int)       // where a rule's last match ended
	windows := make(map[*rule][2]int) // the pending search window of each rule of gitleaks
	look := func(r *rule, w [2]int) {
		leaked = append(leaked, s.leaks.find(r.leak, text, w[0], w[1])...)
	}
	tried := make(map[*rule]*tries)
	for _, hit := range s.words.scan(text) {
		r := hit.rule
		if r.leak != nil {
			if r.leak.word && r.leak.begins && hit.at > 0 && isWordByte(text[hit.at-1]) || r.leak.likely != nil && !r.leak.likely(text, hit.at) {
				continue
			}
			if r.leak.begins {
				if hit.at < done[r] || !triesOf(tried, r).may(hit.at) {
					continue
				}
				found := s.leaks.find(r.leak, text, hit.at, breakBehind(text, hit.at+leakBehind))
				if len(found) == 0 {
					read := max(runLen(text, hit.at, mismatch), min(r.leak.reads, len(text)-hit.at))
					tried[r].failed(hit.at, read)
					tell(r, read)
				} else {
					done[r] = found[len(found)-1].End
				}
				leaked = append(leaked, found...)
				continue
			}
			w := [2]int{breakBefore(text, hit.at-leakBefore), breakBehind(text, hit.at+leakBehind)}
			// Adjacent windows are searched as one.
			if last, ok := windows[r]; ok && w[0] <= last[1] {
				w[0] = last[0]
			} else if ok {
				look(r, last)
			}
			windows[r] = w
			continue
		}
		if hit.at < done[r] || !triesOf(tried, r).may(hit.at) {
			continue
		}
		start, end, ok := r.find(text, hit.at)
		if !ok || isMark(text[start:end]) {
			read := max(end-hit.at, r.reads)
			tried[r].failed(hit.at, read)
			tell(r, read)
			continue
		}
		spans = append(spans, Span{start, end, r.what})
		done[r] = end
	}
	for r, w := range windows {
		look(r, w)
	}
	// Windows come in no order; of two names for a secret the choice must be deterministic.
	slices.SortFunc(leaked, func(a, b Span) int { return cmp.Compare(a.What, b.What) })
	return settle(append(spans, leaked...))
}

// Bounds of the work of one rule. A try without a result costs what it has read, which in
// ordinary text is a word or two. If it is more, as in a long line without blanks, a rule
// may read so much in each part of the text and is skipped until the next part begins. So
// the work is a constant multiple of the text's length, whatever it repeats. A secret may
// be missed only among keywords that are closer together than in any text that a person
// writes.
const (
	partSize = 1024 // bytes
	maxRead  = 4096 // bytes, by one rule in a part
	// mismatch is the most that a pattern without a match counts as having read.
	mismatch = 512
)

// tries counts what a rule read in vain in the current part of a text.
type tries struct{ part, read int }

func triesOf(all map[*rule]*tries, r *rule) *tries {
	t := all[r]
	if t == nil {
		t = &tries{}
		all[r] = t
	}
	return t
}

func (t *tries) may(at int) bool { return t.part != at/partSize || t.read < maxRead }

// failed counts a try at a position.
func (t *tries) failed(at, read int) {
	if t.part != at/partSize {
		*t = tries{part: at / partSize}
	}
	t.read += read
}

// runLen returns how many bytes of text[at:] have no white space, at most limit.
func runLen(text string, at, limit int) int {
	n := 0
	for n < limit && at+n < len(text) && text[at+n] > ' ' {
		n++
	}
	return n
}

// breakBefore and breakBehind move the end of a window out to white space, or to the
// border of a rune if there is none near, so that a pattern does not take it for the end
// of a word.
func breakBefore(text string, at int) int {
	for near := max(0, at-maxWord); at > near; at-- {
		if c := text[at-1]; c == ' ' || c == '\n' {
			return at
		}
	}
	at = max(0, at)
	for at > 0 && text[at]&0xC0 == 0x80 {
		at--
	}
	return at
}

func breakBehind(text string, at int) int {
	for far := min(len(text), at+maxWord); at < far; at++ {
		if c := text[at]; c == ' ' || c == '\n' {
			return at
		}
	}
	at = min(len(text), at)
	for at < len(text) && text[at]&0xC0 == 0x80 {
		at++
	}
	return at
}

// maxWord is how far white space is looked for, in bytes.
const maxWord = 400

// Apply replaces the spans of text by marks. Spans, as returned by Find, are relative to
// a larger text in which this one begins at offset: spans outside are ignored, spans that
// reach in are clipped.
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

// settle sorts the spans and drops those that overlap an earlier one or, at the same
// start, a longer one. Of two names for one span it keeps the more specific one.
func settle(spans []Span) []Span {
	if len(spans) < 2 {
		return spans
	}
	slices.SortStableFunc(spans, func(a, b Span) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End), cmp.Compare(vague(a.What), vague(b.What)))
	})
	kept := spans[:1]
	for _, s := range spans[1:] {
		if s.Start >= kept[len(kept)-1].End {
			kept = append(kept, s)
		}
	}
	return kept
}

// vague ranks names: a provider's is more specific than a general one.
func vague(what string) int {
	switch what {
	case genericKey:
		return 2
	case "secret":
		return 1
	}
	return 0
}

// isMark reports whether a supposed secret is, or contains, a mark.
func isMark(s string) bool { return strings.Contains(s, markStart) }

// IsBlank reports whether a redacted text has nothing but marks.
func IsBlank(clean string) bool {
	marks := 0
	for {
		before, rest, ok := strings.Cut(clean, markStart)
		if strings.ContainsFunc(before, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsSymbol(r) }) {
			return false
		}
		if !ok {
			return marks > 0
		}
		marks++
		_, clean, _ = strings.Cut(rest, "]")
	}
}
