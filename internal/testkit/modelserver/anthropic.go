package modelserver

import "encoding/json"

type object = map[string]any

var anthropic = dialect{
	read: func(body []byte) (Request, error) {
		var in struct {
			System   text `json:"system"`
			Messages []struct {
				Role    string          `json:"role"`
				Content json.RawMessage `json:"content"`
			} `json:"messages"`
			Tools []struct {
				Name        string          `json:"name"`
				Description string          `json:"description"`
				Schema      json.RawMessage `json:"input_schema"`
			} `json:"tools"`
		}
		if err := json.Unmarshal(body, &in); err != nil {
			return Request{}, err
		}
		out := Request{Dialect: "anthropic", Instructions: string(in.System)}
		for _, t := range in.Tools {
			out.Tools = append(out.Tools, Tool{Name: t.Name, Description: t.Description, Schema: t.Schema})
		}
		names := map[string]string{}
		for _, m := range in.Messages {
			var blocks []struct {
				Type    string `json:"type"`
				Text    string `json:"text"`
				ID      string `json:"id"`
				Name    string `json:"name"`
				UseID   string `json:"tool_use_id"`
				Content text   `json:"content"`
			}
			if json.Unmarshal(m.Content, &blocks) != nil {
				var plain text
				_ = json.Unmarshal(m.Content, &plain)
				if m.Role == "user" {
					out.Texts = append(out.Texts, string(plain))
				}
				continue
			}
			for _, b := range blocks {
				switch {
				case b.Type == "tool_use":
					names[b.ID] = b.Name
				case b.Type == "tool_result":
					out.Results = append(out.Results, Result{names[b.UseID], string(b.Content)})
				case b.Type == "text" && m.Role == "user":
					out.Texts = append(out.Texts, b.Text)
				}
			}
		}
		return out, nil
	},
	whole: func(m message) any {
		content := []any{}
		if m.text != "" {
			content = append(content, object{"type": "text", "text": m.text})
		}
		for _, c := range m.calls {
			content = append(content, object{"type": "tool_use", "id": c.id, "name": c.Tool.Name, "input": json.RawMessage(c.json())})
		}
		return anthropicMessage(m, content, anthropicStop(m))
	},
	events: func(m message, send func(string, any)) {
		send("message_start", object{"type": "message_start", "message": anthropicMessage(m, []any{}, nil)})
		index := 0
		block := func(start, delta object) {
			send("content_block_start", object{"type": "content_block_start", "index": index, "content_block": start})
			send("content_block_delta", object{"type": "content_block_delta", "index": index, "delta": delta})
			send("content_block_stop", object{"type": "content_block_stop", "index": index})
			index++
		}
		if m.text != "" {
			block(object{"type": "text", "text": ""}, object{"type": "text_delta", "text": m.text})
		}
		for _, c := range m.calls {
			block(object{"type": "tool_use", "id": c.id, "name": c.Tool.Name, "input": object{}},
				object{"type": "input_json_delta", "partial_json": c.json()})
		}
		send("message_delta", object{"type": "message_delta", "delta": object{"stop_reason": anthropicStop(m), "stop_sequence": nil}, "usage": object{"output_tokens": 1}})
		send("message_stop", object{"type": "message_stop"})
	},
}

func anthropicMessage(m message, content []any, stop any) object {
	return object{"id": m.id, "type": "message", "role": "assistant", "model": "scripted", "content": content,
		"stop_reason": stop, "stop_sequence": nil, "usage": object{"input_tokens": 1, "output_tokens": 1}}
}

func anthropicStop(m message) any {
	if len(m.calls) > 0 {
		return "tool_use"
	}
	return "end_turn"
}
