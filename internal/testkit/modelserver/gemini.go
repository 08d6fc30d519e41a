package modelserver

import "encoding/json"

// gemini is Google's generateContent.
var gemini = dialect{
	read: func(body []byte) (Request, error) {
		type part struct {
			Text     string `json:"text"`
			Response *struct {
				Name     string          `json:"name"`
				Response json.RawMessage `json:"response"`
			} `json:"functionResponse"`
		}
		var in struct {
			System struct {
				Parts []part `json:"parts"`
			} `json:"systemInstruction"`
			Contents []struct {
				Role  string `json:"role"`
				Parts []part `json:"parts"`
			} `json:"contents"`
			Tools []struct {
				Functions []struct {
					function
					Schema json.RawMessage `json:"parametersJsonSchema"`
				} `json:"functionDeclarations"`
			} `json:"tools"`
		}
		if err := json.Unmarshal(body, &in); err != nil {
			return Request{}, err
		}
		out := Request{Dialect: "gemini"}
		for _, p := range in.System.Parts {
			out.Instructions += p.Text + "\n"
		}
		for _, t := range in.Tools {
			for _, f := range t.Functions {
				if f.Schema != nil {
					f.Parameters = f.Schema
				}
				out.Tools = append(out.Tools, f.tool(""))
			}
		}
		for _, c := range in.Contents {
			for _, p := range c.Parts {
				switch {
				case p.Response != nil:
					out.Results = append(out.Results, Result{p.Response.Name, geminiOutput(p.Response.Response)})
				case p.Text != "" && c.Role == "user":
					out.Texts = append(out.Texts, p.Text)
				}
			}
		}
		return out, nil
	},
	whole:  geminiResponse,
	events: func(m message, send func(string, any)) { send("", geminiResponse(m)) },
}

func geminiResponse(m message) any {
	var parts []any
	if m.text != "" {
		parts = append(parts, object{"text": m.text})
	}
	for _, c := range m.calls {
		parts = append(parts, object{"functionCall": object{"id": c.id, "name": c.Tool.Name, "args": json.RawMessage(c.json())}})
	}
	return object{"responseId": m.id, "modelVersion": "scripted",
		"candidates":    []any{object{"index": 0, "content": object{"role": "model", "parts": parts}, "finishReason": "STOP"}},
		"usageMetadata": object{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}}
}

// geminiOutput is the text of a function's response, which clients write as
// {"output": text}, and some as a list of parts.
func geminiOutput(response json.RawMessage) string {
	var fields struct {
		Output *text `json:"output"`
		Error  *text `json:"error"`
	}
	if json.Unmarshal(response, &fields) == nil {
		if fields.Output != nil {
			return string(*fields.Output)
		}
		if fields.Error != nil {
			return string(*fields.Error)
		}
	}
	return string(response)
}
