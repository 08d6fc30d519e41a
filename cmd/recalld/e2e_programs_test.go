package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// A scriptedModel is a model's endpoint on loopback. Asked for the first time it calls the
// tool recall; once it is sent the result it keeps that, and says that it is done.
type scriptedModel struct {
	answer func(w io.Writer, call bool)
	// result returns what a request has as the result of the call; empty without one.
	result func(body []byte) string

	mu    sync.Mutex // guards shown
	shown string
}

func (m *scriptedModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Method != http.MethodPost {
		http.NotFound(w, r)
		return
	}
	result := m.result(body)
	if result != "" {
		m.mu.Lock()
		m.shown = result
		m.mu.Unlock()
	}
	w.Header().Set("Content-Type", "text/event-stream")
	// Requests without tools are of the program itself, such as for a title.
	m.answer(w, result == "" && bytes.Contains(body, []byte(`recall`)) && bytes.Contains(body, []byte(`"tools"`)))
}

func event(w io.Writer, kind string, fields map[string]any) {
	fields["type"] = kind
	encoded, err := json.Marshal(fields)
	if err != nil {
		panic(err) // never: the values of this file
	}
	fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, encoded)
}

const programQuery = `{"query":"checkout test is flaky"}`

// messages answers as the API that Claude Code asks.
func messages(w io.Writer, call bool) {
	event(w, "message_start", map[string]any{"message": map[string]any{"id": "m", "type": "message", "role": "assistant", "model": "m", "content": []any{},
		"usage": map[string]any{"input_tokens": 1, "output_tokens": 1}}})
	stop, block, delta := "end_turn", map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": "done"}
	if call {
		stop, block = "tool_use", map[string]any{"type": "tool_use", "id": "call-1", "name": "mcp__recalld__recall", "input": map[string]any{}}
		delta = map[string]any{"type": "input_json_delta", "partial_json": programQuery}
	}
	event(w, "content_block_start", map[string]any{"index": 0, "content_block": block})
	event(w, "content_block_delta", map[string]any{"index": 0, "delta": delta})
	event(w, "content_block_stop", map[string]any{"index": 0})
	event(w, "message_delta", map[string]any{"delta": map[string]any{"stop_reason": stop}, "usage": map[string]any{"output_tokens": 1}})
	event(w, "message_stop", map[string]any{})
}

func messagesResult(body []byte) string {
	var request struct {
		Messages []struct{ Content json.RawMessage }
	}
	if json.Unmarshal(body, &request) != nil {
		return ""
	}
	var text strings.Builder
	for _, m := range request.Messages {
		var blocks []struct {
			Type    string
			Content json.RawMessage
		}
		if json.Unmarshal(m.Content, &blocks) != nil {
			continue
		}
		for _, b := range blocks {
			var parts []struct{ Text string }
			var whole string
			switch {
			case b.Type != "tool_result":
			case json.Unmarshal(b.Content, &whole) == nil:
				text.WriteString(whole)
			case json.Unmarshal(b.Content, &parts) == nil:
				for _, p := range parts {
					text.WriteString(p.Text)
				}
			}
		}
	}
	return text.String()
}

// responses answers as the API that Codex asks.
func responses(w io.Writer, call bool) {
	event(w, "response.created", map[string]any{"response": map[string]any{"id": "r"}})
	item := map[string]any{"type": "message", "id": "i", "role": "assistant", "content": []any{map[string]any{"type": "output_text", "text": "done"}}}
	if call {
		item = map[string]any{"type": "function_call", "id": "i", "call_id": "call-1", "namespace": "mcp__recalld", "name": "recall", "arguments": programQuery}
	}
	event(w, "response.output_item.done", map[string]any{"output_index": 0, "item": item})
	event(w, "response.completed", map[string]any{"response": map[string]any{"id": "r", "output": []any{item},
		"usage": map[string]any{"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}}})
}

func responsesResult(body []byte) string {
	var request struct {
		Input []struct {
			Type   string
			Output json.RawMessage
		}
	}
	if json.Unmarshal(body, &request) != nil {
		return ""
	}
	for _, item := range request.Input {
		var text string
		if item.Type != "function_call_output" {
			continue
		}
		if json.Unmarshal(item.Output, &text) != nil {
			var parts []struct{ Text string }
			if json.Unmarshal(item.Output, &parts) == nil {
				for _, p := range parts {
					text += p.Text
				}
			}
		}
		return text
	}
	return ""
}

// TestE2EPrograms: what Claude Code and Codex send their model for an answer of recall is the
// text of the answer, to the byte.
func TestE2EPrograms(t *testing.T) {
	for name, program := range map[string]struct {
		answer func(io.Writer, bool)
		result func([]byte) string
		args   func(m *machine, url, dir string) []string
	}{
		"claude": {messages, messagesResult, func(m *machine, url, dir string) []string {
			servers, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"recalld": map[string]any{"command": os.Args[0], "args": []string{"mcp"}}}})
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, "servers.json")
			if err := os.WriteFile(file, servers, 0o600); err != nil {
				t.Fatal(err)
			}
			m.env = append(m.env, "ANTHROPIC_BASE_URL="+url, "ANTHROPIC_API_KEY=none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1")
			return []string{"-p", "Why is the checkout test flaky?", "--mcp-config", file, "--strict-mcp-config", "--allowedTools", "mcp__recalld__recall"}
		}},
		"codex": {responses, responsesResult, func(m *machine, url, _ string) []string {
			m.env = append(m.env, "SCRIPTED_KEY=none")
			set := func(key, value string) string { return key + "=" + value }
			args := []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"}
			for _, pair := range m.env { // of which Codex passes on little
				key, value, _ := strings.Cut(pair, "=")
				args = append(args, "-c", set("mcp_servers.recalld.env."+key, fmt.Sprintf("%q", value)))
			}
			for _, setting := range []string{
				set("model_provider", `"scripted"`), set("model", `"m"`), set("model_providers.scripted.name", `"scripted"`),
				set("model_providers.scripted.base_url", fmt.Sprintf("%q", url+"/v1")), set("model_providers.scripted.env_key", `"SCRIPTED_KEY"`),
				set("model_providers.scripted.wire_api", `"responses"`),
				set("mcp_servers.recalld.command", fmt.Sprintf("%q", os.Args[0])), set("mcp_servers.recalld.args", `["mcp"]`),
			} {
				args = append(args, "-c", setting)
			}
			return append(args, "Why is the checkout test flaky?")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			path, err := exec.LookPath(name)
			if err != nil {
				t.Skipf("%s is not installed; npm has it", name)
			}
			m, dir := newMachine(t, "RECALLD_MCP_STRUCTURED_CONTENT=off"), shop(t)
			m.run(dir, "remember", "freeze the clock before the coupon expires", "--context", "the checkout test is flaky", "--command", "go test -run Checkout")
			model := &scriptedModel{answer: program.answer, result: program.result}
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			server := httptest.NewUnstartedServer(model)
			server.Listener.Close()
			server.Listener = listener
			server.Start()
			t.Cleanup(server.Close)
			args := program.args(m, server.URL, t.TempDir())
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, path, args...)
			cmd.Env, cmd.Dir = m.env, dir
			said, err := cmd.CombinedOutput()
			model.mu.Lock()
			shown := model.shown
			model.mu.Unlock()
			if shown == "" {
				t.Fatalf("%s sent its model no result: %v\n%s", name, err, said)
			}
			// Codex writes two lines of its own before every result.
			if _, result, ok := strings.Cut(shown, "\nOutput:"); ok {
				shown = result
			}
			text := newAgent(t, m, dir).tool("recall", programQuery).Content[0].Text
			t.Logf("%s sends its model %d tokens for an answer of %d:\n%s", name, render.Tokens(shown), render.Tokens(text), shown)
			if without(shown) != without(text) || !strings.Contains(shown, "freeze the clock") {
				t.Errorf("%s sends its model\n%s\nfor the answer\n%s", name, shown, text)
			}
		})
	}
}

// without cuts the digits of its receipt from the text of an answer.
func without(text string) string { return text[:max(0, len(text)-memory.ReceiptDigits)] }
