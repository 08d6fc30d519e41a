package agentctx

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/recalld/recalld/internal/memory"
)

// Text is what an entry is found by: its name, as it is and in words, what it is for,
// and of a rule or reference what it says, of a tool its server and its parameters.
// Guidance is not among it: it says how a tool is used, by those who have found it.
// It has at most memory.MaxReferenceText characters.
func Text(e memory.CatalogueEntry) string {
	lines := []string{heading(e.Ref), e.Description}
	if e.Type == memory.Tool {
		lines = append(lines, parameters(e.InputSchema))
	} else {
		lines = append(lines, e.Content)
	}
	lines = slices.DeleteFunc(lines, func(line string) bool { return line == "" })
	return firstRunes(strings.Join(lines, "\n"), memory.MaxReferenceText)
}

// heading is the name of an entry: "read_file: read file (filesystem)".
func heading(ref memory.Ref) string {
	h := ref.Name
	if words := strings.Join(splitName(ref.Name), " "); words != ref.Name {
		h += ": " + words
	}
	if ref.ServerName != "" {
		h += " (" + ref.ServerName + ")"
	}
	return h
}

// splitName returns the words of an identifier in lower case: readFile, read_file and
// HTTP-Server are of two.
func splitName(name string) []string {
	var words []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			words = append(words, strings.ToLower(string(word)))
			word = word[:0]
		}
	}
	runes := []rune(name)
	for i, r := range runes {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			flush()
			continue
		}
		// A word begins at a capital that follows a small letter, and at the last
		// capital of several: "HTTPServer".
		if unicode.IsUpper(r) && i > 0 && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			flush()
		}
		word = append(word, r)
	}
	flush()
	return words
}

// Bounds of what is read of a schema: deeper or later parameters say little about the
// purpose of a tool.
const (
	maxSchemaDepth = 3
	maxParameters  = 64
)

// schema is what is read of an input schema.
type schema struct {
	Description string                     `json:"description"`
	Properties  map[string]json.RawMessage `json:"properties"`
	Items       json.RawMessage            `json:"items"`
}

// parameters lists the parameters of a tool, a line each: "max_lines: how many lines".
// They are sorted by name, so that the order of a schema changes no text. An invalid
// schema has none.
func parameters(input json.RawMessage) string {
	var lines []string
	var walk func(raw json.RawMessage, depth int)
	walk = func(raw json.RawMessage, depth int) {
		var x schema
		if depth > maxSchemaDepth || len(raw) == 0 || json.Unmarshal(raw, &x) != nil {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(x.Properties)) {
			if len(lines) >= maxParameters {
				return
			}
			var property schema
			line := strings.Join(splitName(name), " ")
			if json.Unmarshal(x.Properties[name], &property) == nil && property.Description != "" {
				line += ": " + property.Description
			}
			lines = append(lines, line)
			walk(x.Properties[name], depth+1)
		}
		walk(x.Items, depth+1)
	}
	walk(input, 1)
	return strings.Join(lines, "\n")
}

// firstRunes keeps the first most characters of a text.
func firstRunes(text string, most int) string {
	if len(text) <= most {
		return text
	}
	runes := []rune(text)
	return string(runes[:min(len(runes), most)])
}
