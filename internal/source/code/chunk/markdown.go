package chunk

import (
	"bytes"
	"strings"
)

// headingSeparator joins the headings on the way to a section.
const headingSeparator = " > "

// markdownUnits returns the sections of a Markdown text, named by the path of their
// headings. Headings in code blocks do not count.
func markdownUnits(t *text) []unit {
	t.cost = make([]int, t.lines())
	var units []unit
	var path [7]string // by level; 0 is unused
	fence := []byte(nil)
	begin := func(line, level int, title string) {
		if n := len(units); n > 0 {
			units[n-1].last = line - 1
		}
		path[level] = title
		clear(path[level+1:])
		var names []string
		for _, p := range path {
			if p != "" {
				names = append(names, Truncate(p, maxSymbol))
			}
		}
		units = append(units, unit{first: line, last: t.lines() - 1, name: strings.Join(names, headingSeparator)})
	}
	start := frontMatter(t)
	for i := start; i < t.lines(); i++ {
		line := t.trimmed(i)
		t.cost[i] = paragraphCost(t, i)
		if fence != nil {
			t.cost[i] += costWithin / 2
			if f := fenceOf(line); f != nil && f[0] == fence[0] && len(f) >= len(fence) && len(f) == len(line) {
				fence = nil
			}
			continue
		}
		if fence = fenceOf(line); fence != nil || t.indent(i) > 3 {
			continue
		}
		if level, title := heading(line); level > 0 {
			begin(i, level, title)
			continue
		}
		// A line of = or - makes the line above it a heading.
		if level := underline(line); level > 0 && i > start && isParagraph(t, i-1) {
			if n := len(units); n == 0 || units[n-1].first < i-1 {
				begin(i-1, level, string(t.trimmed(i-1)))
			}
		}
	}
	return units
}

// frontMatter returns the line after the front matter, which is between two lines of
// "---" at the start of some files.
func frontMatter(t *text) int {
	if string(t.trimmed(0)) != "---" {
		return 0
	}
	for i := 1; i < min(t.lines(), 200); i++ {
		if string(t.trimmed(i)) == "---" {
			return i + 1
		}
	}
	return 0
}

// fenceOf returns the ``` or ~~~ at the start of a line.
func fenceOf(line []byte) []byte {
	if len(line) < 3 || line[0] != '`' && line[0] != '~' {
		return nil
	}
	n := len(line) - len(bytes.TrimLeft(line, string(line[:1])))
	if n < 3 {
		return nil
	}
	return line[:n]
}

func heading(line []byte) (level int, title string) {
	for level < len(line) && line[level] == '#' {
		level++
	}
	if level == 0 || level > 6 || level < len(line) && line[level] != ' ' && line[level] != '\t' {
		return 0, ""
	}
	return level, string(bytes.TrimSpace(bytes.TrimRight(bytes.TrimSpace(line[level:]), "#")))
}

func underline(line []byte) int {
	switch {
	case len(line) > 1 && len(bytes.Trim(line, "=")) == 0:
		return 1
	case len(line) > 1 && len(bytes.Trim(line, "-")) == 0:
		return 2
	}
	return 0
}

// isParagraph reports whether a line can be the text of an underlined heading: it is not
// a list, quote, table or rule.
func isParagraph(t *text, i int) bool {
	line := t.trimmed(i)
	if len(line) == 0 || bytes.IndexByte([]byte("-*+>|#`~="), line[0]) >= 0 {
		return false
	}
	return i == 0 || t.blank(i-1)
}

// textUnits returns one unit, split at paragraphs, for texts without known structure.
func textUnits(t *text) []unit {
	t.cost = make([]int, t.lines())
	for i := range t.cost {
		t.cost[i] = paragraphCost(t, i)
	}
	return []unit{{first: 0, last: t.lines() - 1}}
}

// paragraphCost makes the start of a paragraph cheap, the less it is indented the
// cheaper.
func paragraphCost(t *text, i int) int {
	if i > 0 && t.blank(i-1) {
		return t.indent(i)
	}
	return 20 + t.indent(i)
}
