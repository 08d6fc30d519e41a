package scan

import (
	"strings"
)

// examples emits the examples in a doc comment with the sentences before them:
// blocks between fences, and sessions of Python (>>>) and Elixir (iex>).
func examples(comment string, emit Emit) {
	if !strings.Contains(comment, "```") && !strings.Contains(comment, ">>> ") && !strings.Contains(comment, "iex> ") {
		return
	}
	only := func(p Pair) {
		if p.Kind == Example {
			emit(p)
		}
	}
	o := outline{emit: only}
	var paragraph, session, block []string
	flush := func() {
		o.paragraph(strings.Join(paragraph, "\n"))
		o.code(strings.Join(session, "\n"))
		paragraph, session = nil, nil
	}
	fenced := false
	for line := range strings.Lines(comment) {
		line = strings.TrimRight(line, " \r\n")
		bare := strings.TrimLeft(line, " \t/*!#")
		switch prompt := promptOf(bare); {
		case strings.HasPrefix(bare, "```"):
			flush()
			if fenced {
				o.code(strings.Join(block, "\n"))
				block = nil
			}
			fenced = !fenced
		case fenced:
			block = append(block, withoutMark(line))
		case prompt != "":
			if len(session) == 0 {
				flush()
			}
			session = append(session, strings.TrimPrefix(bare, prompt))
		case bare == "" || isUnderline(bare):
			flush()
		case len(session) == 0:
			paragraph = append(paragraph, plainREST(bare))
		}
	}
	flush()
}

// withoutMark removes the comment mark from a line, but not the marks of comments in an
// example.
func withoutMark(line string) string {
	for _, mark := range []string{"///", "//!", "//", "*", "#"} {
		if rest, ok := strings.CutPrefix(strings.TrimLeft(line, " \t"), mark); ok {
			return strings.TrimPrefix(rest, " ")
		}
	}
	return line
}

// promptOf returns the prompt at the beginning of a line of a session.
func promptOf(line string) string {
	for _, prompt := range []string{">>> ", "... ", "iex> ", "...> "} {
		if strings.HasPrefix(line, prompt) {
			return prompt
		}
	}
	return ""
}
