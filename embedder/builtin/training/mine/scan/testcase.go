package scan

import (
	"strings"
)

// tests emits the description of a test with the test: it("sends no mail", ...) in
// JavaScript, test "..." do in Ruby and Elixir.
func (m *masked) tests(l *language, emit Emit) {
	if l.name != "JavaScript" && l.name != "Ruby" && l.name != "Elixir" {
		return
	}
	for _, s := range m.strings {
		line := lineStart(m.text, s.start)
		call := strings.TrimSpace(strings.TrimRight(strings.TrimSpace(m.code[line:s.start]), "("))
		if call != "it" && call != "test" && call != "specify" && call != "should" {
			continue
		}
		claim := strings.TrimPrefix(messageText(m.text[s.start:s.end]), "should ")
		end := m.testEnd(s.end, indentOf(m.code[line:]))
		if body := clip(m.without(span{min(lineEnd(m.text, s.end)+1, end), end})); wordCount(claim) >= 3 && strings.Count(body, "\n") >= 1 {
			emit(Pair{Test, claim, body})
		}
	}
}

// testEnd returns the start of the next line with the indent of the test.
func (m *masked) testEnd(from, indent int) int {
	for start := lineEnd(m.code, from) + 1; start < len(m.code); start = lineEnd(m.code, start) + 1 {
		line := m.code[start:lineEnd(m.code, start)]
		if strings.TrimSpace(line) != "" && indentOf(line) <= indent {
			return start
		}
	}
	return len(m.code)
}
