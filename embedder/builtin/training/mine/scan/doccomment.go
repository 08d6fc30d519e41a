package scan

import (
	"strings"
)

// commentText removes comment marks and markup from a comment and returns the prose before
// the first tag, list or example.
func commentText(comment string) string {
	var out []string
	for line := range strings.Lines(comment) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#!") {
			continue // the line that names the interpreter of a script
		}
		line = strings.TrimSpace(strings.TrimLeft(line, "/*#-;!<\"'`"))
		line = strings.TrimSpace(strings.TrimRight(strings.TrimSuffix(line, "-->"), "*/#\"'`"))
		line = withoutTags(line)
		for _, tag := range []string{"\\brief", "@brief", "\\short", "@description"} {
			line = strings.TrimSpace(strings.TrimPrefix(line, tag))
		}
		first, _, _ := strings.Cut(line, " ")
		if endsProse(line) && (len(out) > 0 || strings.HasSuffix(first, ":")) {
			break
		}
		if line == "" && len(out) == 0 || strings.HasPrefix(line, "@") || strings.HasPrefix(line, "\\") || strings.HasPrefix(line, ":") {
			continue
		}
		out = append(out, line)
	}
	return strings.TrimSpace(strings.Join(out, "\n"))
}

// endsProse says whether a line of a doc comment ends the description: parameters,
// examples, rules.
func endsProse(line string) bool {
	for _, prefix := range []string{"@", "\\param", "\\return", ":param", ":type", ":return", ":raises", ">>>", "```", "~~~", "Args:", "Arguments:",
		"Parameters", "Returns", "Raises", "Example", "Usage", "Yields", "See Also", "References", "Note:", "----", "====", "-----", "TODO", "+----", "$ "} {
		if strings.HasPrefix(line, prefix) {
			return true
		}
	}
	return false
}

// withoutTags removes HTML, XML and Javadoc tags: "{@link Reader}" is Reader.
func withoutTags(line string) string {
	for {
		tag, rest, ok := between(line, "{@", "}")
		if !ok {
			break
		}
		_, word, _ := strings.Cut(tag, " ")
		before, _, _ := strings.Cut(line, "{@")
		line = before + word + rest
	}
	if !strings.Contains(line, "<") {
		return line
	}
	var b strings.Builder
	for {
		at := strings.IndexByte(line, '<')
		end := strings.IndexByte(line[max(at, 0):], '>')
		if at < 0 || end < 0 || end > 120 || at+1 < len(line) && !isTagStart(line[at+1]) {
			b.WriteString(line)
			return strings.TrimSpace(b.String())
		}
		b.WriteString(line[:at])
		if cref, _, ok := between(line[at:at+end], `cref="`, `"`); ok {
			b.WriteString(cref)
		}
		line = line[at+end+1:]
	}
}

func isTagStart(c byte) bool { return c == '/' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// withoutName removes the name of a function from the beginning of its description, as in
// Go: otherwise training would learn only the name.
func withoutName(sentence, name string) string {
	for _, prefix := range []string{name + " ", name + "() ", "`" + name + "` ", name + " - ", name + "(): "} {
		if rest, ok := strings.CutPrefix(sentence, prefix); ok && rest != "" {
			rest = strings.TrimLeft(rest, "-: ")
			if rest == "" {
				return sentence
			}
			return strings.ToUpper(rest[:1]) + rest[1:]
		}
	}
	return sentence
}
