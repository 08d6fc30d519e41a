package scan

import (
	"strings"
)

// function is a function or type of a program.
type function struct {
	name string
	// whole begins with the header, at the start of its line if nothing else is before it,
	// and ends after the body.
	whole span
	// body is the body of the header, without its brackets.
	body span
}

// maxHeader is how many lines a header may have.
const maxHeader = 6

// functions finds the functions and types of a program, in order of the ends of their
// headers.
func (m *masked) functions(l *language) []function {
	if l.body == braces {
		return m.braced(l)
	}
	return m.lined(l)
}

// braced finds functions that end at a matching brace.
func (m *masked) braced(l *language) []function {
	closes := matching(m.code)
	var found []function
	start, parens := 0, 0 // of the statement
	type statement struct{ start, parens int }
	var outer []statement
	for i := 0; i < len(m.code); i++ {
		switch m.code[i] {
		case '(', '[':
			parens++
		case ')', ']':
			parens = max(0, parens-1)
		case ';':
			if parens == 0 {
				start = i + 1
			}
		case '{':
			if end := closes[i]; parens == 0 && end > 0 {
				if name, at, ok := header(l, m.code[start:i]); ok {
					found = append(found, function{name, span{m.indented(start + at), end + 1}, span{i + 1, end}})
				}
			}
			outer = append(outer, statement{start, parens})
			start, parens = i+1, 0
		case '}':
			start, parens = i+1, 0
			if n := len(outer); n > 0 {
				// Braces between brackets, as of a type among parameters, do not end a
				// statement.
				if parens = outer[n-1].parens; parens > 0 {
					start = outer[n-1].start
				}
				outer = outer[:n-1]
			}
		}
	}
	return found
}

// indented returns the start of the line if only white space precedes the offset, otherwise
// the offset.
func (m *masked) indented(at int) int {
	if line := lineStart(m.code, at); strings.TrimSpace(m.code[line:at]) == "" {
		return line
	}
	return at
}

// matching maps every opening brace to its closing one.
func matching(code string) map[int]int {
	closes := map[int]int{}
	var open []int
	for i := 0; i < len(code); i++ {
		switch code[i] {
		case '{':
			open = append(open, i)
		case '}':
			if n := len(open); n > 0 {
				closes[open[n-1]] = i
				open = open[:n-1]
			}
		}
	}
	return closes
}

// header looks for a header in the last lines before a body and returns where in the
// statement it begins.
func header(l *language, statement string) (name string, at int, ok bool) {
	const most = 1200 // bytes: longer ones are data
	cut := max(0, len(statement)-most)
	end := len(strings.TrimRight(statement, " \t\r\n"))
	if end <= cut {
		return "", 0, false
	}
	from := end
	for range maxHeader {
		from = strings.LastIndexByte(statement[cut:from], '\n') + cut
		if from < cut {
			from = cut
		}
		candidate := statement[from:end]
		trimmed := strings.TrimLeft(candidate, " \t\r\n")
		if name, ok := headerName(l, trimmed); ok {
			return name, from + len(candidate) - len(trimmed), true
		}
		if from == cut {
			return "", 0, false
		}
	}
	return "", 0, false
}

func headerName(l *language, text string) (name string, ok bool) {
	groups := l.header().FindStringSubmatch(text)
	if groups == nil {
		return "", false
	}
	for _, group := range groups[1:] {
		if group != "" {
			name = group
			break
		}
	}
	first, _, _ := strings.Cut(text, " ")
	return name, name != "" && !notNames[name] && !notNames[strings.TrimRight(first, "(")]
}

// lined finds functions that end by indentation.
func (m *masked) lined(l *language) []function {
	var found []function
	for start := 0; start < len(m.code); {
		end := lineEnd(m.code, start)
		line := m.code[start:end]
		if name, ok := headerName(l, strings.TrimLeft(line, " \t")); ok {
			bodyStart := m.headerEnd(start, end)
			if bodyEnd := m.blockEnd(l, bodyStart, indentOf(line)); bodyEnd > bodyStart {
				whole, body := span{start, bodyEnd}, span{min(bodyStart+1, bodyEnd), bodyEnd}
				if l.body == ended {
					body.end = max(body.start, lineStart(m.code, bodyEnd))
				}
				found = append(found, function{name, whole, body})
			}
		}
		start = end + 1
	}
	return found
}

// headerEnd returns the end of the line on which the brackets of a header are
// closed.
func (m *masked) headerEnd(start, end int) int {
	for range 30 {
		line := m.code[start:end]
		open := strings.Count(line, "(") + strings.Count(line, "[") - strings.Count(line, ")") - strings.Count(line, "]")
		if open <= 0 || end >= len(m.code) {
			return end
		}
		end = lineEnd(m.code, end+1)
	}
	return end
}

// blockEnd returns where the block below a header ends. Lines inside a string or comment
// are blank in the code and end nothing.
func (m *masked) blockEnd(l *language, from, indent int) int {
	last := from
	for start := from + 1; start < len(m.code); {
		end := lineEnd(m.code, start)
		line := m.code[start:end]
		if strings.TrimSpace(line) != "" {
			if indentOf(line) <= indent {
				if word := strings.TrimSpace(line); l.body == ended && strings.HasPrefix(word, "end") {
					return end
				}
				if word := strings.TrimSpace(line); l.body == indented && strings.HasPrefix(word, ")") {
					last, start = end, end+1
					continue
				}
				break
			}
			last = end
		} else if strings.TrimSpace(m.text[start:end]) != "" && indentOf(m.text[start:end]) > indent {
			last = end
		}
		start = end + 1
	}
	if l.body == ended {
		return from // no end found
	}
	return last
}
