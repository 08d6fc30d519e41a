package agentlog

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"strings"

	"github.com/recalld/recalld/internal/steptext"
)

// geminiMessage is a message of a chat, or in a log of lines also its first line.
type geminiMessage struct {
	SessionID string          `json:"sessionId"`
	StartTime stamp           `json:"startTime"`
	Timestamp stamp           `json:"timestamp"`
	Type      string          `json:"type"`
	Content   json.RawMessage `json:"content"`
	ToolCalls []struct {
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Args      json.RawMessage `json:"args"`
		Status    string          `json:"status"`
		Timestamp stamp           `json:"timestamp"`
		Result    json.RawMessage `json:"result"`
	} `json:"toolCalls"`
	Messages []json.RawMessage `json:"messages"`
}

// document reads a chat that is one JSON value over several lines. It says whether it was.
func (r *reader) document(in *bufio.Reader) (bool, error) {
	start, _ := in.Peek(in.Size())
	if first, _, ok := bytes.Cut(start, []byte("\n")); ok && json.Valid(first) {
		return false, nil
	}
	text, err := io.ReadAll(io.LimitReader(in, maxDocument+1))
	switch {
	case err != nil:
		r.problem("%v", err)
		return true, nil
	case len(text) > maxDocument:
		r.problem("the file has over %d bytes", maxDocument)
		return true, nil
	}
	if why := r.gemini(text); why != nil {
		r.problem("%v", why)
	}
	return true, r.err
}

func (r *reader) gemini(text []byte) error {
	var m geminiMessage
	if err := json.Unmarshal(text, &m); err != nil {
		return err
	}
	r.begin(Session{ID: m.SessionID, Started: m.StartTime.Time})
	for n, one := range m.Messages {
		if why := r.geminiMessage(one); why != nil {
			r.problem("message %d: %v", n+1, why)
		}
	}
	if m.Type == "" {
		return nil
	}
	return r.geminiMessage(text)
}

func (r *reader) geminiMessage(text []byte) error {
	var m geminiMessage
	if err := json.Unmarshal(text, &m); err != nil {
		return err
	}
	at := m.Timestamp.Time
	if m.Type == "user" {
		r.begin(Session{Title: titleOf(textOf(m.Content)), Started: at})
	}
	for _, t := range m.ToolCalls {
		if t.Status != "success" && t.Status != "error" && t.Status != "cancelled" {
			continue
		}
		r.asks(Call{ID: t.ID, Tool: t.Name, Input: t.Args})
		r.answer(t.ID, func(c *Call) {
			c.At = cmp.Or(t.Timestamp.Time, at)
			c.Interrupted = t.Status == "cancelled"
			c.parts(t.Result, t.Status != "success")
		})
	}
	return nil
}

// parts reads the parts of a function's response, which Gemini CLI and Qwen Code share.
func (c *Call) parts(raw json.RawMessage, failed bool) {
	var parts []struct {
		FunctionResponse struct {
			Response struct {
				Output string `json:"output"`
				Error  string `json:"error"`
			} `json:"response"`
		} `json:"functionResponse"`
	}
	text := ""
	if json.Unmarshal(raw, &parts) == nil && len(parts) > 0 {
		if p := parts[0].FunctionResponse.Response; p.Error != "" {
			text, failed = p.Error, true
		} else {
			text = p.Output
		}
	}
	text = head(text)
	// The result of a command lists Output and Exit Code, of Qwen Code a failed one, too.
	if c.Tool != "run_shell_command" || failed && !strings.Contains(text, "Exit Code: ") {
		if c.Failed = failed; failed {
			c.Error = text
		}
		return
	}
	output, code := steptext.ListedResult(text)
	if c.command(output, code); failed && code == 0 { // ended by a signal
		c.Failed, c.Error = true, output
	}
}
