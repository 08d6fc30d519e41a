package scan

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// masked is the text of a program. In code every comment and string is replaced by spaces,
// byte for byte, so that only the program's own brackets and words remain.
type masked struct {
	text     string
	code     string
	comments []span
	strings  []span
}

// span is a range of a text, from start up to but not including end. Line comments on
// consecutive lines are one span.
type span struct{ start, end int }

// mask separates a program's comments and strings from its code.
func mask(l *language, text string) masked {
	m := masked{text: text}
	code := []byte(text)
	blank := func(s span) {
		for i := s.start; i < s.end; i++ {
			if code[i] != '\n' {
				code[i] = ' '
			}
		}
	}
	for i := 0; i < len(text); {
		end, isComment := commentEnd(l, text, i)
		if isComment {
			m.addComment(span{i, end})
			blank(span{i, end})
			i = end
			continue
		}
		if end, ok := stringEnd(l, text, i); ok {
			m.strings = append(m.strings, span{i, end})
			blank(span{i, end})
			i = end
			continue
		}
		i++
	}
	m.code = string(code)
	return m
}

// addComment joins a comment to the previous one if only an indent is between them.
func (m *masked) addComment(s span) {
	if n := len(m.comments); n > 0 {
		last := &m.comments[n-1]
		gap := m.text[last.end:s.start]
		alone := strings.TrimSpace(m.text[lineStart(m.text, last.start):last.start]) == ""
		if alone && strings.Count(gap, "\n") == 1 && strings.TrimSpace(gap) == "" && !strings.HasPrefix(m.text[s.start:], "/*") {
			last.end = s.end
			return
		}
	}
	m.comments = append(m.comments, s)
}

func commentEnd(l *language, text string, i int) (end int, ok bool) {
	for _, b := range l.block {
		if strings.HasPrefix(text[i:], b[0]) {
			if n := strings.Index(text[i+len(b[0]):], b[1]); n >= 0 {
				return i + len(b[0]) + n + len(b[1]), true
			}
			return len(text), true
		}
	}
	for _, mark := range l.line {
		if !strings.HasPrefix(text[i:], mark) || l.hashLine && i > 0 && !strings.ContainsRune(" \t\n", rune(text[i-1])) {
			continue
		}
		if n := strings.IndexByte(text[i:], '\n'); n >= 0 {
			return i + n, true
		}
		return len(text), true
	}
	return 0, false
}

// stringEnd returns the end of the string that begins at i. A short string that does not
// end on its line is not a string: the quote was an apostrophe or a lifetime.
func stringEnd(l *language, text string, i int) (end int, ok bool) {
	if l.lifetimes && text[i] == '\'' {
		return characterEnd(text, i)
	}
	for _, q := range l.longQuotes {
		if strings.HasPrefix(text[i:], q) {
			if end, ok := closing(text, i+len(q), q, false); ok {
				return end, true
			}
		}
	}
	for _, q := range l.quotes {
		if strings.HasPrefix(text[i:], q) {
			return closing(text, i+len(q), q, true)
		}
	}
	return 0, false
}

// characterEnd returns the end of a character between quotes.
func characterEnd(text string, i int) (end int, ok bool) {
	const most = 12 // bytes: '\u{10ffff}'
	inside := text[i+1 : min(len(text), i+most)]
	if strings.HasPrefix(inside, `\`) {
		n := strings.IndexByte(inside[min(2, len(inside)):], '\'')
		return i + n + 4, n >= 0
	}
	_, size := utf8.DecodeRuneInString(inside)
	return i + size + 2, size > 0 && strings.HasPrefix(inside[size:], "'")
}

func closing(text string, from int, quote string, sameLine bool) (end int, ok bool) {
	for i := from; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote != "`":
			i++
		case text[i] == '\n' && sameLine:
			return 0, false
		case strings.HasPrefix(text[i:], quote):
			return i + len(quote), true
		}
	}
	return 0, false
}

// lineStart returns the start of the line of an offset.
func lineStart(text string, at int) int { return strings.LastIndexByte(text[:at], '\n') + 1 }

// lineEnd returns the end of the line of an offset, without its line break.
func lineEnd(text string, at int) int {
	if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
		return at + n
	}
	return len(text)
}

// without returns a part of the program without its comments and without the lines that had
// only comments.
func (m *masked) without(s span) string { return dedent(m.lines(s)) }

// lines is without, but keeps the indents.
func (m *masked) lines(s span) string {
	at, _ := slices.BinarySearchFunc(m.comments, s.start, func(c span, start int) int { return c.end - start })
	var b strings.Builder
	from := s.start
	for ; at < len(m.comments) && m.comments[at].start < s.end; at++ {
		c := m.comments[at]
		if c.start > from {
			b.WriteString(m.text[from:c.start])
		}
		from = max(from, min(c.end, s.end))
	}
	b.WriteString(m.text[from:s.end])
	lines := strings.Split(b.String(), "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.TrimSpace(line) == "" })
	return strings.Join(lines, "\n")
}
