package scan

import (
	"slices"
	"strings"
)

// raisers are words before a string that make it a message to the user.
var raisers = []string{
	"error", "err", "panic", "raise", "throw", "fatal", "warn", "die", "abort", "fail", "exception", "log", "bail", "invalid", "message", "expect",
}

// messages emits the messages that a program raises with the lines around them, so that an
// error in a log finds the code that wrote it.
func (m *masked) messages(functions []function, emit Emit) {
	for _, s := range m.strings {
		line := lineStart(m.text, s.start)
		before := strings.ToLower(m.code[line:s.start])
		if strings.TrimSpace(before) == "" && line > 0 {
			before = strings.ToLower(m.code[lineStart(m.text, line-1):s.start])
		}
		if !slices.ContainsFunc(raisers, func(word string) bool { return strings.Contains(before, word) }) {
			continue
		}
		message := messageText(m.text[s.start:s.end])
		if !isProse(message, 4) || len(message) > 300 {
			continue
		}
		around := m.around(s, functions)
		code := strings.Replace(m.without(around), m.text[s.start:s.end], `""`, 1)
		if strings.Count(code, "\n") >= 2 {
			emit(Pair{Message, message, code})
		}
	}
}

// messageText removes the quotes and placeholders from a message.
func messageText(quoted string) string {
	text := strings.Trim(quoted, "\"'`")
	for _, verb := range []string{"%s", "%v", "%d", "%w", "%q", "%r", "%T", "%x", "{}", "%+v", "%i", "%u", "%zu", "%ld"} {
		text = strings.ReplaceAll(text, verb, "")
	}
	text = strings.NewReplacer(`\n`, " ", `\t`, " ", `\"`, `"`, `\'`, `'`).Replace(text)
	return strings.Trim(oneLine(text), " :,;")
}

// around returns the lines near a message, no further than its function.
func (m *masked) around(s span, functions []function) span {
	const before, after = 8, 3 // lines
	bounds := span{0, len(m.text)}
	for _, f := range functions {
		if f.whole.start <= s.start && s.end <= f.whole.end && f.whole.end-f.whole.start < bounds.end-bounds.start {
			bounds = f.whole
		}
	}
	start, end := lineStart(m.text, s.start), lineEnd(m.text, s.end)
	for range before {
		if start <= bounds.start {
			break
		}
		start = lineStart(m.text, start-1)
	}
	for range after {
		if end >= bounds.end {
			break
		}
		end = lineEnd(m.text, min(end+1, len(m.text)))
	}
	return span{max(start, bounds.start), max(s.end, min(end, bounds.end))}
}
