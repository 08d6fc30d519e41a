package recall

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// focus returns the line of a chunk's text, from 0, that the question asks for by its
// number or by a declared name; -1 if none. start is the number of the first line.
func focus(c *candidate, text string, start int) int {
	switch {
	case c.mention.at.Line > 0:
		return c.mention.at.Line - start
	case c.mention.name.Name != "":
		return declarationOf(c.mention.name.Name, text)
	}
	return -1
}

// declarationOf returns the line that most likely declares a name: the least indented line
// that has the name as a word and is no comment; the first of equals; -1 if none. Other
// spellings count only if the exact one does not occur.
func declarationOf(name, text string) int {
	exact := func(word string) bool { return word == name }
	if line := leastIndented(text, exact); line >= 0 {
		return line
	}
	return leastIndented(text, func(word string) bool { return sameName(word, name) })
}

func leastIndented(text string, is func(word string) bool) int {
	best, least, n := -1, 0, -1
	for line := range strings.SplitSeq(text, "\n") {
		n++
		trimmed := strings.TrimLeft(line, " \t")
		if indent := len(line) - len(trimmed); (best < 0 || indent < least) && !isComment(trimmed) && hasWord(line, is) {
			best, least = n, indent
		}
	}
	return best
}

// isComment says whether a line begins with a comment mark of a common language.
func isComment(line string) bool {
	for _, mark := range [...]string{"//", "/*", "*", "#", "--", ";", "\"\"\""} {
		if strings.HasPrefix(line, mark) {
			return !strings.HasPrefix(line, "#define")
		}
	}
	return false
}

// hasWord says whether a line contains a name as a word.
func hasWord(line string, is func(word string) bool) bool {
	for word := range strings.FieldsFuncSeq(line, func(r rune) bool { return !inName(r) }) {
		if is(word) {
			return true
		}
	}
	return false
}

// sameName compares names as the lookup does: it ignores case and underscores.
func sameName(a, b string) bool {
	return strings.EqualFold(strings.ReplaceAll(a, "_", ""), strings.ReplaceAll(b, "_", ""))
}

func inName(r rune) bool {
	return r == '_' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r) || r >= utf8.RuneSelf
}

// around returns the lines [from, to) around a line to focus on, at most limit bytes
// together. First it takes the lines before it, up to a blank line or a third of the room;
// then lines after it; then more lines before it if room is left. No line may be longer
// than limit.
func around(lines []string, limit, focus int) (from, to int) {
	from, to = focus, focus+1
	room := limit - len(lines[focus])
	lead := min(room, limit/3)
	for from > 0 && strings.TrimSpace(lines[from-1]) != "" && len(lines[from-1]) <= lead {
		from--
		lead -= len(lines[from])
		room -= len(lines[from])
	}
	for to < len(lines) && len(lines[to]) <= room {
		room -= len(lines[to])
		to++
	}
	for from > 0 && len(lines[from-1]) <= room {
		from--
		room -= len(lines[from])
	}
	return from, to
}
