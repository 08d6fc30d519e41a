package scan

import (
	"strings"
)

// scanOBO reads the terms of an ontology in the OBO format (version 1.4 of its guide): one
// term a stanza, one tag and value a line. A term with its synonyms is paired with its
// definition.
func scanOBO(text string, emit Emit) {
	for stanza := range strings.SplitSeq(text, "\n[") {
		if !strings.HasPrefix(stanza, "Term]") {
			continue
		}
		var names []string
		definition := ""
		obsolete := false
		for line := range strings.Lines(stanza) {
			tag, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			switch tag {
			case "name":
				names = append(names, value)
			case "synonym":
				if s, ok := quoted(value); ok && len(names) < 4 && len(s) > 3 {
					names = append(names, s)
				}
			case "def":
				definition, _ = quoted(value)
			case "is_obsolete":
				obsolete = value == "true"
			}
		}
		if !obsolete && len(names) > 0 && wordCount(definition) >= 4 {
			emit(Pair{Gloss, strings.Join(names, ", "), definition})
		}
	}
}

// quoted returns the text between the first quotes of a value, in which a backslash escapes
// the next character.
func quoted(value string) (inside string, ok bool) {
	_, rest, ok := strings.Cut(value, `"`)
	if !ok {
		return "", false
	}
	var b strings.Builder
	for i := 0; i < len(rest); i++ {
		switch {
		case rest[i] == '"':
			return b.String(), true
		case rest[i] == '\\' && i+1 < len(rest):
			i++
		}
		b.WriteByte(rest[i])
	}
	return "", false
}
