package steptext

import (
	"bytes"
	"encoding/json"
	"path"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// Subject names what a tool was used on, so that a step can be recognized as the
// same one again: its target; else the file, page or question of its input; else
// the program that its command runs, with the arguments that are no flags. Two
// runs of "npm install" are the same, in whatever folder and with whatever flags.
// It is empty where the step does not say.
func Subject(tool memory.StepTool) string {
	if raw := tool.Target; len(raw) > 0 && string(raw) != "null" {
		var b bytes.Buffer
		if json.Compact(&b, raw) != nil {
			return string(raw)
		}
		return b.String()
	}
	var command string
	if json.Unmarshal(tool.Input, &command) == nil {
		return commandSubject(command)
	}
	var input map[string]json.RawMessage
	if json.Unmarshal(tool.Input, &input) != nil {
		return ""
	}
	for _, key := range []string{"command", "cmd", "script"} {
		if json.Unmarshal(input[key], &command) == nil && command != "" {
			return commandSubject(command)
		}
	}
	for _, key := range []string{"file_path", "filePath", "path", "notebook_path", "file", "url", "selector", "testId", "query", "pattern"} {
		var on string
		if json.Unmarshal(input[key], &on) == nil && on != "" {
			return on
		}
	}
	return ""
}

// before are words that stand before the program that a command is about.
var before = map[string]bool{"sudo": true, "env": true, "time": true, "nice": true, "exec": true, "command": true, "npx": true}

// commandSubject is the first program of a command line that does more than
// prepare, with its arguments.
func commandSubject(command string) string {
	for part := range strings.FieldsFuncSeq(command, func(r rune) bool { return r == ';' || r == '&' || r == '|' || r == '\n' }) {
		var words []string
		for word := range strings.FieldsSeq(part) {
			switch {
			case len(words) == 0 && (before[word] || strings.Contains(word, "=")):
			case len(words) > 0 && strings.HasPrefix(word, "-"):
			default:
				words = append(words, word)
			}
		}
		if len(words) == 0 || words[0] == "cd" || words[0] == "export" || words[0] == "set" || words[0] == "source" || words[0] == "." {
			continue
		}
		words[0] = path.Base(words[0])
		return strings.Join(words, " ")
	}
	return ""
}
