package steptext

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/memory"
)

// Bounds for the part of a tool's input that a step keeps.
const (
	maxInputText   = 500 // characters of one string
	maxInputValues = 32  // strings and other values
	maxInputDepth  = 4
)

// targetKeys are the inputs that say what a tool acted on; bulkyKeys are the inputs with
// texts of files, which are in the files anyway.
var (
	targetKeys = []string{"file_path", "notebook_path", "filePath", "path", "absolute_path", "url"}
	bulkyKeys  = []string{"content", "new_source", "old_string", "new_string", "oldString", "newString", "edits", "file_text", "old_str", "new_str"}
)

// Shorten returns the part of a tool's input that a step keeps, and what the tool acted
// on. Steps of hooks and steps that are imported from a client's logs are shortened alike,
// so that the same step is the same text. What is no JSON object keeps nothing.
func Shorten(input json.RawMessage) (kept, target json.RawMessage) {
	var fields map[string]any
	decoder := json.NewDecoder(bytes.NewReader(input))
	decoder.UseNumber()
	if decoder.Decode(&fields) != nil {
		return nil, nil
	}
	for _, key := range targetKeys {
		if text, ok := fields[key].(string); ok && text != "" {
			target = Encode(Cut(text, memory.MaxPathText))
			break
		}
	}
	for _, key := range bulkyKeys {
		delete(fields, key)
	}
	left := maxInputValues
	return Encode(shortValue(fields, 0, &left)), target
}

// shortValue shortens strings, and drops deep and numerous values.
func shortValue(value any, depth int, left *int) any {
	*left--
	if *left < 0 || depth > maxInputDepth {
		return "…"
	}
	switch v := value.(type) {
	case string:
		return Cut(v, maxInputText)
	case []any:
		out := []any{}
		for _, one := range v {
			if *left <= 0 {
				break
			}
			out = append(out, shortValue(one, depth+1, left))
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for _, key := range slices.Sorted(maps.Keys(v)) { // the same input must give the same step
			if *left <= 0 {
				break
			}
			out[Cut(key, memory.MaxNameText)] = shortValue(v[key], depth+1, left)
		}
		return out
	}
	return value
}

// Encode writes a value that was read from JSON, or made of strings. What cannot be
// written is nil.
func Encode(value any) json.RawMessage {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(value) != nil {
		return nil
	}
	return bytes.TrimSpace(out.Bytes())
}

// Cut shortens a text to most characters, the last one an ellipsis.
func Cut(text string, most int) string {
	if len(text) <= most || utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}
