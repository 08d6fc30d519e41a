package scan

import (
	"strings"
)

// scanChangelog emits the entries of a change log that have more than one sentence: the
// first sentence with the rest.
func scanChangelog(text string, emit Emit) {
	var entry []string
	flush := func() {
		whole := dedent(strings.Join(entry, "\n"))
		entry = nil
		first := firstSentence(strings.SplitN(whole, "\n\n", 2)[0])
		if rest := strings.TrimSpace(oneLine(whole)); isProse(first, 4) && len(rest) > len(first)+60 {
			emit(Pair{Changelog, plainMarkdown(first), clip(strings.TrimSpace(rest[len(first):]))})
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		trimmed := strings.TrimSpace(line)
		starts := indentOf(line) <= 3 && len(trimmed) > 2 && strings.IndexByte("*-+", trimmed[0]) >= 0 && trimmed[1] == ' '
		switch {
		case starts:
			flush()
			entry = append(entry, strings.TrimSpace(trimmed[1:]))
		case trimmed != "" && indentOf(line) == 0:
			flush()
		case len(entry) > 0:
			entry = append(entry, trimmed)
		}
	}
	flush()
}
