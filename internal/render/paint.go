package render

import (
	"regexp"
	"slices"
	"strings"
)

// The control sequences that Paint writes. They name the terminal's own colours, which
// suit a dark and a light one.
const (
	sgrReset   = "\x1b[0m"
	sgrBold    = "\x1b[1m"
	sgrDim     = "\x1b[2m"
	sgrRed     = "\x1b[31m"
	sgrGreen   = "\x1b[32m"
	sgrYellow  = "\x1b[33m"
	sgrMagenta = "\x1b[35m"
	sgrCyan    = "\x1b[36m"
)

// Paint writes a text of a command for a terminal: Markdown as it is meant, headings of
// tables, ids, figures of relevance and hints in colour. The text is made visible first,
// so that no control sequence but those of Paint is in the result, whatever was stored.
func Paint(text string) string {
	var b strings.Builder
	b.Grow(len(text) + len(text)/8)
	fence, code := "", codePainter{}
	lines := slices.Collect(strings.Lines(Visible(text)))
	last := map[string]int{} // where each fence stands for the last time
	for i, line := range lines {
		if bare := strings.TrimSpace(line); strings.HasPrefix(bare, "```") {
			last[bare] = i
		}
	}
	for i, line := range lines {
		line, end := strings.TrimSuffix(line, "\n"), ""
		if len(line) > 0 || strings.HasSuffix(text, "\n") {
			end = "\n"
		}
		bare := strings.TrimSpace(line)
		switch {
		case fence != "":
			if bare == fence {
				fence = ""
				continue
			}
			b.WriteString("    " + code.line(line) + end)
		case opensFence(line, func(fence string) bool { return last[fence] > i }):
			language := strings.TrimLeft(bare, "`")
			fence, code = bare[:len(bare)-len(language)], newCodePainter(language)
		default:
			b.WriteString(paintLine(line) + end)
		}
	}
	painted := b.String()
	if !strings.HasSuffix(text, "\n") {
		painted = strings.TrimSuffix(painted, "\n")
	}
	return painted
}

// opensFence says that a line begins a block of code. An indented one may be a word of a folded
// text: it begins a block that ends.
func opensFence(line string, ends func(fence string) bool) bool {
	bare := strings.TrimSpace(line)
	language := strings.TrimLeft(bare, "`")
	fence := bare[:len(bare)-len(language)]
	return len(fence) >= 3 && (strings.HasPrefix(line, fence) || !strings.ContainsAny(language, " \t`") && ends(fence))
}

// PaintError writes an error's first line and its hint for a terminal.
func PaintError(text string) string {
	var b strings.Builder
	for line := range strings.Lines(Visible(text)) {
		for _, start := range []struct{ word, colour string }{{"recalld:", sgrBold + sgrRed}, {"hint:", sgrCyan}, {"warning:", sgrYellow}} {
			if rest, ok := strings.CutPrefix(line, start.word); ok {
				line = start.colour + start.word + sgrReset + rest
			}
		}
		b.WriteString(line)
	}
	return b.String()
}

var (
	idStart    = pattern(`^((?:\s*\d+\.)?\s*(?:- )?)((?:l|s|c|t|b|r|rc|mm)-[0-9a-z][0-9a-z-]{3,})( |$)`)
	relevance  = pattern(`(relevance )([01]\.\d\d)`)
	resultCell = pattern(`^(\S.{0,60}?\s{2,})(ok|ready|note|stale|paused|failed|unavailable)(\s{2,}|$)`)
	strong     = pattern(`(^|[\s(])\*\*([^\s*](?:[^*]*[^\s*])?)\*\*($|[^\w*])`)
)

// paintLine paints one visible line outside of code.
func paintLine(line string) string {
	switch {
	case line == "":
		return line
	case isTableHead(line), isTitle(line):
		return sgrBold + line + sgrReset
	case strings.HasPrefix(line, "#"):
		if title := strings.TrimLeft(line, "#"); strings.HasPrefix(title, " ") && len(line)-len(title) <= 6 {
			return sgrBold + strings.TrimSpace(title) + sgrReset
		}
	case strings.HasPrefix(strings.TrimSpace(line), "→ "):
		return sgrCyan + line + sgrReset
	case strings.HasPrefix(line, "warning: "):
		return sgrYellow + line + sgrReset
	case line == frameOpen || line == frameClose:
		return sgrDim + line + sgrReset
	}
	line = replace(idStart, line, "${1}"+sgrYellow+"${2}"+sgrReset+"${3}")
	line = resultCell().ReplaceAllStringFunc(line, func(cell string) string {
		parts := resultCell().FindStringSubmatch(cell)
		colour := sgrYellow
		switch parts[2] {
		case "ok", "ready":
			colour = sgrGreen
		case "failed", "unavailable":
			colour = sgrRed
		}
		return parts[1] + colour + parts[2] + sgrReset + parts[3]
	})
	line = relevance().ReplaceAllStringFunc(line, func(figure string) string {
		return figure[:len(figure)-4] + relevanceColour(figure[len(figure)-4:]) + figure[len(figure)-4:] + sgrReset
	})
	return replace(strong, paintSpans(line), "${1}"+sgrBold+"${2}"+sgrReset+"${3}")
}

// paintSpans paints the spans of code in a line, without the backquotes around them. As in
// CommonMark a span ends at as many backquotes as it began with, so those within one stay.
func paintSpans(line string) string {
	var b strings.Builder
	for {
		start := strings.IndexByte(line, '`')
		if start < 0 {
			return b.String() + line
		}
		rest := strings.TrimLeft(line[start:], "`")
		quote := line[start : len(line)-len(rest)]
		code, behind, closed := cutQuote(rest, quote)
		b.WriteString(line[:start])
		if !closed {
			b.WriteString(quote)
			line = rest
			continue
		}
		if len(code) > 2 && code[0] == ' ' && code[len(code)-1] == ' ' {
			code = code[1 : len(code)-1] // they part it from its backquotes
		}
		b.WriteString(sgrCyan + code + sgrReset)
		line = behind
	}
}

// cutQuote cuts a text around the first run of exactly as many backquotes.
func cutQuote(text, quote string) (before, after string, found bool) {
	for from := 0; ; {
		i := strings.IndexByte(text[from:], '`')
		if i < 0 {
			return "", "", false
		}
		i += from
		after = strings.TrimLeft(text[i:], "`")
		if from = len(text) - len(after); from-i == len(quote) {
			return text[:i], after, true
		}
	}
}

func replace(what func() *regexp.Regexp, line, with string) string {
	return what().ReplaceAllString(line, with)
}

// relevanceColour is the colour of a figure: green from what is sure of code on, yellow
// from what is shown of lessons on.
func relevanceColour(figure string) string {
	switch {
	case figure >= "0.75":
		return sgrGreen
	case figure >= "0.50":
		return sgrYellow
	}
	return sgrDim
}

// isTableHead says whether a line is the heading of a table: at least two columns of
// capitals.
func isTableHead(line string) bool {
	columns := 0
	for column := range strings.SplitSeq(line, "  ") {
		if strings.TrimSpace(column) == "" {
			continue
		}
		if columns++; column != strings.ToUpper(column) || strings.ContainsAny(column, "0123456789/.:_-") {
			return false
		}
	}
	return columns >= 2
}

// isTitle says whether a line is a title of help: a few words and a colon, nothing else.
func isTitle(line string) bool {
	return strings.HasSuffix(line, ":") && line[0] >= 'A' && line[0] <= 'Z' && len(line) <= 40 && !strings.ContainsAny(line, "`.,;()")
}
