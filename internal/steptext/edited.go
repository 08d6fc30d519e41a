package steptext

import (
	"encoding/json"
	"path"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// editors are the tools by which agents change files, in lower case.
var editors = map[string]bool{
	"edit": true, "multiedit": true, "write": true, "notebookedit": true, "notebook_edit": true, // Claude Code, Qwen Code, OpenCode
	"write_file": true, "replace": true, // Gemini CLI
	"create": true, "str_replace": true, "str_replace_editor": true, // Copilot
	"apply_patch": true, // Codex
}

// Edits says that a tool changes files.
func Edits(tool string) bool { return editors[strings.ToLower(tool)] }

// Edited is the name of the file that a tool changed, without its folder; empty if it is no
// tool that does. Of a patch it is the first file.
func Edited(tool memory.StepTool) string {
	if !Edits(tool.Name) {
		return ""
	}
	var input map[string]json.RawMessage
	if json.Unmarshal(tool.Input, &input) != nil {
		return ""
	}
	file := ""
	for _, key := range []string{"file_path", "filePath", "path", "notebook_path"} {
		if json.Unmarshal(input[key], &file) == nil && file != "" {
			break
		}
	}
	for _, key := range []string{"command", "input", "patch"} {
		var patch string
		if file != "" || json.Unmarshal(input[key], &patch) != nil {
			continue
		}
		for line := range strings.Lines(patch) {
			if _, name, ok := strings.Cut(line, " File: "); ok && strings.HasPrefix(line, "*** ") {
				file = strings.TrimSpace(name)
				break
			}
		}
	}
	if file == "" {
		return ""
	}
	return path.Base(strings.ReplaceAll(file, `\`, "/"))
}
