package ingest

import (
	"hash/maphash"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/memory"
)

// recalled stands in a step for lines that recall handed out.
const recalled = "[recalled]"

const (
	// maxEchoLines bounds the kept hashes: some hundred answers, 0.5 MB.
	maxEchoLines = 20_000
	// minEchoLine is the shortest line that is recognised by itself, in letters and
	// digits with one blank between words. A shorter line may be equal by chance.
	minEchoLine = 24
)

// QuoteFilter recognises text that recall handed out, so that it is not stored again as
// new. It keeps hashes of lines, not the lines, drops the oldest, and is empty after a
// start. It recognises our headings and the items below them without a hash. A nil
// QuoteFilter recognises nothing. It is safe for concurrent use.
//
// The code that answers a recall calls AddAnswer. The write path strips a lesson and marks
// the texts of a step. Like the answer, they are redacted before. Short lines and changed
// lines stay: only certain quotes are removed. A lesson that is recorded again in its own
// fields is merged, not refused.
type QuoteFilter struct {
	seed maphash.Seed

	mu sync.Mutex // guards the fields below
	// ring holds the lines' hashes in their order; next is the place of the
	// oldest once it is full.
	ring []uint64
	next int
	// place is where in ring a hash was put last.
	place map[uint64]int
}

// NewQuoteFilter returns an empty QuoteFilter.
func NewQuoteFilter() *QuoteFilter {
	return &QuoteFilter{seed: maphash.MakeSeed(), place: make(map[uint64]int)}
}

// add adds the lines of an answer.
func (e *QuoteFilter) add(answerText string) {
	if e == nil {
		return
	}
	var hashes []uint64
	for line := range strings.SplitSeq(answerText, "\n") {
		if key, _ := quoteKey(line); key != "" {
			hashes = append(hashes, maphash.String(e.seed, key))
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, h := range hashes {
		if len(e.ring) < maxEchoLines {
			e.ring = append(e.ring, h)
			e.place[h] = len(e.ring) - 1
			continue
		}
		if old := e.ring[e.next]; e.place[old] == e.next {
			delete(e.place, old)
		}
		e.ring[e.next] = h
		e.place[h] = e.next
		e.next = (e.next + 1) % maxEchoLines
	}
}

// AddAnswer adds the text of an answer, and the whole texts of its items: an answer in JSON
// quotes them.
func (e *QuoteFilter) AddAnswer(text string, items []memory.Item) {
	e.add(text)
	for _, item := range items {
		e.add(item.Text)
	}
}

// strip removes the lines that recall handed out from a text, and returns how many they
// were. The rest is empty if it would contain only signs and numbers.
func (e *QuoteFilter) strip(text string) (rest string, n int) {
	rest, n = e.replace(text, "")
	if n > 0 && !strings.ContainsFunc(rest, unicode.IsLetter) {
		return "", n
	}
	return rest, n
}

// mark replaces lines that recall handed out with recalled, once for consecutive lines,
// and returns how many they were.
func (e *QuoteFilter) mark(text string) (marked string, n int) { return e.replace(text, recalled) }

func (e *QuoteFilter) replace(text, with string) (string, int) {
	if e == nil || len(text) < minEchoLine {
		return text, 0
	}
	parts := e.judge(text)
	var b strings.Builder
	n, from := 0, 0
	for i := 0; i < len(parts); i++ {
		if parts[i].origin != echoed {
			continue
		}
		// A run ends with its last recognised part. Short lines, brackets and fences in
		// between are removed with it.
		last := i
		for j := i; j < len(parts) && parts[j].origin != foreign; j++ {
			if parts[j].origin == echoed || parts[j].origin == shortEchoed {
				last = j
				n++
			}
		}
		b.WriteString(text[from:parts[i].start])
		b.WriteString(with)
		from = parts[last].end
		i = last
	}
	if n == 0 {
		return text, 0
	}
	b.WriteString(text[from:])
	return b.String(), n
}

// part is a line of a text, or of a string within it.
type part struct {
	start, end int // bytes, without separators
	origin     origin
}

// origin says where a part's text comes from.
type origin int

const (
	foreign     origin = iota // new text
	short                     // too short to decide
	shortEchoed               // too short, but handed out: the part before it decides
	echoed                    // handed out by recall
)

// judge cuts a text into parts and says which were handed out.
func (e *QuoteFilter) judge(text string) []part {
	var parts []part
	below := false // below one of our headings
	for start := 0; start <= len(text); {
		end := len(text)
		if i := strings.IndexByte(text[start:], '\n'); i >= 0 {
			end = start + i
		}
		line := text[start:end]
		if v := e.originOf(line, &below); v != foreign || !strings.ContainsAny(line, `"\`) {
			parts = append(parts, part{start, end, v})
		} else {
			for _, p := range stringParts(line) {
				if p.start <= p.end {
					p.origin = e.originOf(unescape(line[p.start:p.end]), &below)
				}
				p.start, p.end = p.start+start, p.end+start
				parts = append(parts, p)
			}
		}
		start = end + 1
	}
	return parts
}

// originOf judges one line; below says whether it is in a block of ours, and is updated.
func (e *QuoteFilter) originOf(line string, below *bool) origin {
	plain := cutNumber(strings.Trim(line, " \t\r>\"'"))
	switch {
	case isHeading(plain):
		*below = true
		return echoed
	case *below && isItem(plain):
		return echoed
	case plain == "":
		return short
	}
	key, long := quoteKey(line)
	e.mu.Lock()
	_, known := e.place[maphash.String(e.seed, key)]
	e.mu.Unlock()
	switch {
	case known && long:
		return echoed
	case known && key != "":
		return shortEchoed
	}
	*below = *below && !strings.ContainsFunc(plain, isLetter)
	if long {
		return foreign
	}
	return short
}

// cutNumber removes a line number, but not the number of a list item.
func cutNumber(line string) string {
	if rest, ok := cutDigits(line, "→", "\t", ": ", "| ", " | "); ok {
		return strings.TrimSpace(rest)
	}
	return line
}

// cutDigits removes digits that one of some signs follows, and the sign.
func cutDigits(line string, signs ...string) (rest string, cut bool) {
	digits := strings.TrimLeft(line, "0123456789")
	for _, sign := range signs {
		if rest, ok := strings.CutPrefix(digits, sign); ok && len(digits) < len(line) {
			return rest, true
		}
	}
	return line, false
}

// isHeading recognises the first lines of our answers.
func isHeading(line string) bool {
	for _, start := range [...]string{"**Relevant Memories (", "**Relevant Records (", "**Relevant Code in "} {
		if strings.HasPrefix(line, start) && strings.HasSuffix(line, "):**") {
			return true
		}
	}
	if line == "## RELEVANT CODEBASE CONTEXT (from RAG)" {
		return true
	}
	count, ok := strings.CutPrefix(line, "Found ")
	if !ok {
		return false
	}
	behind := strings.TrimLeft(count, "0123456789")
	return len(behind) < len(count) && (behind == " relevant snippet:" || behind == " relevant snippets:")
}

// isItem recognises the form of an item: "2. [2026-01-31] …", and of a snippet's first
// line, "2. path (Relevance: 0.89)" or "(relevance 0.89)".
func isItem(line string) bool {
	rest, ok := cutDigits(line, ". ")
	return ok && (cutDate(rest) != rest || strings.Contains(rest, "(Relevance: 0.") || strings.Contains(rest, "(relevance 0."))
}

// cutDate removes a leading "[2026-01-31] ".
func cutDate(s string) string {
	const form = "[0000-00-00]"
	if len(s) < len(form) {
		return s
	}
	for i := range len(form) {
		if form[i] == '0' && (s[i] < '0' || s[i] > '9') || form[i] != '0' && s[i] != form[i] {
			return s
		}
	}
	return strings.TrimLeft(s[len(form):], " ")
}

// quoteKey returns the key by which a line is recognised: its words, without bullets,
// quotes, numbers of lists and lines, the date before it and the suffix that recall adds; or
// its signs if it has no words. long says that the line is long enough to be recognised by
// itself.
func quoteKey(line string) (key string, long bool) {
	signs := cutNumber(strings.Trim(line, " \t\r>"))
	line = cutTail(cutHead(line))
	var b strings.Builder
	b.Grow(len(line))
	blank, length := true, 0
	for _, r := range line {
		if !isLetter(r) {
			blank = true
			continue
		}
		if blank && b.Len() > 0 {
			b.WriteByte(' ')
			length++
		}
		blank = false
		b.WriteRune(unicode.ToLower(r))
		length++
	}
	if length == 0 {
		return signs, false
	}
	return b.String(), length >= minEchoLine
}

func isLetter(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

// cutHead removes the prefixes of editors, lists and quotations.
func cutHead(line string) string {
	for {
		before := line
		line = strings.TrimLeft(line, " \t>*+-•|#\"'`")
		line, _ = cutDigits(line, ". ", ") ", ": ", "| ", " | ", "→", "\t", ":\t")
		line = cutDate(line)
		if line == before {
			return line
		}
	}
}

// cutTail removes recall's suffix of an item, which changes with each outcome:
// "(9/10 success)", "(and 2 alike)", "[from api]".
func cutTail(line string) string {
	for {
		before := line
		line = strings.TrimRight(line, " \t\r\"'`,")
		for _, form := range [...]struct{ open, close string }{{" (", " success)"}, {" (and ", " alike)"}, {" [from ", "]"}} {
			if rest, ok := strings.CutSuffix(line, form.close); ok {
				if i := strings.LastIndex(rest, form.open); i >= 0 && len(rest)-i < 80 {
					line = rest[:i]
				}
			}
		}
		if line == before {
			return line
		}
	}
}

// stringParts cuts a line of JSON or source code at the quotes around its strings and at
// the escaped line feeds within them. A part that ends before it starts stands for a quote:
// no run of quoted lines goes beyond a string.
func stringParts(line string) []part {
	var parts []part
	start := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '"':
			parts = append(parts, part{start: start, end: i}, part{start: i + 1, end: i})
			start = i + 1
		case '\\':
			end := i
			for end < len(line) && line[end] == '\\' {
				end++ // one for each level of nested strings
			}
			if end < len(line) && line[end] == 'n' {
				parts = append(parts, part{start: start, end: i})
				start = end + 1
			}
			i = end // an escaped character begins nothing
		}
	}
	return append(parts, part{start: start, end: len(line)})
}

// unescape reverses the JSON escapes that affect words or the form of a line.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		for i+1 < len(s) && s[i+1] == '\\' {
			i++
		}
		i++
		switch {
		case i >= len(s):
		case s[i] == 't' || s[i] == 'r':
			b.WriteByte(' ')
		case s[i] == 'u' && i+5 <= len(s):
			if code, err := strconv.ParseUint(s[i+1:i+5], 16, 32); err == nil {
				b.WriteRune(rune(code))
				i += 4
				continue
			}
			b.WriteByte(s[i])
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}
