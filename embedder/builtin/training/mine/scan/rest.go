package scan

import (
	"strings"
)

// scanREST emits the sections, questions and examples of reStructuredText.
func scanREST(text string, emit Emit) {
	o := outline{emit: emit}
	defer o.end()
	depths := map[byte]int{} // by the underline character, in order of appearance
	lines := strings.Split(text, "\n")
	var paragraph []string
	flush := func() {
		o.paragraph(strings.Join(paragraph, "\n"))
		paragraph = nil
	}
	for i := 0; i < len(lines); i++ {
		line := strings.TrimRight(lines[i], " \r")
		switch {
		case isUnderline(line) && len(paragraph) > 0 && len(line)+2 >= len(paragraph[len(paragraph)-1]):
			title := paragraph[len(paragraph)-1]
			paragraph = paragraph[:len(paragraph)-1]
			flush()
			if depths[line[0]] == 0 {
				depths[line[0]] = len(depths) + 1
			}
			o.heading(depths[line[0]], strings.ReplaceAll(plainREST(title), "`", ""))
		case isUnderline(line): // the line above a heading
		case strings.HasPrefix(line, ".. code"), strings.HasPrefix(line, ".. sourcecode"):
			flush()
			var block string
			block, i = indentedBlock(lines, i+1)
			o.code(withoutOptions(block))
		case strings.HasPrefix(line, ".. ") || line == "..":
			flush()
			if isAside(line) {
				continue
			}
			_, i = indentedBlock(lines, i+1)
		case strings.HasSuffix(line, "::") && strings.TrimSpace(line) != "::":
			paragraph = append(paragraph, plainREST(strings.TrimSpace(line[:len(line)-1])))
			flush()
			var block string
			block, i = indentedBlock(lines, i+1)
			o.code(block)
		case strings.TrimSpace(line) == "":
			flush()
		default:
			paragraph = append(paragraph, plainREST(strings.TrimSpace(line)))
		}
	}
	flush()
}

// isUnderline says whether a line consists of one repeated mark, as under headings.
func isUnderline(line string) bool {
	return len(line) >= 3 && strings.IndexByte("=-~^\"'*+#`.:_", line[0]) >= 0 && strings.Trim(line, line[:1]) == ""
}

// isAside says whether a directive contains ordinary text.
func isAside(line string) bool {
	for _, name := range []string{"note", "tip", "warning", "caution", "important", "versionadded", "versionchanged", "seealso"} {
		if strings.HasPrefix(line, ".. "+name) {
			return true
		}
	}
	return false
}

// indentedBlock returns the indented lines from an index on, and the index of the last one.
func indentedBlock(lines []string, from int) (block string, last int) {
	last = from - 1
	for i := from; i < len(lines); i++ {
		if strings.TrimSpace(lines[i]) == "" {
			continue
		}
		if indentOf(lines[i]) == 0 {
			break
		}
		last = i
	}
	return strings.Join(lines[from:last+1], "\n"), last
}

// withoutOptions removes the options of a directive from its block.
func withoutOptions(block string) string {
	lines := strings.Split(block, "\n")
	for len(lines) > 0 && strings.HasPrefix(strings.TrimSpace(lines[0]), ":") {
		lines = lines[1:]
	}
	return strings.Join(lines, "\n")
}

// plainREST replaces roles and references by their text: :class:`~a.B` is B.
func plainREST(line string) string {
	line = strings.ReplaceAll(strings.ReplaceAll(line, "``", "`"), "**", "")
	for {
		start := strings.Index(line, ":`")
		if start < 0 {
			return line
		}
		role := strings.LastIndexByte(line[:start], ':')
		if role < 0 || strings.ContainsAny(line[role+1:start], " \t") {
			line = line[:start] + " `" + line[start+2:]
			continue
		}
		line = line[:role] + "`" + strings.TrimPrefix(line[start+2:], "~")
	}
}
