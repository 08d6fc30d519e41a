package connect

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"strings"
)

// ownFile is a file that holds nothing but recalld's part. mark is a text in it, by which it
// is known again.
type ownFile struct{ text, mark string }

var _ edit = ownFile{}

// Put implements edit.
func (f ownFile) Put(text []byte) ([]byte, error) {
	if len(bytes.TrimSpace(text)) > 0 && !bytes.Contains(text, []byte(f.mark)) {
		return nil, errors.New("it is not a file of recalld")
	}
	return []byte(f.text), nil
}

// Take implements edit.
func (f ownFile) Take(text []byte) ([]byte, error) {
	if bytes.Contains(text, []byte(f.mark)) {
		return nil, nil
	}
	return text, nil
}

// copilotHooks is the file of hooks for Copilot CLI; see docs.github.com, "Hooks
// configuration".
func copilotHooks(o Options) edit {
	type hook struct {
		Type       string `json:"type"`
		Bash       string `json:"bash"`
		PowerShell string `json:"powershell"`
		Timeout    int    `json:"timeoutSec"`
	}
	events := []string{"sessionStart", "postToolUse", "postToolUseFailure", "sessionEnd"}
	if o.Prompts {
		events = append(events, "userPromptSubmitted")
	}
	command, rest := hookCommand("copilot-cli", o, shellWord)
	inPowerShell, restInPowerShell := hookCommand("copilot-cli", o, powerShellWord)
	hooks := map[string][]hook{}
	for _, event := range events {
		quoted := inPowerShell + event + restInPowerShell
		if strings.HasPrefix(quoted, "'") { // PowerShell prints a quoted word unless it is called
			quoted = "& " + quoted
		}
		hooks[event] = []hook{{"command", command + event + rest, quoted, hookTimeout}}
	}
	return ownFile{jsonText(map[string]any{"version": 1, "hooks": hooks}), hookMark("copilot-cli")}
}

//go:embed opencode.js
var openCodePlugin string

// openCodeHooks is the plugin for OpenCode; see opencode.ai/docs/plugins.
func openCodeHooks(o Options) edit {
	command := append([]string{o.Server.Command, "hook", "opencode"}, o.Server.Args[1:]...)
	settings := jsonText(map[string]any{"command": command, "prompts": o.Prompts})
	return ownFile{strings.Replace(openCodePlugin, "SETTINGS", strings.TrimSpace(settings), 1), "recalld connect opencode"}
}

// jsonText is a value as a text of lines, with its characters as they are.
func jsonText(value any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(value); err != nil {
		panic(err) // strings and numbers can be encoded
	}
	return b.String()
}
