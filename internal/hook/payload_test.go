package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
)

const session = "0f3a2c1e-1111-2222-3333-444455556666"

// say is what Claude Code says at every event, with what it says at this one.
func say(rest string) []byte {
	return fmt.Appendf(nil, `{"session_id":%q,"transcript_path":"/t.jsonl","cwd":"/src/shop","permission_mode":"default"%s}`, session, rest)
}

var caller = memory.Caller{Dir: "/src/shop", Client: "claude-code", Session: session, Hook: true}

func TestParseSteps(t *testing.T) {
	for name, test := range map[string]struct {
		event, rest string
		want        memory.RecordStepRequest // what differs from tool to tool
	}{
		"a command": {"PostToolUse", `,"tool_name":"Bash","tool_input":{"command":"go test ./...","description":"Run tests"},
			"tool_response":{"stdout":"ok a\nok b\n","stderr":"","interrupted":false,"isImage":false},"tool_use_id":"toolu_1","duration_ms":1234`,
			memory.RecordStepRequest{
				Tool:    memory.StepTool{Name: "Bash", Input: raw(`{"command":"go test ./...","description":"Run tests"}`)},
				Outcome: memory.Outcome{OK: true}, Observation: raw(`{"output":"ok a\nok b"}`), DurationMs: 1234,
			}},
		"an edit": {"PostToolUse", `,"tool_name":"Edit","tool_input":{"file_path":"/src/shop/a.go","old_string":"x","new_string":"y","replace_all":false},
			"tool_response":{"filePath":"/src/shop/a.go","structuredPatch":[]}`,
			memory.RecordStepRequest{
				Tool:    memory.StepTool{Name: "Edit", Input: raw(`{"file_path":"/src/shop/a.go","replace_all":false}`), Target: raw(`"/src/shop/a.go"`)},
				Outcome: memory.Outcome{OK: true},
			}},
		"a file that was read": {"PostToolUse", `,"tool_name":"Read","tool_input":{"file_path":"/src/shop/a.go","limit":10},"tool_response":{"type":"text","file":{"content":"secret"}}`,
			memory.RecordStepRequest{
				Tool:    memory.StepTool{Name: "Read", Input: raw(`{"file_path":"/src/shop/a.go","limit":10}`), Target: raw(`"/src/shop/a.go"`)},
				Outcome: memory.Outcome{OK: true},
			}},
		"a command that failed": {"PostToolUseFailure", `,"tool_name":"Bash","tool_input":{"command":"npm i"},"error":"Exit code 243\r\nnpm ERR! code EACCES\r\n","is_interrupt":false`,
			memory.RecordStepRequest{
				Tool:    memory.StepTool{Name: "Bash", Input: raw(`{"command":"npm i"}`)},
				Outcome: memory.Outcome{Error: &memory.StepError{Code: "exit 243", Message: "npm ERR! code EACCES"}}, Advise: true,
			}},
		"a tool that failed": {"PostToolUseFailure", `,"tool_name":"Edit","tool_input":{"file_path":"/a"},"error":"File has not been read yet."`,
			memory.RecordStepRequest{
				Tool:    memory.StepTool{Name: "Edit", Input: raw(`{"file_path":"/a"}`), Target: raw(`"/a"`)},
				Outcome: memory.Outcome{Error: &memory.StepError{Message: "File has not been read yet."}}, Advise: true,
			}},
		"a failure with an error that is no text": {"PostToolUse", `,"tool_name":"mcp__db__query","tool_input":{"q":"x"},"tool_response":{"error":{"code":7},"isError":true,"content":[{"type":"text","text":"no such table"}]}`,
			memory.RecordStepRequest{
				Tool:    memory.StepTool{Name: "mcp__db__query", Input: raw(`{"q":"x"}`)},
				Outcome: memory.Outcome{Error: &memory.StepError{Message: "no such table"}}, Advise: true,
			}},
		"interrupted": {"PostToolUseFailure", `,"tool_name":"Bash","tool_input":{"command":"sleep 9"},"error":"stopped","is_interrupt":true`,
			memory.RecordStepRequest{
				Tool:    memory.StepTool{Name: "Bash", Input: raw(`{"command":"sleep 9"}`)},
				Outcome: memory.Outcome{Error: &memory.StepError{Code: "interrupted", Message: "stopped"}},
			}},
		"a server's tool that says it failed": {"PostToolUse", `,"tool_name":"mcp__db__query","tool_input":{"sql":"select"},"tool_response":{"isError":true,"content":[{"type":"text","text":"no such table"}]}`,
			memory.RecordStepRequest{
				Tool:    memory.StepTool{Name: "mcp__db__query", Input: raw(`{"sql":"select"}`)},
				Outcome: memory.Outcome{Error: &memory.StepError{Message: "no such table"}}, Advise: true,
			}},
		"a response that is a list": {"PostToolUse", `,"tool_name":"mcp__db__query","tool_response":[{"type":"text","text":"1"}]`,
			memory.RecordStepRequest{Tool: memory.StepTool{Name: "mcp__db__query"}, Outcome: memory.Outcome{OK: true}}},
		"an exit code in the response": {"PostToolUse", `,"tool_name":"Shell","tool_response":{"exit_code":2,"stderr":"oops"}`,
			memory.RecordStepRequest{Tool: memory.StepTool{Name: "Shell"}, Outcome: memory.Outcome{Error: &memory.StepError{Code: "exit 2", Message: "oops"}}, Advise: true}},
	} {
		test.want.SessionID, test.want.Open, test.want.Caller = session, true, caller
		got, err := Parse("claude-code", test.event, say(test.rest), Environment{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(&test.want, got.Step); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if got.Step != nil {
			if err := memory.Check(got.Step); err != nil {
				t.Errorf("%s: the daemon would refuse it: %v", name, err)
			}
		}
	}
}

func raw(text string) json.RawMessage { return json.RawMessage(text) }

func TestParseOthers(t *testing.T) {
	for name, test := range map[string]struct {
		event, rest string
		want        Request
	}{
		"a start after a compaction": {"SessionStart", `,"source":"compact"`, Request{Start: &memory.StartSessionRequest{SessionID: session, Resume: true, Caller: caller}, Brief: &memory.BriefRequest{Compacted: true, MaxTokens: 400, Caller: caller}}},
		"a start":                    {"SessionStart", `,"source":"startup"`, Request{Start: &memory.StartSessionRequest{SessionID: session, Resume: true, Caller: caller}, Brief: &memory.BriefRequest{Caller: caller}}},
		"an end":                     {"SessionEnd", `,"reason":"exit"`, Request{End: &memory.EndSessionRequest{SessionID: session, Caller: caller}}},
		"a prompt that begins with a path": {"UserPromptSubmit", `,"prompt":"/home/me/x.go fails"`, Request{
			Start:  &memory.StartSessionRequest{SessionID: session, Goal: "/home/me/x.go fails", Resume: true, Caller: caller},
			Recall: &memory.RecallRequest{Query: "/home/me/x.go fails", Kinds: []memory.Kind{memory.Lesson}, Limit: promptLessons, MaxTokens: promptTokens, Caller: caller},
		}},
		"a prompt": {"UserPromptSubmit", `,"prompt":" why does npm fail?\nIt did not yesterday. "`, Request{
			Start:  &memory.StartSessionRequest{SessionID: session, Goal: "why does npm fail?", Resume: true, Caller: caller},
			Recall: &memory.RecallRequest{Query: "why does npm fail?\nIt did not yesterday.", Kinds: []memory.Kind{memory.Lesson}, Limit: 3, MaxTokens: 400, Caller: caller},
		}},
	} {
		got, err := Parse("claude-code", test.event, say(test.rest), Environment{})
		if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
	got, err := Parse("claude-code", "SessionStart", []byte(`{"session_id":"ab","cwd":"/x"}`), Environment{})
	if err != nil || got.Start.SessionID != "claude-code-ab" || got.Start.Caller.Session != "claude-code-ab" {
		t.Errorf("a session with a short id is %+v (%v), want it lengthened by the client's name", got.Start, err)
	}
	got, err = Parse("claude-code", "SessionStart", say(""), Environment{ProjectDir: "/src"})
	if err != nil || got.Start.Caller.Dir != "/src" {
		t.Errorf("the project's folder is not taken: %v, %v", got.Start, err)
	}
}

func TestParseRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		client, event string
		payload       []byte
		want          string
	}{
		"another client":    {"emacs", "SessionStart", say(""), "emacs"},
		"another event":     {"claude-code", "PreCompact", say(""), "PreCompact"},
		"empty":             {"claude-code", "SessionStart", nil, "read payload"},
		"garbage":           {"claude-code", "SessionStart", []byte("\x00\xff{"), "read payload"},
		"a list":            {"claude-code", "SessionStart", []byte("[]"), "read payload"},
		"no session":        {"claude-code", "SessionStart", []byte(`{"cwd":"/x"}`), "session_id"},
		"a session outside": {"claude-code", "SessionStart", []byte(`{"session_id":"../../etc","cwd":"/x"}`), "session_id"},
		"a short session":   {"claude-code", "SessionStart", []byte(`{"session_id":".","cwd":"/x"}`), "dot"},
		"no folder":         {"claude-code", "SessionStart", []byte(`{"session_id":"abcdef"}`), "cwd"},
		"no tool":           {"claude-code", "PostToolUse", say(""), "tool_name"},
		"another type":      {"claude-code", "PostToolUse", say(`,"tool_name":7`), "read payload"},
		"huge":              {"claude-code", "PostToolUse", say(`,"x":"` + strings.Repeat("x", MaxPayload) + `"`), "over"},
		"our own tool":      {"claude-code", "PostToolUse", say(`,"tool_name":"mcp__recalld__recall"`), ErrNothing.Error()},
		"an empty prompt":   {"claude-code", "UserPromptSubmit", say(`,"prompt":"  "`), ErrNothing.Error()},
		"a slash command":   {"claude-code", "UserPromptSubmit", say(`,"prompt":"/clear"`), ErrNothing.Error()},
		"with a path":       {"claude-code", "UserPromptSubmit", say(`,"prompt":"/add-dir /src/lib"`), ErrNothing.Error()},
	} {
		got, err := Parse(test.client, test.event, test.payload, Environment{})
		if err == nil || !strings.Contains(err.Error(), test.want) || got != (Request{}) {
			t.Errorf("%s: got %v, %v; want an error with %q", name, got, err, test.want)
		}
	}
}

// TestParseShortens: a step stays within what the daemon takes.
func TestParseShortens(t *testing.T) {
	long := strings.Repeat("ä", 100_000)
	deep := strings.Repeat(`{"a":`, 50) + `1` + strings.Repeat(`}`, 50)
	list := "[" + strings.Repeat(`"x",`, 10_000) + `"x"]`
	lines := strings.Repeat(`line\n`, 1000) + "last"
	for name, rest := range map[string]string{
		"long error":  `,"tool_name":"Bash","error":"Exit code 1\n` + long + ` the end"`,
		"long input":  `,"tool_name":"Bash","tool_input":{"command":"` + long + `"}`,
		"long target": `,"tool_name":"Read","tool_input":{"file_path":"` + long + `"}`,
		"long name":   `,"tool_name":"` + long + `"`,
		"deep":        `,"tool_name":"X","tool_input":` + deep,
		"many":        `,"tool_name":"X","tool_input":{"list":` + list + `}`,
		"much output": `,"tool_name":"Bash","tool_response":{"stdout":"` + lines + `"}`,
	} {
		event := "PostToolUse"
		if name == "long error" {
			event = "PostToolUseFailure"
		}
		got, err := Parse("claude-code", event, say(rest), Environment{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := memory.Check(got.Step); err != nil {
			t.Errorf("%s: the daemon would refuse it: %v", name, err)
		}
		if n := len(got.Step.Tool.Input) + len(got.Step.Observation); n > 10_000 {
			t.Errorf("%s: %d bytes are kept", name, n)
		}
		switch name {
		case "long error":
			if m := got.Step.Outcome.Error.Message; !strings.HasSuffix(m, " the end") || !strings.Contains(m, "\n…\n") {
				t.Errorf("of a long error is kept %.40q…%q", m, m[len(m)-20:])
			}
		case "much output":
			if o := string(got.Step.Observation); !strings.HasSuffix(o, `last"}`) || strings.Count(o, `\n`) != outputLines-1 {
				t.Errorf("of much output is kept %s", o)
			}
		}
	}
}

func TestAdvice(t *testing.T) {
	answer := &memory.RecallResponse{Text: "**Relevant Memories (1):**\n\n1. [2026-01-15] npm <fails>: use \"npm ci\"\n", Items: []memory.Item{{}}}
	out, err := Advice("claude-code", "PostToolUseFailure", answer)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Specific struct {
			Event   string `json:"hookEventName"`
			Context string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal(out, &got); err != nil || got.Specific.Event != "PostToolUseFailure" || !strings.HasSuffix(got.Specific.Context, "npm <fails>: use \"npm ci\"\n</recalld>") ||
		!strings.Contains(got.Specific.Context, "\n<recalld note=") {
		t.Errorf("it is %s (%v), want the text fenced", out, err)
	}
	out, err = Advice("claude-code", "UserPromptSubmit", &memory.RecallResponse{Text: "(incomplete: …)", Incomplete: true, Why: "the memory is\nstill loading"})
	if err != nil || json.Unmarshal(out, &got) != nil || !strings.Contains(got.Specific.Context, "could not search all of its memory (the memory is still loading)") || strings.Contains(got.Specific.Context, "\n") {
		t.Errorf("of a search that was not complete it is %s (%v), want one line that says so and why", out, err)
	}
	for name, empty := range map[string]*memory.RecallResponse{"none": nil, "no items": {Text: "Nothing relevant."}, "no text": {Items: []memory.Item{{}}}} {
		if out, err := Advice("claude-code", "PostToolUse", empty); out != nil || err != nil {
			t.Errorf("%s: %q, %v; want nothing", name, out, err)
		}
	}
}

func TestRun(t *testing.T) {
	for n, want := range map[int]string{0: session, 1: session, 2: session + ".2", maxRuns: session + ".9"} {
		if got := Run(session, n); got != want || memory.ValidSessionID("id", got) != nil {
			t.Errorf("run %d is %q, want %q", n, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, client := range []string{"codex", "gemini-cli", "qwen-code", "opencode"} {
		f.Add(client, "PostToolUse", say(`,"tool_name":"run_shell_command","tool_input":{"command":"ls"},"tool_response":{"llmContent":"Output: a\nExit Code: 1"}`))
	}
	f.Add("copilot-cli", "postToolUse", []byte(`{"sessionId":"4464e30c","cwd":"/s","toolName":"bash","toolArgs":"{}","toolResult":{"resultType":"success","textResultForLlm":"<exited with exit code 1>"}}`))
	f.Add("claude-code", "PostToolUse", say(`,"tool_name":"Bash","tool_input":{"command":"ls"},"tool_response":{"stdout":"a"}`))
	f.Add("claude-code", "PostToolUseFailure", say(`,"tool_name":"Bash","error":"Exit code 1\nx","is_interrupt":true`))
	f.Add("claude-code", "UserPromptSubmit", say(`,"prompt":"x"`))
	f.Add("claude-code", "PostToolUseFailure", say(`,"tool_name":"a\u0000","error":"Exit code \u0000\nx\u0000"`))
	f.Add("claude-code", "SessionEnd", say(`,"reason":"exit"`))
	f.Add("claude-code", "PostToolUse", []byte("{"))
	f.Fuzz(func(t *testing.T, client, event string, text []byte) {
		got, err := Parse(client, event, text, Environment{})
		if err != nil {
			if got != (Request{}) {
				t.Errorf("beside %v there is %v", err, got)
			}
			return
		}
		var invalid error
		switch {
		case got.Recall != nil:
			invalid = errors.Join(memory.Check(got.Start), memory.Check(got.Recall))
		case got.Start != nil:
			invalid = memory.Check(got.Start)
		case got.Step != nil:
			invalid = memory.Check(got.Step)
		case got.End != nil:
			invalid = memory.Check(got.End)
		default:
			t.Fatal("no error and no request")
		}
		// The folder is the client's, and may be anything.
		if e, ok := errors.AsType[*memory.Error](invalid); ok && !strings.HasPrefix(e.Field, "caller.") {
			t.Errorf("the daemon would refuse it: %v", invalid)
		}
	})
}

// TestParseNUL: what holds a NUL, as find -print0 writes it, is a request that the daemon takes.
func TestParseNUL(t *testing.T) {
	for event, fields := range map[string]string{
		"PostToolUseFailure": `"tool_name":"Bash","tool_input":{"command":"find -print0"},"error":"Exit code 1\na\u0000b"`,
		"PostToolUse":        `"tool_name":"Bash","tool_input":{"command":"find -print0"},"tool_response":{"stdout":"a\u0000b"}`,
		"UserPromptSubmit":   `"prompt":"why a\u0000b?"`,
	} {
		r, err := Parse("claude-code", event, []byte(`{"session_id":"0123456789abcdef","cwd":"/work",`+fields+`}`), Environment{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Step != nil {
			err = memory.Check(r.Step)
		} else {
			err = errors.Join(memory.Check(r.Start), memory.Check(r.Recall))
		}
		if err != nil {
			t.Errorf("%s: %v", event, err)
		}
	}
}
