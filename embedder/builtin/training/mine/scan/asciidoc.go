package scan

import (
	"strings"
)

// scanAsciiDoc emits the sections, examples and described options of AsciiDoc, the format
// of Git's and Spring's documentation.
func scanAsciiDoc(text string, emit Emit) {
	o := outline{emit: emit}
	defer o.end()
	lines := strings.Split(plainAsciiDoc(text), "\n")
	var paragraph []string
	flush := func() {
		o.paragraph(strings.Join(paragraph, "\n"))
		paragraph = nil
	}
	for i := 0; i < len(lines); i++ {
		line := strings.TrimRight(lines[i], " \r")
		equals := len(line) - len(strings.TrimLeft(line, "="))
		switch {
		case equals > 0 && equals <= 6 && strings.HasPrefix(line[equals:], " "):
			flush()
			o.heading(equals, strings.ReplaceAll(line[equals:], "`", ""))
		case len(paragraph) == 1 && isUnderline(line) && abs(len(line)-len(paragraph[0])) <= 2:
			title := paragraph[0]
			paragraph = nil
			o.heading(map[byte]int{'=': 1, '-': 2, '~': 3, '^': 4, '+': 5}[line[0]]+1, title)
		case strings.HasPrefix(line, "----") || strings.HasPrefix(line, "...."):
			flush()
			var block []string
			mark := line
			for i++; i < len(lines) && strings.TrimRight(lines[i], " \r") != mark; i++ {
				block = append(block, lines[i])
			}
			o.code(strings.Join(block, "\n"))
		case strings.HasSuffix(line, "::") && len(line) > 4:
			flush()
			term := line[:len(line)-2]
			if first := o.first(); first != "" {
				term = first + " " + term
			}
			if text := description(lines, i+1); text != "" {
				emit(Pair{Option, strings.ReplaceAll(term, "`", ""), text})
			}
		case strings.HasPrefix(line, "["), strings.HasPrefix(line, "//"), strings.HasPrefix(line, ":"), strings.HasPrefix(line, "include::"), line == "+":
			flush()
		case line == "":
			flush()
		default:
			paragraph = append(paragraph, strings.TrimSpace(line))
		}
	}
	flush()
}

var asciiDocLink = compiled(`\[\[[^\]\n]*\]\]|<<[^,>\n]*,([^>\n]*)>>|(?:link|xref):[^\[\n]*\[([^\]\n]*)\]`)

// plainAsciiDoc removes anchors and keeps the text of references.
func plainAsciiDoc(text string) string {
	return asciiDocLink().ReplaceAllString(text, "$1$2")
}

// first returns the title of a manual without its number: "git-add(1)" is
// "git-add".
func (o *outline) first() string {
	if len(o.path) == 0 {
		return ""
	}
	name, _, _ := strings.Cut(o.path[0], "(")
	if wordCount(name) > 2 {
		return ""
	}
	return name
}

// description returns the first paragraph below a term.
func description(lines []string, from int) string {
	var out []string
	for _, line := range lines[from:] {
		trimmed := strings.TrimSpace(line)
		if trimmed == "" && len(out) == 0 || strings.HasSuffix(trimmed, "::") && len(out) == 0 {
			continue
		}
		if trimmed == "" || trimmed == "+" || strings.HasSuffix(trimmed, "::") {
			break
		}
		out = append(out, trimmed)
	}
	return clip(strings.Join(out, " "))
}

func abs(n int) int { return max(n, -n) }
