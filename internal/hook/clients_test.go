package hook

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// The payloads are those of Codex 0.169.0, Gemini CLI 0.61.0, Qwen Code 0.24.4 and Copilot CLI
// 1.0.102 in driven turns, with other paths; those of OpenCode are our plugin's.
func TestClients(t *testing.T) {
	const (
		codex   = `{"session_id":"01a209dd-8c60","turn_id":"1","transcript_path":"/t.jsonl","cwd":"/src/shop","hook_event_name":"X","model":"gpt-5","permission_mode":"bypassPermissions"`
		gemini  = `{"session_id":"13366d2d-d94c","transcript_path":"/t.jsonl","cwd":"/src/shop","hook_event_name":"X","timestamp":"2026-11-23T19:23:09.290Z"`
		qwen    = `{"session_id":"63b2335d-004e","transcript_path":"/t.jsonl","cwd":"/src/shop","hook_event_name":"X","timestamp":"2026-11-23T19:23:24.315Z","permission_mode":"yolo"`
		copilot = `{"sessionId":"4464e30c-06bb","timestamp":1795461808314,"cwd":"/src/shop"`
		plugin  = `{"session_id":"ses_df6232b39ffe","cwd":"/src/shop"`
	)
	type want struct {
		moment  moment
		tool    string
		input   string
		code    string // of a failure
		message string
		output  string
		prompt  string
	}
	for name, test := range map[string]struct {
		client, event, payload string
		want                   want
	}{
		"Codex starts":  {"codex", "SessionStart", codex + `,"source":"startup"}`, want{moment: starts}},
		"Codex ends":    {"codex", "SessionEnd", codex + `,"reason":"other"}`, want{moment: ends}},
		"Codex command": {"codex", "PostToolUse", codex + `,"tool_name":"Bash","tool_input":{"command":"echo one"},"tool_response":"one\n","tool_use_id":"call_1"}`, want{uses, "Bash", `{"command":"echo one"}`, "", "", "one", ""}},
		"Codex failure": {"codex", "PostToolUse", codex + `,"tool_name":"Bash","tool_input":{"command":"cat absent"},"tool_response":"cat: absent: No such file or directory\n","tool_use_id":"call_2"}`, want{fails, "Bash", `{"command":"cat absent"}`, "exit 1", "cat: absent: No such file or directory", "", ""}},
		"Codex prompt":  {"codex", "UserPromptSubmit", codex + `,"prompt":"Run the commands"}`, want{moment: asks, prompt: "Run the commands"}},

		"Gemini starts":  {"gemini-cli", "SessionStart", gemini + `,"source":"startup"}`, want{moment: starts}},
		"Gemini prompt":  {"gemini-cli", "BeforeAgent", gemini + `,"prompt":"<hook_context>brief</hook_context>\n\nRun the commands"}`, want{moment: asks, prompt: "Run the commands"}},
		"Gemini command": {"gemini-cli", "AfterTool", gemini + `,"tool_name":"run_shell_command","tool_input":{"command":"echo one"},"tool_response":{"llmContent":"<untrusted_context>\nOutput: one\ntwo\nProcess Group PGID: 8859\n</untrusted_context>","returnDisplay":"one\ntwo"}}`, want{uses, "run_shell_command", `{"command":"echo one"}`, "", "", "one\ntwo", ""}},
		"Gemini failure": {"gemini-cli", "AfterTool", gemini + `,"tool_name":"run_shell_command","tool_input":{"command":"cat absent"},"tool_response":{"llmContent":"<untrusted_context>\nOutput: cat: absent: No such file or directory\nExit Code: 1\nProcess Group PGID: 8885\n</untrusted_context>"}}`, want{fails, "run_shell_command", `{"command":"cat absent"}`, "exit 1", "cat: absent: No such file or directory", "", ""}},
		"Gemini error":   {"gemini-cli", "AfterTool", gemini + `,"tool_name":"read_file","tool_input":{"file_path":"x"},"tool_response":{"llmContent":[{"text":"File not found: x"}],"error":{"message":"File not found: /src/shop/x","type":"file_not_found"}}}`, want{fails, "read_file", `{"file_path":"x"}`, "", "File not found: /src/shop/x", "", ""}},

		"Qwen command": {"qwen-code", "PostToolUse", qwen + `,"tool_name":"run_shell_command","tool_input":{"command":"echo x > made.txt"},"tool_response":{"llmContent":"Command: echo x > made.txt\nDirectory: (root)\nOutput: (empty)\nError: (none)\nExit Code: 0\nSignal: (none)\nProcess Group PGID: (none)","returnDisplay":""},"duration_ms":17}`, want{uses, "run_shell_command", `{"command":"echo x > made.txt"}`, "", "", "", ""}},
		"Qwen failure": {"qwen-code", "PostToolUseFailure", qwen + `,"tool_name":"run_shell_command","tool_input":{"command":"cat absent"},"error":"Command: cat absent\nDirectory: (root)\nOutput: cat: absent: No such file or directory\nError: (none)\nExit Code: 1\nSignal: (none)","is_interrupt":false}`, want{fails, "run_shell_command", `{"command":"cat absent"}`, "exit 1", "cat: absent: No such file or directory", "", ""}},
		"Qwen error":   {"qwen-code", "PostToolUseFailure", qwen + `,"tool_name":"edit","tool_input":{"file_path":"x"},"error":"Failed to edit: not found","is_interrupt":false}`, want{fails, "edit", `{"file_path":"x"}`, "", "Failed to edit: not found", "", ""}},
		"Qwen cancels": {"qwen-code", "PostToolUseFailure", qwen + `,"tool_name":"edit","tool_input":{"file_path":"x"},"error":"cancelled","is_interrupt":true}`, want{fails, "edit", `{"file_path":"x"}`, codeInterrupted, "cancelled", "", ""}},

		"Copilot starts":  {"copilot-cli", "sessionStart", copilot + `,"source":"new","initialPrompt":"Run the commands"}`, want{moment: starts}},
		"Copilot ends":    {"copilot-cli", "sessionEnd", copilot + `,"reason":"complete"}`, want{moment: ends}},
		"Copilot prompt":  {"copilot-cli", "userPromptSubmitted", copilot + `,"prompt":"Run the commands"}`, want{moment: asks, prompt: "Run the commands"}},
		"Copilot command": {"copilot-cli", "postToolUse", copilot + `,"toolName":"bash","toolArgs":{"command":"echo one"},"toolResult":{"resultType":"success","textResultForLlm":"one\n<shellId: 0 completed with exit code 0>"}}`, want{uses, "bash", `{"command":"echo one"}`, "", "", "one", ""}},
		"Copilot failure": {"copilot-cli", "postToolUse", copilot + `,"toolName":"bash","toolArgs":"{\"command\":\"cat absent\"}","toolResult":{"resultType":"success","textResultForLlm":"cat: absent: No such file or directory\n<shellId: 1 completed with exit code 1>"}}`, want{fails, "bash", `{"command":"cat absent"}`, "exit 1", "cat: absent: No such file or directory", "", ""}},
		"Copilot denied":  {"copilot-cli", "postToolUse", copilot + `,"toolName":"bash","toolArgs":{"command":"ls"},"toolResult":{"resultType":"denied","textResultForLlm":"the user said no"}}`, want{fails, "bash", `{"command":"ls"}`, codeInterrupted, "the user said no", "", ""}},
		"Copilot error":   {"copilot-cli", "postToolUseFailure", copilot + `,"toolName":"view","toolArgs":{"path":"x"},"error":{"message":"no such file"}}`, want{fails, "view", `{"path":"x"}`, "", "no such file", "", ""}},

		"OpenCode command": {"opencode", "PostToolUse", plugin + `,"tool_name":"bash","tool_input":{"command":"echo one"},"tool_response":{"output":"one\n","exit":0},"duration_ms":12}`, want{uses, "bash", `{"command":"echo one"}`, "", "", "one", ""}},
		"OpenCode failure": {"opencode", "PostToolUse", plugin + `,"tool_name":"bash","tool_input":{"command":"cat absent"},"tool_response":{"output":"cat: absent: No such file or directory\n","exit":1}}`, want{fails, "bash", `{"command":"cat absent"}`, "exit 1", "cat: absent: No such file or directory", "", ""}},
		"OpenCode error":   {"opencode", "PostToolUseFailure", plugin + `,"tool_name":"read","tool_input":{"filePath":"x"},"error":"File not found: x"}`, want{fails, "read", `{"filePath":"x"}`, "", "File not found: x", "", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			transcript := func(path string) ([]byte, error) {
				if path != "/t.jsonl" {
					return nil, errors.New("no such file")
				}
				return []byte(`half a line","exit_code":0}
{"type":"response_item","payload":{"type":"function_call","call_id":"call_2","arguments":"{\"cmd\":\"echo call_2 \\\"exit_code\\\": 7\"}"}}
{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"call_1","exit_code":0}}}
{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"call_2","aggregated_output":"call_1","exit_code":1}}}
`), nil
			}
			got, err := Parse(test.client, test.event, []byte(test.payload), Environment{Tail: transcript})
			if err != nil {
				t.Fatal(err)
			}
			w := test.want
			switch w.moment {
			case starts:
				if got.Start == nil || memory.Check(got.Start) != nil || !got.Start.Caller.Hook {
					t.Errorf("it is %+v", got.Start)
				}
			case ends:
				if got.End == nil || memory.Check(got.End) != nil {
					t.Errorf("it is %+v", got.End)
				}
			case asks:
				if got.Recall == nil || got.Recall.Query != w.prompt {
					t.Errorf("it asks %+v", got.Recall)
				}
			default:
				s := got.Step
				if s == nil || memory.Check(s) != nil {
					t.Fatalf("it is %+v", got)
				}
				output := ""
				if w.output != "" {
					output = fmt.Sprintf(`{"output":%q}`, w.output)
				}
				if s.Tool.Name != w.tool || string(s.Tool.Input) != w.input || string(s.Observation) != output || s.Outcome.OK != (w.moment == uses) {
					t.Errorf("it is %+v, want %+v", s, w)
				}
				if e := s.Outcome.Error; w.moment == fails && (e.Code != w.code || e.Message != w.message) {
					t.Errorf("the error is %+v, want %+v", e, w)
				}
				if s.Advise != (w.moment == fails && w.code != codeInterrupted) {
					t.Errorf("it asks for advice: %t", s.Advise)
				}
			}
		})
	}
}

// TestCodexWithoutTranscript: without the exit code a command is not recorded, instead of
// as one that succeeded.
func TestCodexWithoutTranscript(t *testing.T) {
	const text = `{"session_id":"01a209dd-8c60","cwd":"/src/shop","transcript_path":%s,"tool_name":"Bash","tool_input":{"command":"ls"},"tool_response":"x","tool_use_id":"call_9"}`
	for name, tail := range map[string]func(string) ([]byte, error){
		"no reader": nil,
		"no file":   func(string) ([]byte, error) { return nil, errors.New("gone") },
		"no line":   func(string) ([]byte, error) { return []byte("{}\n"), nil },
	} {
		for _, path := range []string{`"/t.jsonl"`, `null`} {
			got, err := Parse("codex", "PostToolUse", fmt.Appendf(nil, text, path), Environment{Tail: tail})
			if err == nil || got != (Request{}) || !strings.Contains(err.Error(), "how the tool ended") {
				t.Errorf("%s, %s: %+v, %v", name, path, got, err)
			}
		}
	}
}

// TestOwnTools: a query to the memory is no step, under the name that each client gives it.
func TestOwnTools(t *testing.T) {
	for _, tool := range []string{"mcp__recalld__recall", "mcp_recalld_recall", "recalld_recall", "recalld-recall", "mcp__plugin_recalld_recalld__recall"} {
		_, err := Parse("gemini-cli", "AfterTool", fmt.Appendf(nil, `{"session_id":"13366d2d","cwd":"/s","tool_name":%q,"tool_response":{"llmContent":"x"}}`, tool), Environment{})
		if !errors.Is(err, ErrNothing) {
			t.Errorf("%s: %v", tool, err)
		}
	}
	for _, tool := range []string{"recall", "my_recalld_recall", "recalldb", "mcp__other__recalld_x", "mcp__plugin_x_other__recalld_x"} {
		if isOwn(tool) {
			t.Errorf("%s is taken for one of ours", tool)
		}
	}
}

func TestCopilotsAdvice(t *testing.T) {
	out, err := Advice("copilot-cli", "postToolUse", &memory.RecallResponse{Text: "**Relevant Memories (1):**\n\n1. x\n", Items: []memory.Item{{}}})
	if err != nil || !strings.HasPrefix(string(out), `{"additionalContext":"recalld, from earlier work in this project, about this error:`) {
		t.Errorf("it is %s, %v", out, err)
	}
}
