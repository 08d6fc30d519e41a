package agentlog

import (
	"encoding/json"

	"github.com/recalld/recalld/internal/steptext"
)

func (r *reader) qwen(text []byte) error {
	var l struct {
		SessionID string `json:"sessionId"`
		Timestamp stamp  `json:"timestamp"`
		Type      string `json:"type"`
		Cwd       string `json:"cwd"`
		Branch    string `json:"gitBranch"`
		Message   struct {
			Parts []json.RawMessage `json:"parts"`
		} `json:"message"`
		Result struct {
			Status string `json:"status"`
		} `json:"toolCallResult"`
	}
	if err := json.Unmarshal(text, &l); err != nil {
		return err
	}
	at := l.Timestamp.Time
	r.begin(Session{ID: l.SessionID, Dir: l.Cwd, Branch: l.Branch, Started: at})
	for _, raw := range l.Message.Parts {
		var part struct {
			Text         string `json:"text"`
			FunctionCall struct {
				ID   string          `json:"id"`
				Name string          `json:"name"`
				Args json.RawMessage `json:"args"`
			} `json:"functionCall"`
			FunctionResponse struct {
				ID string `json:"id"`
			} `json:"functionResponse"`
		}
		if json.Unmarshal(raw, &part) != nil {
			continue
		}
		if l.Type == "user" {
			r.begin(Session{Title: titleOf(part.Text)})
		}
		if f := part.FunctionCall; f.ID != "" {
			r.asks(Call{ID: f.ID, Tool: f.Name, Input: f.Args})
		}
		r.answer(part.FunctionResponse.ID, func(c *Call) {
			c.At = at
			c.Interrupted = l.Result.Status == "cancelled"
			c.parts(steptext.Encode([]json.RawMessage{raw}), l.Result.Status == "error" || c.Interrupted)
		})
	}
	return nil
}
