package agentlog

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/recalld/recalld/internal/steptext"
)

// codexPayload is the payload of a line of Codex's log.
type codexPayload struct {
	Type string `json:"type"`
	// Of session_meta.
	ID        string `json:"id"`
	Cwd       string `json:"cwd"`
	Timestamp stamp  `json:"timestamp"`
	Git       struct {
		Branch string `json:"branch"`
	} `json:"git"`
	// Of items.
	Name      string          `json:"name"`
	Namespace string          `json:"namespace"` // of a tool of an MCP server: mcp__SERVER
	CallID    string          `json:"call_id"`
	Arguments json.RawMessage `json:"arguments"` // an object, or one in a string
	Input     json.RawMessage `json:"input"`
	Output    json.RawMessage `json:"output"`
	Action    struct {
		Command []string `json:"command"`
	} `json:"action"`
	Message json.RawMessage `json:"message"`
}

func (r *reader) codex(text []byte) error {
	var l struct {
		Type      string       `json:"type"`
		Timestamp stamp        `json:"timestamp"`
		Payload   codexPayload `json:"payload"`
	}
	var kind struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(text, &kind); err != nil {
		return err
	}
	if kind.Type != "session_meta" && kind.Type != "response_item" && kind.Type != "event_msg" {
		return nil
	}
	if err := json.Unmarshal(text, &l); err != nil {
		return err
	}
	p, at := l.Payload, l.Timestamp.Time
	switch {
	case l.Type == "session_meta":
		r.begin(Session{ID: p.ID, Dir: p.Cwd, Branch: p.Git.Branch, Started: cmp.Or(p.Timestamp.Time, at)})
	case p.Type == "user_message":
		r.begin(Session{Title: titleOf(textOf(p.Message))})
	case p.Type == "function_call":
		var inside string
		if json.Unmarshal(p.Arguments, &inside) == nil {
			p.Arguments = json.RawMessage(inside)
		}
		r.asks(codexCall(p.CallID, strings.TrimPrefix(p.Namespace+"__"+p.Name, "__"), p.Arguments))
	case p.Type == "local_shell_call":
		r.asks(codexCall(p.CallID, "shell", steptext.Encode(map[string]any{"command": p.Action.Command})))
	case p.Type == "custom_tool_call":
		r.asks(Call{ID: p.CallID, Tool: p.Name, Input: steptext.Encode(map[string]any{"input": p.Input})})
	case p.Type == "function_call_output", p.Type == "custom_tool_call_output", p.Type == "local_shell_call_output":
		r.answer(p.CallID, func(c *Call) { c.At = at; c.codexResult(p.Output) })
	}
	return nil
}

// codexCall names a command as Codex's hooks do: the tool Bash with one command line.
func codexCall(id, tool string, input json.RawMessage) Call {
	c := Call{ID: id, Tool: tool, Input: input}
	switch tool {
	case "shell", "shell_command", "exec_command", "local_shell", "container.exec":
	default:
		return c
	}
	var in struct {
		Command json.RawMessage `json:"command"`
		Cmd     string          `json:"cmd"`
	}
	if json.Unmarshal(input, &in) != nil {
		return c
	}
	var line string
	var words []string
	if json.Unmarshal(in.Command, &line) != nil && json.Unmarshal(in.Command, &words) == nil {
		if line = strings.Join(words, " "); len(words) == 3 && strings.HasSuffix(words[1], "c") && strings.HasPrefix(words[1], "-") {
			line = words[2] // bash -lc COMMAND
		}
	}
	if line = cmp.Or(line, in.Cmd); line != "" {
		c.Tool, c.Input = "Bash", steptext.Encode(map[string]string{"command": line})
	}
	return c
}

// codexResult reads an output: an object with the exit code, or a text that says it. Any other
// object is what the command or tool itself wrote.
func (c *Call) codexResult(raw json.RawMessage) {
	text := wholeText(raw) // an object that was cut could not be read
	var out struct {
		Output   *string `json:"output"`
		Metadata *struct {
			ExitCode int `json:"exit_code"`
		} `json:"metadata"`
	}
	code := 0
	switch {
	case strings.HasPrefix(text, "{") && json.Unmarshal([]byte(text), &out) == nil && out.Output != nil && out.Metadata != nil:
		text, code = *out.Output, out.Metadata.ExitCode
	case strings.HasPrefix(text, "Exit code: "), strings.HasPrefix(text, "Chunk ID: "), strings.HasPrefix(text, "Wall time: "):
		said, output, _ := strings.Cut(text, "Output:\n")
		for line := range strings.SplitSeq(said, "\n") {
			for _, before := range []string{"Exit code: ", "Process exited with code "} {
				if n, ok := steptext.ExitCode(line, before); ok {
					code = n
				}
			}
		}
		text = output
	case strings.HasPrefix(text, "execution error:"), strings.HasPrefix(text, "failed to "), strings.HasPrefix(text, "apply_patch verification failed"):
		c.Failed, c.Error = true, head(text)
		return
	}
	c.command(head(text), code)
}

// command fills in the result of a command as the tool Bash has it.
func (c *Call) command(output string, code int) {
	if code != 0 {
		c.Failed, c.Error = true, "Exit code "+strconv.Itoa(code)+"\n"+output
		return
	}
	c.Response = steptext.Encode(map[string]string{"stdout": output})
}
