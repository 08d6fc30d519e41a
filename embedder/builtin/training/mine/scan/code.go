package scan

import (
	"strings"
)

// scanCode emits pairs of a program: doc comments and names with their functions, comments
// with the statements below them, tests with their descriptions, and messages with the code
// that raises them.
func scanCode(l *language, text string, emit Emit) {
	m := mask(l, text)
	functions := m.functions(l)
	headers := map[int]bool{} // lines where headers begin
	for _, f := range functions {
		comment := m.docOf(l, f)
		headers[lineStart(text, f.whole.start)] = true
		headers[lineEnd(text, comment.end)+1] = true // possibly annotations
		m.function(l, f, comment, emit)
	}
	m.inline(l, headers, emit)
	m.tests(l, emit)
	m.messages(functions, emit)
}

// function emits the doc comment, which may be empty, and the name of one function.
// Comments in the body are left out of the function's text.
func (m *masked) function(l *language, f function, comment span, emit Emit) {
	code := clip(m.without(f.whole))
	if comment.start >= f.body.start && comment.end <= f.body.end {
		code = clip(m.without(span{f.whole.start, comment.start}) + "\n" + m.lines(span{comment.end, f.whole.end}))
		f.body.start = comment.end
	}
	if strings.Count(code, "\n") < 2 {
		return
	}
	words := strings.TrimPrefix(nameWords(f.name), "test ")
	if wordCount(words) >= 3 {
		emit(Pair{Name, words, clip(m.without(f.body))})
	}
	if comment.end > comment.start {
		examples(m.text[comment.start:comment.end], emit)
		prose := commentText(m.text[comment.start:comment.end])
		if first := withoutName(firstSentence(prose), f.name); isProse(first, 3) {
			emit(Pair{Doc, first, code})
			// At most one more pair of the same function, or it would have too much weight.
			if rest := clip(withoutName(oneLine(prose), f.name)); len(rest) > len(first)+80 {
				emit(Pair{Doc, rest, code})
			} else if question, ok := ask(first, l.name); ok {
				emit(Pair{Ask, question, code})
			}
		}
	}
}

// docOf returns the doc comment of a function: the comment right above it, with annotations
// between, or the string at the beginning of its body.
func (m *masked) docOf(l *language, f function) span {
	if l.body == indented {
		for _, s := range m.strings {
			if s.start >= f.body.end {
				break
			}
			if s.start >= f.body.start && strings.TrimSpace(m.text[f.body.start:s.start]) == "" {
				return s
			}
		}
	}
	line := lineStart(m.text, f.whole.start)
	for i := len(m.comments) - 1; i >= 0; i-- {
		c := m.comments[i]
		if c.end > line {
			continue
		}
		if isAnnotation(m.code[c.end:line]) && strings.Count(m.text[c.end:line], "\n") <= 8 && ownLine(m.text, c) {
			return c
		}
		break
	}
	return span{}
}

// ownLine says whether a comment has nothing before it on its line.
func ownLine(text string, c span) bool {
	return strings.TrimSpace(text[lineStart(text, c.start):c.start]) == ""
}

// isAnnotation says whether there are only annotations, attributes and the like between a
// comment and its declaration. A blank line separates the two.
func isAnnotation(gap string) bool {
	lines := strings.Split(strings.TrimSuffix(gap, "\n"), "\n")
	for i, line := range lines {
		line = strings.TrimSpace(line)
		if line == "" && i > 0 {
			return false
		}
		if line != "" && !strings.HasPrefix(line, "@") && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "[") && !strings.HasPrefix(line, "template") {
			return false
		}
	}
	return true
}

// inline emits comments inside of code with the statements below them, up to a
// blank line, a line that is indented less or the next comment.
func (m *masked) inline(l *language, headers map[int]bool, emit Emit) {
	kind := Comment
	if l.name == "Shell" || l.name == "PowerShell" {
		kind = Command
	}
	for _, c := range m.comments {
		next := lineEnd(m.text, c.end) + 1
		if next >= len(m.text) || !ownLine(m.text, c) || strings.TrimSpace(m.text[c.end:next]) != "" || headers[next] {
			continue
		}
		prose := oneLine(commentText(m.text[c.start:c.end]))
		if !isProse(prose, 3) || len(prose) > 400 {
			continue
		}
		if code := m.below(next); strings.TrimSpace(code) != "" && code != prose {
			emit(Pair{kind, strings.TrimSuffix(prose, ":"), code})
		}
	}
}

// below returns the statements from the start of a line on.
func (m *masked) below(start int) string {
	const most = 8 // lines
	indent, end := -1, start
	for range most {
		if end >= len(m.code) {
			break
		}
		stop := lineEnd(m.code, end)
		line := m.code[end:stop]
		if strings.TrimSpace(m.text[end:stop]) == "" || strings.TrimSpace(line) == "" && indent >= 0 && m.isComment(end) {
			break
		}
		if indent < 0 {
			indent = indentOf(line)
		}
		if strings.TrimSpace(line) != "" && indentOf(line) < indent {
			break
		}
		end = min(stop+1, len(m.code))
	}
	return m.without(span{start, end})
}

// isComment says whether a line's first text is a comment.
func (m *masked) isComment(line int) bool {
	for _, c := range m.comments {
		if c.start > lineEnd(m.text, line) {
			return false
		}
		if c.start >= line {
			return true
		}
	}
	return false
}

// maxText is how many bytes of a text are kept.
const maxText = 1900

// clip cuts a text after its last whole line within maxText.
func clip(text string) string {
	if len(text) <= maxText {
		return text
	}
	cut := text[:maxText]
	if at := strings.LastIndexByte(cut, '\n'); at > maxText/2 {
		return cut[:at]
	}
	if at := strings.LastIndexByte(cut, ' '); at > 0 {
		return cut[:at]
	}
	return strings.ToValidUTF8(cut, "")
}
