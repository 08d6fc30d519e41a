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

// Recalled stands in a step for lines that recall handed out.
const Recalled = "[recalled]"

const (
	// maxEchoLines bounds what is kept: some hundred answers, 0.5 MB.
	maxEchoLines = 20_000
	// minEchoLine is the least of a line, in letters and digits with one blank
	// between words, by which it is known again. Anybody may write a shorter one.
	minEchoLine = 24
)

// QuoteFilter knows the text that recall handed out, so that it is not stored again as
// new. It keeps hashes of lines, not the lines, forgets the oldest
// and is empty after a start; our headings and the items below them are known
// without it. A nil QuoteFilter knows nothing. It is safe for concurrent use.
//
// Whoever answers a recall calls Add with the text of the answer, and for an
// answer in JSON with the text of each item. The write path calls Strip on a
// lesson and Mark on the texts of a step, after secrets were taken out, as they
// were of the answer. Short lines and lines that were changed stay: an echo is
// taken out where it is certain, and the same lesson told again in its own
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

// NewQuoteFilter returns an QuoteFilter that knows nothing yet.
func NewQuoteFilter() *QuoteFilter {
	return &QuoteFilter{seed: maphash.MakeSeed(), place: make(map[uint64]int)}
}

// Add remembers the lines of an answer.
func (e *QuoteFilter) Add(answerText string) {
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

// AddAnswer adds the text of an answer, and the whole texts of its items.
func (e *QuoteFilter) AddAnswer(text string, items []memory.Item) {
	e.Add(text)
	for _, item := range items {
		e.Add(item.Text)
	}
}

// Strip takes the lines that recall handed out from a text, and says how many
// they were. The rest is empty when nothing but signs and numbers
// would be left.
func (e *QuoteFilter) Strip(text string) (rest string, n int) {
	rest, n = e.replace(text, "")
	if n > 0 && !strings.ContainsFunc(rest, unicode.IsLetter) {
		return "", n
	}
	return rest, n
}

// Mark puts Recalled in the place of lines that recall handed out, once for
// lines that follow one another, and says how many they were.
func (e *QuoteFilter) Mark(text string) (marked string, n int) { return e.replace(text, Recalled) }

func (e *QuoteFilter) replace(text, with string) (string, int) {
	if e == nil || len(text) < minEchoLine {
		return text, 0
	}
	pieces := e.judge(text)
	var b strings.Builder
	n, from := 0, 0
	for i := 0; i < len(pieces); i++ {
		if pieces[i].origin != echoed {
			continue
		}
		// A run ends with its last known piece: short lines between, brackets and
		// fences, go with it.
		last := i
		for j := i; j < len(pieces) && pieces[j].origin != foreign; j++ {
			if pieces[j].origin == echoed || pieces[j].origin == shortEchoed {
				last = j
				n++
			}
		}
		b.WriteString(text[from:pieces[i].start])
		b.WriteString(with)
		from = pieces[last].end
		i = last
	}
	if n == 0 {
		return text, 0
	}
	b.WriteString(text[from:])
	return b.String(), n
}

// piece is a line of a text, or of a string within it.
type piece struct {
	start, end int // bytes, without what separates pieces
	origin     origin
}

// origin says whose words a piece is.
type origin int

const (
	foreign     origin = iota // new text
	short                     // too short to tell
	shortEchoed               // as short, and handed out: what stands before it tells
	echoed                    // handed out by recall
)

// judge cuts a text into pieces and tells which were handed out.
func (e *QuoteFilter) judge(text string) []piece {
	var pieces []piece
	below := false // one of our headings
	for start := 0; start <= len(text); {
		end := len(text)
		if i := strings.IndexByte(text[start:], '\n'); i >= 0 {
			end = start + i
		}
		line := text[start:end]
		if v := e.originOf(line, &below); v != foreign || !strings.ContainsAny(line, `"\`) {
			pieces = append(pieces, piece{start, end, v})
		} else {
			for _, p := range stringPieces(line) {
				if p.start <= p.end {
					p.origin = e.originOf(unescape(line[p.start:p.end]), &below)
				}
				p.start, p.end = p.start+start, p.end+start
				pieces = append(pieces, p)
			}
		}
		start = end + 1
	}
	return pieces
}

// originOf judges one line; below says whether it stands in a block of ours, and
// is kept up to date.
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

// cutNumber takes the number of a line off, but not that of a list's item.
func cutNumber(line string) string {
	digits := strings.TrimLeft(line, "0123456789")
	if len(digits) < len(line) {
		for _, sign := range [...]string{"→", "\t", ": ", "| ", " | "} {
			if rest, ok := strings.CutPrefix(digits, sign); ok {
				return strings.TrimSpace(rest)
			}
		}
	}
	return line
}

// isHeading knows the lines by which our answers begin.
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

// isItem knows the form of an item: "2. [2026-01-31] …", and of a snippet's
// first line, "2. path (Relevance: 0.89)" or "(relevance 0.89)".
func isItem(line string) bool {
	rest := strings.TrimLeft(line, "0123456789")
	if len(rest) == len(line) || !strings.HasPrefix(rest, ". ") {
		return false
	}
	rest = rest[len(". "):]
	return cutDate(rest) != rest || strings.Contains(rest, "(Relevance: 0.") || strings.Contains(rest, "(relevance 0.")
}

// cutDate takes "[2026-01-31] " off the front.
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

// quoteKey is what a line is known by: its words, without bullets, quotes, the
// numbers of lists and lines, the date before it and what recall puts behind it;
// the signs themselves of a line without words. long says that it is long enough
// to be known by itself.
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

// cutHead takes off what editors, lists and quotations put before a line.
func cutHead(line string) string {
	for {
		before := line
		line = strings.TrimLeft(line, " \t>*+-•|#\"'`")
		digits := strings.TrimLeft(line, "0123456789")
		if len(digits) < len(line) {
			for _, sign := range [...]string{". ", ") ", ": ", "| ", " | ", "→", "\t", ":\t"} {
				if rest, ok := strings.CutPrefix(digits, sign); ok {
					line = rest
					break
				}
			}
		}
		line = cutDate(line)
		if line == before {
			return line
		}
	}
}

// cutTail takes off what recall puts behind an item, which changes with each
// outcome: "(9/10 success)", "(and 2 alike)", "[from api]".
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

// stringPieces cuts a line of JSON, or of a program, at the quotes around its
// strings and at the escaped line feeds within them. A piece that ends before
// it starts stands for a quote: no run of echoed lines goes beyond a string.
func stringPieces(line string) []piece {
	var pieces []piece
	start := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '"':
			pieces = append(pieces, piece{start: start, end: i}, piece{start: i + 1, end: i})
			start = i + 1
		case '\\':
			end := i
			for end < len(line) && line[end] == '\\' {
				end++ // one for each string within a string
			}
			if end < len(line) && line[end] == 'n' {
				pieces = append(pieces, piece{start: start, end: i})
				start = end + 1
			}
			i = end // what is escaped begins nothing
		}
	}
	return append(pieces, piece{start: start, end: len(line)})
}

// unescape undoes what JSON escapes and a word or a line's form depends on.
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
