package modelserver

import "encoding/json"

// responses is OpenAI's responses API.
var responses = dialect{
	read: func(body []byte) (Request, error) {
		var in struct {
			Instructions string `json:"instructions"`
			Input        []struct {
				Type      string `json:"type"`
				Role      string `json:"role"`
				Content   text   `json:"content"`
				Name      string `json:"name"`
				Namespace string `json:"namespace"`
				CallID    string `json:"call_id"`
				Output    text   `json:"output"`
			} `json:"input"`
			Tools []struct {
				function
				Type  string     `json:"type"`
				Tools []function `json:"tools"`
			} `json:"tools"`
		}
		if err := json.Unmarshal(body, &in); err != nil {
			return Request{}, err
		}
		out := Request{Dialect: "responses", Instructions: in.Instructions}
		for _, t := range in.Tools {
			switch t.Type {
			case "function":
				out.Tools = append(out.Tools, t.tool(""))
			case "namespace":
				for _, inner := range t.Tools {
					out.Tools = append(out.Tools, inner.tool(t.Name))
				}
			}
		}
		names := map[string]string{}
		for _, item := range in.Input {
			switch item.Type {
			case "function_call":
				names[item.CallID] = item.Namespace + item.Name
			case "function_call_output":
				out.Results = append(out.Results, Result{names[item.CallID], string(item.Output)})
			default:
				if item.Role == "user" {
					out.Texts = append(out.Texts, string(item.Content))
				} else if item.Role == "developer" || item.Role == "system" {
					out.Instructions += "\n" + string(item.Content)
				}
			}
		}
		return out, nil
	},
	whole: func(m message) any {
		return object{"id": m.id, "object": "response", "status": "completed", "output": responseItems(m), "usage": responseUsage}
	},
	events: func(m message, send func(string, any)) {
		send("response.created", object{"type": "response.created", "response": object{"id": m.id}})
		for i, item := range responseItems(m) {
			send("response.output_item.added", object{"type": "response.output_item.added", "output_index": i, "item": item})
			send("response.output_item.done", object{"type": "response.output_item.done", "output_index": i, "item": item})
		}
		send("response.completed", object{"type": "response.completed", "response": object{"id": m.id, "status": "completed", "output": responseItems(m), "usage": responseUsage}})
	},
}

var responseUsage = object{"input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
	"input_tokens_details": object{"cached_tokens": 0}, "output_tokens_details": object{"reasoning_tokens": 0}}

func responseItems(m message) []any {
	items := []any{}
	if m.text != "" {
		items = append(items, object{"type": "message", "role": "assistant", "id": m.id, "status": "completed",
			"content": []any{object{"type": "output_text", "text": m.text, "annotations": []any{}}}})
	}
	for _, c := range m.calls {
		item := object{"type": "function_call", "id": "fc_" + c.id, "call_id": c.id, "name": c.Tool.Name, "arguments": c.json(), "status": "completed"}
		if c.Tool.Namespace != "" {
			item["namespace"] = c.Tool.Namespace
		}
		items = append(items, item)
	}
	return items
}

// function is how OpenAI's dialects declare a tool.
type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

func (f function) tool(namespace string) Tool {
	return Tool{Name: f.Name, Namespace: namespace, Description: f.Description, Schema: f.Parameters}
}

// chat is OpenAI's chat completions API.
var chat = dialect{
	read: func(body []byte) (Request, error) {
		var in struct {
			Messages []struct {
				Role    string `json:"role"`
				Content text   `json:"content"`
				CallID  string `json:"tool_call_id"`
				Calls   []struct {
					ID       string   `json:"id"`
					Function function `json:"function"`
				} `json:"tool_calls"`
			} `json:"messages"`
			Tools []struct {
				Function function `json:"function"`
			} `json:"tools"`
		}
		if err := json.Unmarshal(body, &in); err != nil {
			return Request{}, err
		}
		out := Request{Dialect: "chat"}
		for _, t := range in.Tools {
			out.Tools = append(out.Tools, t.Function.tool(""))
		}
		names := map[string]string{}
		for _, m := range in.Messages {
			for _, c := range m.Calls {
				names[c.ID] = c.Function.Name
			}
			switch m.Role {
			case "system", "developer":
				out.Instructions += string(m.Content) + "\n"
			case "user":
				out.Texts = append(out.Texts, string(m.Content))
			case "tool":
				out.Results = append(out.Results, Result{names[m.CallID], string(m.Content)})
			}
		}
		return out, nil
	},
	whole: func(m message) any {
		return chatObject(m, "chat.completion", object{"message": chatMessage(m), "finish_reason": chatStop(m)})
	},
	events: func(m message, send func(string, any)) {
		send("", chatObject(m, "chat.completion.chunk", object{"delta": chatMessage(m), "finish_reason": nil}))
		send("", chatObject(m, "chat.completion.chunk", object{"delta": object{}, "finish_reason": chatStop(m)}))
		send("", "[DONE]")
	},
}

func chatObject(m message, kind string, choice object) object {
	choice["index"] = 0
	return object{"id": m.id, "object": kind, "created": 1, "model": "scripted", "choices": []any{choice},
		"usage": object{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}
}

func chatMessage(m message) object {
	out := object{"role": "assistant", "content": m.text}
	var calls []any
	for i, c := range m.calls {
		calls = append(calls, object{"index": i, "id": c.id, "type": "function", "function": object{"name": c.Tool.Name, "arguments": c.json()}})
	}
	if calls != nil {
		out["tool_calls"] = calls
	}
	return out
}

func chatStop(m message) string {
	if len(m.calls) > 0 {
		return "tool_calls"
	}
	return "stop"
}
