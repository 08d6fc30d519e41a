package agentlog

import (
	"cmp"
	"encoding/json"

	"github.com/recalld/recalld/internal/steptext"
)

func (r *reader) copilot(text []byte) error {
	var l struct {
		Type      string          `json:"type"`
		Timestamp stamp           `json:"timestamp"`
		Data      json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(text, &l); err != nil {
		return err
	}
	switch l.Type {
	case "session.start", "user.message", "tool.execution_start", "tool.execution_complete":
	default:
		return nil
	}
	var d struct {
		SessionID string `json:"sessionId"`
		StartTime stamp  `json:"startTime"`
		Context   struct {
			Cwd    string `json:"cwd"`
			Branch string `json:"branch"`
		} `json:"context"`
		Content    string          `json:"content"`
		ToolCallID string          `json:"toolCallId"`
		ToolName   string          `json:"toolName"`
		Arguments  json.RawMessage `json:"arguments"`
		Success    bool            `json:"success"`
		Shell      struct {
			ExitCode int `json:"exitCode"`
		} `json:"shellExecution"`
		Result struct {
			Content string `json:"content"`
		} `json:"result"`
		Error struct {
			Message string `json:"message"`
			Code    string `json:"code"`
		} `json:"error"`
	}
	if err := json.Unmarshal(l.Data, &d); err != nil {
		return err
	}
	at := l.Timestamp.Time
	switch l.Type {
	case "session.start":
		r.begin(Session{ID: d.SessionID, Dir: d.Context.Cwd, Branch: d.Context.Branch, Started: cmp.Or(d.StartTime.Time, at)})
	case "user.message":
		r.begin(Session{Title: titleOf(d.Content)})
	case "tool.execution_start":
		r.asks(Call{ID: d.ToolCallID, Tool: d.ToolName, Input: d.Arguments})
	case "tool.execution_complete":
		r.answer(d.ToolCallID, func(c *Call) {
			c.At = at
			output, code := steptext.MarkedResult(head(d.Result.Content))
			switch {
			case !d.Success:
				c.Failed, c.Error = true, head(d.Error.Message)
				c.Interrupted = d.Error.Code == "denied" || d.Error.Code == "rejected"
			case c.Tool == "bash" || c.Tool == "powershell":
				c.command(output, cmp.Or(d.Shell.ExitCode, code))
			}
		})
	}
	return nil
}
