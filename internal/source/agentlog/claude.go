package agentlog

import (
	"encoding/json"
	"strings"

	"github.com/recalld/recalld/internal/steptext"
)

// claudeLine is a line of Claude Code's log.
type claudeLine struct {
	Type      string `json:"type"`
	SessionID string `json:"sessionId"`
	Cwd       string `json:"cwd"`
	Branch    string `json:"gitBranch"`
	Timestamp stamp  `json:"timestamp"`
	IsMeta    bool   `json:"isMeta"`
	Sidechain bool   `json:"isSidechain"`
	Message   struct {
		Content json.RawMessage `json:"content"`
	} `json:"message"`
	// Result is the tool_response of the hook PostToolUse, or the text of a failure.
	Result json.RawMessage `json:"toolUseResult"`
}

// claudeBlock is a part of a message.
type claudeBlock struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	IsError   bool            `json:"is_error"`
	Content   json.RawMessage `json:"content"`
	Text      string          `json:"text"`
}

func (r *reader) claude(text []byte) error {
	var kind struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(text, &kind); err != nil {
		return err
	}
	if kind.Type != "user" && kind.Type != "assistant" {
		return nil // summaries, snapshots of files, the queue
	}
	var l claudeLine
	if err := json.Unmarshal(text, &l); err != nil {
		return err
	}
	at := l.Timestamp.Time
	r.begin(Session{ID: l.SessionID, Dir: l.Cwd, Branch: l.Branch, Started: at})
	blocks, prompt := claudeBlocks(l.Message.Content)
	fromUser := l.Type == "user" && !l.IsMeta && !l.Sidechain
	if fromUser {
		r.begin(Session{Title: titleOf(prompt)})
	}
	for _, b := range blocks {
		switch {
		case b.Type == "text" && fromUser:
			r.begin(Session{Title: titleOf(b.Text)})
		case b.Type == "tool_use":
			r.asks(Call{ID: b.ID, Tool: b.Name, Input: b.Input})
		case b.Type == "tool_result":
			r.answer(b.ToolUseID, func(c *Call) { c.At = at; c.claudeResult(l, b) })
		}
	}
	return nil
}

// claudeResult fills in a result as the hooks PostToolUse and PostToolUseFailure have it.
func (c *Call) claudeResult(l claudeLine, b claudeBlock) {
	if !b.IsError {
		c.Response = l.Result
		if len(c.Response) == 0 {
			c.Response = b.Content
		}
		return
	}
	c.Failed = true
	c.Error = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(textOf(b.Content)), "<tool_use_error>"), "</tool_use_error>")
	c.Interrupted = strings.Contains(c.Error, "The user doesn't want to proceed with this tool use") || strings.Contains(c.Error, "[Request interrupted by user")
}

// claudeBlocks returns the parts of a message, or its text.
func claudeBlocks(content json.RawMessage) (blocks []claudeBlock, text string) {
	if json.Unmarshal(content, &text) == nil {
		return nil, text
	}
	if json.Unmarshal(content, &blocks) != nil {
		return nil, ""
	}
	return blocks, ""
}

// textOf is what is looked at of wholeText.
func textOf(raw json.RawMessage) string { return head(wholeText(raw)) }

// wholeText joins the texts of a value: a string, or a list of objects with texts.
func wholeText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var list []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &list) != nil {
		return ""
	}
	var parts []string
	for _, x := range list {
		parts = append(parts, x.Text)
	}
	return strings.Join(parts, "\n")
}

// titleOf is a prompt, or empty for what the client itself has written: commands and
// what it adds in tags.
func titleOf(prompt string) string {
	prompt = strings.TrimSpace(head(prompt))
	if strings.HasPrefix(prompt, "<") || steptext.IsCommand(prompt) || strings.HasPrefix(prompt, "# AGENTS.md") || strings.HasPrefix(prompt, "Caveat:") {
		return ""
	}
	return prompt
}
