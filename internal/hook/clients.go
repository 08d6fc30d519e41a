package hook

import (
	"encoding/json"
	"strings"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/steptext"
)

// moment is what happens at an event.
type moment int

const (
	starts moment = iota + 1 // a session
	uses                     // a tool
	fails                    // a tool, in clients that have an event of its own for it
	asks                     // a user's prompt
	ends                     // a session
)

// client is how the hooks of one client speak.
type client struct {
	// name is the client's name over MCP too, so that a session opened by its hooks is the
	// current one for its MCP calls.
	name   string
	events map[string]moment
	// read reads a payload that has a form of its own.
	read func(text []byte) (payload, error)
	// result says how a tool ended.
	result func(p payload, isFailure bool, env Environment) result
	// flat says that the client takes context from a hook without the event's name.
	flat bool
}

// clientOf returns the client with a name for recalld connect.
func clientOf(name string) (client, bool) {
	claude := map[string]moment{"SessionStart": starts, "PostToolUse": uses, "PostToolUseFailure": fails, "UserPromptSubmit": asks, "SessionEnd": ends}
	switch name {
	case "claude-code":
		return client{name: name, events: claude, result: claudeResult}, true
	case "codex":
		return client{name: "codex-mcp-client", events: claude, result: codexResult}, true
	case "gemini-cli":
		return client{name: "gemini-cli-mcp-client", result: geminiResult,
			events: map[string]moment{"SessionStart": starts, "AfterTool": uses, "BeforeAgent": asks, "SessionEnd": ends}}, true
	case "qwen-code": // its name over MCP has that of the server in it
		return client{name: "qwen-cli-mcp-client-recalld", events: claude, result: geminiResult}, true
	case "copilot-cli":
		return client{name: name, flat: true, read: readCopilot, result: copilotResult,
			events: map[string]moment{"sessionStart": starts, "postToolUse": uses, "postToolUseFailure": fails, "userPromptSubmitted": asks, "sessionEnd": ends}}, true
	case "opencode": // the payload is that of our plugin
		return client{name: name, events: claude, result: openCodeResult}, true
	}
	return client{}, false
}

// isOwn says that a tool is one of recalld's. A query to the memory is not a step to
// remember. Clients put the server's name in front: mcp__recalld__recall, mcp_recalld_recall,
// recalld_recall, recalld-recall. Claude Code puts the plugin's name before that of its
// server: mcp__plugin_recalld_recalld__recall.
func isOwn(tool string) bool {
	tool = strings.TrimLeft(strings.TrimPrefix(tool, "mcp"), "_")
	if names, ok := strings.CutPrefix(tool, "plugin_"); ok {
		server, _, _ := strings.Cut(names, "__")
		return strings.HasSuffix(server, "_recalld")
	}
	return strings.HasPrefix(tool, "recalld_") || strings.HasPrefix(tool, "recalld-")
}

// textOf returns the text of a JSON value: a text, a list of parts with texts, or an object whose
// content is such a list, as MCP has it.
func textOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	type part struct {
		Text string `json:"text"`
	}
	var parts []part
	if json.Unmarshal(raw, &parts) != nil {
		var whole struct {
			Content []part `json:"content"`
		}
		_ = json.Unmarshal(raw, &whole) // another form has no text
		parts = whole.Content
	}
	var texts []string
	for _, p := range parts {
		texts = append(texts, p.Text)
	}
	return strings.Join(texts, "\n")
}

// geminiResult reads what Gemini CLI and Qwen Code report: the text for the model. For a
// command it lists the output and the exit code.
func geminiResult(p payload, isFailure bool, _ Environment) result {
	var r struct {
		Content json.RawMessage `json:"llmContent"`
		Error   *struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	_ = json.Unmarshal(p.ToolResponse, &r) // another form has no error
	text := textOf(r.Content)
	if isFailure {
		text = p.Error
	}
	if p.ToolName == "run_shell_command" {
		output, code := steptext.ListedResult(text)
		if code != 0 || !isFailure && r.Error == nil {
			return ended(output, code)
		}
	}
	switch {
	case isFailure:
		return failed(text, p.IsInterrupt)
	case r.Error != nil:
		return failed(firstText(r.Error.Message, text), false)
	}
	return result{outcome: memory.Outcome{OK: true}}
}

// codexResult reads what Codex reports: the output of a command without its exit code. The
// code is in the session's transcript, which Codex writes before it runs the hook. Where it
// is not, there is no result.
func codexResult(p payload, _ bool, env Environment) result {
	if p.ToolName != "Bash" {
		return claudeResult(p, false, env)
	}
	if env.Tail == nil || p.Transcript == "" || p.ToolUseID == "" {
		return result{}
	}
	tail, err := env.Tail(p.Transcript)
	if err != nil {
		return result{}
	}
	for line := range strings.Lines(string(tail)) {
		if !strings.Contains(line, p.ToolUseID) || !strings.Contains(line, `"exit_code"`) {
			continue
		}
		var l struct {
			Payload struct {
				Item struct {
					ID       string `json:"id"`
					ExitCode *int   `json:"exit_code"`
				} `json:"item"`
			} `json:"payload"`
		}
		if json.Unmarshal([]byte(line), &l) == nil && l.Payload.Item.ID == p.ToolUseID && l.Payload.Item.ExitCode != nil {
			return ended(textOf(p.ToolResponse), *l.Payload.Item.ExitCode)
		}
	}
	return result{}
}

// readCopilot reads the payload of Copilot CLI; see docs.github.com, "Hooks configuration".
func readCopilot(text []byte) (payload, error) {
	var in struct {
		SessionID string          `json:"sessionId"`
		Cwd       string          `json:"cwd"`
		Prompt    string          `json:"prompt"`
		Tool      string          `json:"toolName"`
		Arguments json.RawMessage `json:"toolArgs"`
		Result    json.RawMessage `json:"toolResult"`
		Error     json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return payload{}, err
	}
	var encoded string
	if json.Unmarshal(in.Arguments, &encoded) == nil && json.Valid([]byte(encoded)) {
		in.Arguments = json.RawMessage(encoded)
	}
	p := payload{SessionID: in.SessionID, Cwd: in.Cwd, ToolName: in.Tool, ToolInput: in.Arguments, ToolResponse: in.Result, Prompt: in.Prompt}
	var e struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(in.Error, &p.Error) != nil && json.Unmarshal(in.Error, &e) == nil {
		p.Error = e.Message
	}
	return p, nil
}

func copilotResult(p payload, isFailure bool, _ Environment) result {
	if isFailure {
		return failed(p.Error, false)
	}
	var r struct {
		Type string `json:"resultType"`
		Text string `json:"textResultForLlm"`
	}
	_ = json.Unmarshal(p.ToolResponse, &r) // another form has no error
	switch r.Type {
	case "denied", "rejected":
		return failed(r.Text, true)
	case "", "success":
	default:
		return failed(r.Text, false)
	}
	if p.ToolName == "bash" || p.ToolName == "powershell" {
		return ended(steptext.MarkedResult(r.Text))
	}
	return result{outcome: memory.Outcome{OK: true}}
}

// openCodeResult reads what our plugin for OpenCode reports.
func openCodeResult(p payload, isFailure bool, _ Environment) result {
	if isFailure {
		return failed(p.Error, p.IsInterrupt)
	}
	var r struct {
		Output string `json:"output"`
		Exit   int    `json:"exit"`
	}
	_ = json.Unmarshal(p.ToolResponse, &r) // another form has no exit code
	if p.ToolName == "bash" {
		return ended(r.Output, r.Exit)
	}
	return result{outcome: memory.Outcome{OK: true}}
}
