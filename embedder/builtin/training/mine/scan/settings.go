package scan

import (
	"strings"
)

// scanSettings emits comments on separate lines with the lines below them, in files whose
// comments begin with # or ;.
func scanSettings(text string, kind Kind, emit Emit) {
	var comment, below []string
	flush := func() {
		prose := oneLine(strings.Join(comment, " "))
		if len(below) > 0 && isProse(prose, 3) && len(prose) <= 600 {
			emit(Pair{kind, firstSentence(prose), dedent(strings.Join(below, "\n"))})
		}
		comment, below = nil, nil
	}
	const most = 6 // lines below a comment
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "":
			flush()
		case trimmed[0] == '#' || trimmed[0] == ';':
			if len(below) > 0 {
				flush()
			}
			comment = append(comment, strings.TrimSpace(strings.TrimLeft(trimmed, "#; ")))
		case len(comment) > 0 && len(below) < most:
			below = append(below, line)
		}
	}
	flush()
}

// scanYAML emits the pairs of scanSettings, and the named steps of pipelines and playbooks
// with their commands.
func scanYAML(text string, emit Emit) {
	scanSettings(text, Config, emit)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		name, ok := strings.CutPrefix(strings.TrimSpace(line), "- name:")
		name = strings.Trim(strings.TrimSpace(name), `"'`)
		if !ok || wordCount(name) < 2 {
			continue
		}
		var step []string
		indent := indentOf(line)
		for _, next := range lines[i+1:] {
			if strings.TrimSpace(next) == "" || indentOf(next) <= indent || len(step) == 12 {
				break
			}
			if !strings.HasPrefix(strings.TrimSpace(next), "#") {
				step = append(step, next)
			}
		}
		if len(step) > 0 && !strings.Contains(step[0], "href:") {
			emit(Pair{Command, name, strings.TrimPrefix(dedent(strings.Join(step, "\n")), "run: ")})
		}
	}
}
