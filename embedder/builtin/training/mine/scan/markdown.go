package scan

import (
	"strings"
)

// scanMarkdown emits the sections, questions and examples of Markdown, with or
// without front matter, JSX or directives.
func scanMarkdown(text string, emit Emit) {
	o := outline{emit: emit}
	defer o.end()
	text, title := frontMatter(text)
	if title != "" {
		o.heading(0, title)
	}
	var paragraph, block []string
	flush := func() {
		o.paragraph(strings.Join(paragraph, "\n"))
		paragraph = nil
	}
	fence := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		trimmed := strings.TrimSpace(line)
		if number, rest, ok := strings.Cut(trimmed, ". #"); ok && number != "" && strings.Trim(number, "0123456789") == "" {
			trimmed = "#" + rest // a numbered heading
		}
		if fence != "" {
			if strings.HasPrefix(trimmed, fence) {
				o.code(strings.Join(block, "\n"))
				fence, block = "", nil
				continue
			}
			block = append(block, line)
			continue
		}
		switch hashes := len(trimmed) - len(strings.TrimLeft(trimmed, "#")); {
		case strings.HasPrefix(trimmed, "```"), strings.HasPrefix(trimmed, "~~~"):
			flush()
			fence = trimmed[:3]
		case hashes > 0 && hashes <= 6 && strings.HasPrefix(trimmed[hashes:], " "):
			flush()
			o.heading(hashes, headingText(trimmed[hashes:]))
		case len(paragraph) == 1 && len(trimmed) > 2 && (strings.Trim(trimmed, "=") == "" || strings.Trim(trimmed, "-") == ""):
			depth := 1
			if trimmed[0] == '-' {
				depth = 2
			}
			o.heading(depth, headingText(paragraph[0]))
			paragraph = nil
		case trimmed == "":
			flush()
		case isBold(trimmed) && len(paragraph) == 0 && isQuestion(strings.Trim(trimmed, "* ")):
			o.heading(7, headingText(trimmed))
		case strings.HasPrefix(trimmed, "<summary>"):
			flush()
			o.heading(7, headingText(trimmed))
		case strings.HasPrefix(trimmed, "<") && strings.HasSuffix(trimmed, ">"), strings.HasPrefix(trimmed, "[//]:"), strings.HasPrefix(trimmed, ":::"),
			strings.HasPrefix(trimmed, "import "), strings.HasPrefix(trimmed, "{{"):
		case strings.HasPrefix(trimmed, "|"):
			tableRow(trimmed, emit)
			paragraph = append(paragraph, plainMarkdown(trimmed))
		default:
			paragraph = append(paragraph, plainMarkdown(trimmed))
		}
	}
	flush()
}

// tableRow emits the describing cell of a row with the other cells: the purpose of a
// command, option or key.
func tableRow(row string, emit Emit) {
	about := ""
	var others []string
	for cell := range strings.SplitSeq(strings.Trim(row, "| "), "|") {
		cell = strings.TrimSpace(strings.ReplaceAll(plainMarkdown(cell), "`", ""))
		switch {
		case cell == "" || strings.Trim(cell, ":- ") == "":
		case len(cell) > len(about) && isProse(cell, 3):
			if about != "" {
				others = append(others, about)
			}
			about = cell
		default:
			others = append(others, cell)
		}
	}
	if about != "" && len(others) > 0 {
		emit(Pair{Option, firstSentence(about), strings.Join(others, " ")})
	}
}

func isBold(line string) bool { return strings.HasPrefix(line, "**") && strings.HasSuffix(line, "**") }

// frontMatter removes the front matter of a page and returns its title.
func frontMatter(text string) (body, title string) {
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return text, ""
	}
	settings, body, ok := strings.Cut(rest, "\n---")
	if !ok {
		return text, ""
	}
	for line := range strings.Lines(settings) {
		if value, ok := strings.CutPrefix(line, "title:"); ok {
			title = strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	return body, title
}

// headingText removes anchors, links and emphasis from a heading.
func headingText(heading string) string {
	heading, _, _ = strings.Cut(heading, "{#")
	heading = strings.TrimRight(strings.TrimSpace(heading), "# ")
	return strings.TrimSpace(strings.ReplaceAll(plainMarkdown(heading), "`", ""))
}

// plainMarkdown keeps the text of links and images, and removes emphasis.
func plainMarkdown(line string) string {
	line = strings.ReplaceAll(line, "**", "")
	for {
		at := strings.Index(line, "](")
		if at < 0 {
			return withoutTags(line)
		}
		end := strings.IndexByte(line[at:], ')')
		start := strings.LastIndexByte(line[:at], '[')
		if end < 0 || start < 0 {
			return withoutTags(line)
		}
		head := strings.TrimSuffix(line[:start], "!")
		line = head + line[start+1:at] + line[at+end+1:]
	}
}
