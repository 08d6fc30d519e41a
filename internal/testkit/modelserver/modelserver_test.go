package modelserver

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// requests are the same conversation in each dialect: a tool is offered, was called
// once, and answered.
var requests = []struct{ dialect, path, body string }{
	{"anthropic", "/v1/messages?beta=true", `{"stream": true, "system": [{"type": "text", "text": "be brief"}],
		"tools": [{"name": "add", "description": "adds", "input_schema": {"type": "object"}}],
		"messages": [{"role": "user", "content": "sum"},
			{"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "add", "input": {}}]},
			{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "three"}]}]}]}`},
	{"responses", "/v1/responses", `{"stream": true, "instructions": "be brief",
		"tools": [{"type": "namespace", "name": "m__", "tools": [{"type": "function", "name": "add", "description": "adds", "parameters": {"type": "object"}}]}, {"type": "web_search"}],
		"input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "sum"}]},
			{"type": "function_call", "call_id": "a", "name": "add", "arguments": "{}"},
			{"type": "function_call_output", "call_id": "a", "output": "three"}]}`},
	{"chat", "/v1/chat/completions", `{"stream": true,
		"tools": [{"type": "function", "function": {"name": "add", "description": "adds", "parameters": {"type": "object"}}}],
		"messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": [{"type": "text", "text": "sum"}]},
			{"role": "assistant", "content": null, "tool_calls": [{"id": "a", "type": "function", "function": {"name": "add", "arguments": "{}"}}]},
			{"role": "tool", "tool_call_id": "a", "content": "three"}]}`},
	{"gemini", "/v1beta/models/m:streamGenerateContent?alt=sse", `{"systemInstruction": {"parts": [{"text": "be brief"}]},
		"tools": [{"functionDeclarations": [{"name": "add", "description": "adds", "parametersJsonSchema": {"type": "object"}}]}],
		"contents": [{"role": "user", "parts": [{"text": "sum"}]},
			{"role": "model", "parts": [{"functionCall": {"name": "add", "args": {}}}]},
			{"role": "user", "parts": [{"functionResponse": {"name": "add", "response": {"output": "three"}}}]}]}`},
}

func TestDialects(t *testing.T) {
	for _, c := range requests {
		t.Run(c.dialect, func(t *testing.T) {
			var got Request
			s := New(func(r Request) Reply {
				got = r
				return Reply{Text: "four", Calls: []Call{{Tool: r.Tools[0], Arguments: map[string]int{"of": 7}}}}
			})
			defer s.Close()
			for _, body := range []string{c.body, strings.Replace(c.body, `"stream": true`, `"stream": false`, 1)} {
				answer, err := http.Post(s.URL+c.path, "application/json", strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				text, err := io.ReadAll(answer.Body)
				answer.Body.Close()
				if err != nil || answer.StatusCode != http.StatusOK {
					t.Fatalf("answered %d, %v: %s", answer.StatusCode, err, text)
				}
				if got.Dialect != c.dialect || strings.TrimSpace(got.Instructions) != "be brief" || len(got.Texts) != 1 || got.Texts[0] != "sum" {
					t.Errorf("read as %+v", got)
				}
				if len(got.Tools) != 1 || got.Tools[0].Name != "add" || got.Tools[0].Description != "adds" || string(got.Tools[0].Schema) != `{"type": "object"}` {
					t.Errorf("tools read as %+v", got.Tools)
				}
				if len(got.Results) != 1 || got.Results[0] != (Result{"add", "three"}) {
					t.Errorf("results read as %+v", got.Results)
				}
				for _, want := range []string{"four", "add", "of", "7", "call_0000"} {
					if !strings.Contains(string(text), want) {
						t.Errorf("the reply lacks %s: %s", want, text)
					}
				}
			}
			if n := len(s.Requests()); n != 2 {
				t.Errorf("%d requests are kept", n)
			}
		})
	}
}

func TestBadRequestsAreRefused(t *testing.T) {
	s := New(func(Request) Reply { return Reply{Text: "no"} })
	defer s.Close()
	for path, want := range map[string]int{"/v1/messages": http.StatusBadRequest, "/v1/elsewhere": http.StatusNotFound, "/v1/models": http.StatusOK} {
		answer, err := http.Post(s.URL+path, "application/json", strings.NewReader("{"))
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s answered %d, not %d", path, answer.StatusCode, want)
		}
	}
}
