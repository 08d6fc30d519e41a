package agentlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/steptext"
)

// read returns what a text says, one line a call.
func read(t *testing.T, client, text string) (Contents, []string) {
	t.Helper()
	var calls []string
	got, err := readFrom(strings.NewReader(text), client, "", func(s Session, c Call) error {
		line := fmt.Sprintf("%s %s %s failed=%v %q %s", c.ID, c.Tool, c.Input, c.Failed, c.Error, c.Response)
		calls = append(calls, line)
		return nil
	})
	must(t, err)
	return got, calls
}

func fixture(t testing.TB, client string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", client+".jsonl"))
	must(t, err)
	return string(text)
}

// TestRead reads a log of every client.
func TestRead(t *testing.T) {
	for client, want := range map[string]struct {
		id, title string
		calls     []string
	}{
		Claude: {"0f3a2c1e-1111-2222-3333-444455556666", "install the packages", []string{
			`toolu_1 Bash {"command":"npm install","description":"Install"} failed=true "Exit code 243\nnpm ERR! code EACCES" `,
			`toolu_2 Bash {"command":"sudo chown -R me ~/.npm"} failed=false "" {"stdout":"","stderr":"","interrupted":false,"isImage":false}`,
			`toolu_3 Bash {"command":"npm install","description":"Install"} failed=false "" {"stdout":"added 3 packages","stderr":"","interrupted":false,"isImage":false}`,
		}},
		Codex: {"019a-codex-session", "run the tests", []string{
			`call_1 Bash {"command":"pytest -q"} failed=true "Exit code 2\nModuleNotFoundError: No module named 'yaml'\n" `,
			`call_2 Bash {"command":"pip install pyyaml"} failed=false "" {"stdout":"ok\n"}`,
			`call_3 Bash {"command":"pytest -q"} failed=false "" {"stdout":"3 passed\n"}`,
		}},
		Gemini: {"gemini-session-1", "build it", []string{
			`g1 run_shell_command {"command":"make"} failed=true "Exit code 2\nerror: no rule" `,
			`g2 read_file {"file_path":"/src/shop/a"} failed=true "File not found." `,
		}},
		Qwen:    {"qwen-session-1", "build it", []string{`q1 run_shell_command {"command":"make"} failed=false "" {"stdout":"done"}`}},
		Copilot: {"copilot-session-1", "build it", []string{`c1 bash {"command":"make"} failed=true "Exit code 2\nerror: no rule\n" `}},
	} {
		got, calls := read(t, client, fixture(t, client))
		if got.Session.ID != want.id || got.Session.Title != want.title || len(got.Problems) > 0 {
			t.Errorf("%s: the session is %+v with problems %v, want %s, %q and none", client, got.Session, got.Problems, want.id, want.title)
		}
		if strings.Join(calls, "\n") != strings.Join(want.calls, "\n") {
			t.Errorf("%s: the calls are\n%s\nwant\n%s", client, strings.Join(calls, "\n"), strings.Join(want.calls, "\n"))
		}
	}
}

// TestReadPresentForms: lines as the clients of November 2026 write them, shortened.
func TestReadPresentForms(t *testing.T) {
	for client, test := range map[string]struct{ text, want string }{
		Codex: {`{"timestamp":"2026-11-23T17:26:41Z","type":"session_meta","payload":{"session_id":"01a20972","id":"01a20972","cwd":"/src/shop"}}
{"timestamp":"2026-11-23T17:26:43Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\": \"npm ci\"}","call_id":"call_0"}}
{"timestamp":"2026-11-23T17:26:44Z","type":"response_item","payload":{"type":"function_call_output","call_id":"call_0","output":"Chunk ID: 5fa6c6\nWall time: 1.8288 seconds\nProcess exited with code 243\nOriginal token count: 9\nOutput:\nnpm error EACCES\n"}}
{"timestamp":"2026-11-23T17:26:45Z","type":"response_item","payload":{"type":"function_call","name":"remember","namespace":"mcp__recalld","arguments":"{}","call_id":"call_1"}}
{"timestamp":"2026-11-23T17:26:46Z","type":"response_item","payload":{"type":"function_call_output","call_id":"call_1","output":[{"type":"input_text","text":"Wall time: 0.1 seconds\nOutput:"},{"type":"input_text","text":"Remembered."}]}}
`, `call_0 Bash {"command":"npm ci"} failed=true "Exit code 243\nnpm error EACCES\n" ` + "\n" + `call_1 mcp__recalld__remember {} failed=false`},
		Copilot: {`{"type":"session.start","data":{"sessionId":"88abb977","startTime":"2026-11-23T17:26:40Z","context":{"cwd":"/src/shop"}},"timestamp":"2026-11-23T17:26:40Z"}
{"type":"tool.execution_start","data":{"toolCallId":"call_0","toolName":"bash","arguments":{"command":"npm ci"}},"timestamp":"2026-11-23T17:26:46Z"}
{"type":"tool.execution_complete","data":{"toolCallId":"call_0","shellExecution":{"exitCode":243},"success":true,"result":{"content":"npm error EACCES"}},"timestamp":"2026-11-23T17:26:47Z"}
{"type":"tool.execution_start","data":{"toolCallId":"call_1","toolName":"recalld-recall","arguments":{"query":"q"},"mcpServerName":"recalld"},"timestamp":"2026-11-23T17:26:48Z"}
{"type":"tool.execution_complete","data":{"toolCallId":"call_1","success":true,"result":{"content":"x"}},"timestamp":"2026-11-23T17:26:49Z"}
`, `call_0 bash {"command":"npm ci"} failed=true "Exit code 243\nnpm error EACCES" ` + "\n" + `call_1 mcp__recalld__recall {"query":"q"} failed=false`},
	} {
		got, calls := read(t, client, test.text)
		if text := strings.Join(calls, "\n"); len(got.Problems) > 0 || !strings.HasPrefix(text, test.want) {
			t.Errorf("%s: the calls are\n%s\nwant\n%s\nand no problems: %v", client, text, test.want, got.Problems)
		}
	}
	c := Call{Tool: "run_shell_command"}
	c.parts([]byte(`[{"functionResponse":{"id":"call_0","response":{"error":"Command: npm ci\nDirectory: (root)\nOutput: npm error EACCES\nError: (none)\nExit Code: 243\nSignal: (none)"}}}]`), true)
	if want := "Exit code 243\nnpm error EACCES"; !c.Failed || c.Error != want {
		t.Errorf("a failed command of Qwen Code: %+v, want the error %q", c, want)
	}
	if got := plainTool("mcp_recalld_recall"); got != "mcp__recalld__recall" {
		t.Errorf("Gemini CLI's name becomes %q", got)
	}
}

// TestCodexResult: an object with output and metadata is Codex's own, any other one is what a
// command or tool wrote.
func TestCodexResult(t *testing.T) {
	for text, want := range map[string]string{
		`{"output":"ok","metadata":{"exit_code":0}}`: `failed=false "" {"stdout":"ok"}`,
		`{"output":"no","metadata":{"exit_code":2}}`: `failed=true "Exit code 2\nno" `,
		`{"output":"","metadata":{}}`:                `failed=false "" {"stdout":""}`,
		`{"name":"shop","version":"1.2.0"}`:          `failed=false "" {"stdout":"{\"name\":\"shop\",\"version\":\"1.2.0\"}"}`,
		`{"output":"dist"}`:                          `failed=false "" {"stdout":"{\"output\":\"dist\"}"}`,
		`{"output":null,"metadata":{}}`:              `failed=false "" {"stdout":"{\"output\":null,\"metadata\":{}}"}`,
	} {
		var c Call
		c.codexResult(steptext.Encode(text))
		if got := fmt.Sprintf("failed=%v %q %s", c.Failed, c.Error, c.Response); got != want {
			t.Errorf("the result %s is read as %s, want %s", text, got, want)
		}
	}
}

// TestCodexLongResult: a long output is shortened, and its exit code is still read.
func TestCodexLongResult(t *testing.T) {
	var c Call
	c.codexResult(steptext.Encode(string(steptext.Encode(map[string]any{"output": "begin" + strings.Repeat("x", maxText) + "end", "metadata": map[string]any{"exit_code": 2}}))))
	if !c.Failed || !strings.HasPrefix(c.Error, "Exit code 2\nbegin") || !strings.HasSuffix(c.Error, "end") || len(c.Error) > maxText+100 {
		t.Errorf("failed %v with %d bytes: %.40q, want exit code 2 and at most %d bytes of the output", c.Failed, len(c.Error), c.Error, maxText)
	}
}

// TestReadByteOrderMark: a log that an editor has written is read as any other.
func TestReadByteOrderMark(t *testing.T) {
	chat := "{\n" + `"sessionId":"chat","startTime":"2026-01-15T12:00:00Z","messages":[{"type":"gemini","toolCalls":[{"id":"1","name":"ls","args":{},"status":"success"}]}]}`
	for client, text := range map[string]string{Claude: fixture(t, Claude), Codex: fixture(t, Codex), Qwen: fixture(t, Qwen), Copilot: fixture(t, Copilot), Gemini: chat} {
		was, calls := read(t, client, text)
		got, marked := read(t, client, "\uFEFF"+text)
		if fmt.Sprint(got, marked) != fmt.Sprint(was, calls) || len(calls) == 0 {
			t.Errorf("%s: after a byte order mark it is read as %v with the calls %q, want %v with %q", client, got, marked, was, calls)
		}
	}
}

// TestReadTimes: a time may be written in another way; one that cannot be read is that of the
// line before it, and keeps no call out.
func TestReadTimes(t *testing.T) {
	const written = `"2026-01-15T12:00:04.000Z"`
	begun, said := time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC), time.Date(2026, 1, 15, 12, 0, 4, 0, time.UTC)
	for in, want := range map[string]time.Time{
		written: said, `"2026-01-15T12:00:04"`: said, `"2026-01-15 13:00:04+01:00"`: said, `1768478404`: said, `1768478404000`: said, `1768478404000.4`: said,
		`""`: begun, `"noon"`: begun, `null`: begun, `{}`: begun, `-1`: begun, `1532`: begun, `1e300`: begun, `"0001-01-01T00:00:00Z"`: begun,
	} {
		var at []time.Time
		got, err := readFrom(strings.NewReader(strings.Replace(fixture(t, Claude), written, in, 1)), Claude, "", func(_ Session, c Call) error {
			at = append(at, c.At)
			return nil
		})
		if err != nil || len(got.Problems) > 0 || len(at) != 3 || !at[1].Equal(want) {
			t.Errorf("with the time %s the calls are at %v, with problems %v, %v; want 3, the second at %v", in, at, got.Problems, err, want)
		}
	}
	for _, client := range []string{Claude, Codex, Gemini, Qwen, Copilot} { // the head of a log
		was, calls := read(t, client, fixture(t, client))
		got, without := read(t, client, strings.ReplaceAll(fixture(t, client), `"2026-01-15T12:00:00.000Z"`, `""`))
		if len(without) != len(calls) || got.Session.Started.IsZero() || got.Session.ID != was.Session.ID || len(got.Problems) > 0 {
			t.Errorf("%s: a log that does not say when it began is read as %+v with the calls %q, want %q", client, got, without, calls)
		}
		got, without = read(t, client, regexp.MustCompile(`"20\d\d-[^"]*Z"`).ReplaceAllString(fixture(t, client), `"noon"`))
		if len(without) != 0 || len(got.Problems) == 0 {
			t.Errorf("%s: of a log without times %q is read with the problems %v, want no calls, and problems", client, without, got.Problems)
		}
	}
}

// TestCodexArguments: the arguments of a call are an object in a string, or the object itself.
func TestCodexArguments(t *testing.T) {
	_, want := read(t, Codex, fixture(t, Codex))
	got, calls := read(t, Codex, strings.Replace(fixture(t, Codex), `"{\"cmd\":\"pip install pyyaml\"}"`, `{"cmd":"pip install pyyaml"}`, 1))
	if len(got.Problems) > 0 || !slices.Equal(calls, want) {
		t.Errorf("with an object the calls are %q with problems %v, want %q", calls, got.Problems, want)
	}
}

// TestReadDamaged: what cannot be read is named by its line, and the rest is read.
func TestReadDamaged(t *testing.T) {
	lines := strings.SplitAfter(fixture(t, Claude), "\n")
	text := "\x00\xff{\n" + `{"type":7}` + "\n" + strings.Repeat("x", maxLine+1) + "\n" + `{"type":"user","message":` + strings.Repeat("[", 20_000) + "\n" +
		strings.Join(lines, "") + `{"type":"user","messa`
	got, calls := read(t, Claude, text)
	var where []int
	for _, p := range got.Problems {
		where = append(where, p.Line)
	}
	if fmt.Sprint(where) != "[1 2 3 4]" || len(calls) != 3 {
		t.Errorf("problems are in lines %v and there are %d calls, want lines 1 to 4, no word of the torn last line, and 3 calls", where, len(calls))
	}
}

// TestReadLongLine: a line of 100 MB is named and skipped in little memory, and what comes
// after it is read.
func TestReadLongLine(t *testing.T) {
	const size = 100 << 20
	text := io.MultiReader(io.LimitReader(sameByte('x'), size), strings.NewReader("\n"+fixture(t, Claude)))
	var was, is runtime.MemStats
	runtime.ReadMemStats(&was)
	calls := 0
	got, err := readFrom(text, Claude, "", func(Session, Call) error { calls++; return nil })
	runtime.ReadMemStats(&is)
	if err != nil || calls != 3 || len(got.Problems) != 1 || got.Problems[0].Line != 1 {
		t.Errorf("%d calls, problems %v, %v; want 3 and one in line 1", calls, got.Problems, err)
	}
	if took := is.TotalAlloc - was.TotalAlloc; took > 8*maxLine {
		t.Errorf("reading took %d MB", took>>20)
	}
}

// sameByte is a text without an end.
type sameByte byte

func (b sameByte) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(b)
	}
	return len(p), nil
}

// TestGeminiDocument reads a chat that is one value over several lines.
func TestGeminiDocument(t *testing.T) {
	text := "{\n" + `"sessionId":"gemini-old","startTime":"2026-01-15T12:00:00Z","messages":[{"type":"user","content":"go"},{"type":"gemini","toolCalls":[{"id":"1","name":"ls","args":{},"status":"success","timestamp":"2026-01-15T12:00:01Z"}]}]}`
	got, calls := read(t, Gemini, text)
	if got.Session.ID != "gemini-old" || len(calls) != 1 || len(got.Problems) > 0 {
		t.Errorf("the session is %+v with %d calls and problems %v, want gemini-old with 1 and none", got.Session, len(calls), got.Problems)
	}
}

// TestGeminiLongFirstLine: a log of lines is read as one also if its first line is long.
func TestGeminiLongFirstLine(t *testing.T) {
	text := `{"sessionId":"gemini-long","startTime":"2026-01-15T12:00:00Z","memory":"` + strings.Repeat("x", 100<<10) + `"}` + "\n" +
		`{"type":"gemini","toolCalls":[{"id":"1","name":"ls","args":{},"status":"success","timestamp":"2026-01-15T12:00:01Z"}]}` + "\n"
	got, calls := read(t, Gemini, text)
	if got.Session.ID != "gemini-long" || len(calls) != 1 || len(got.Problems) > 0 {
		t.Errorf("the session is %q with the calls %q and problems %v, want gemini-long with one and none", got.Session.ID, calls, got.Problems)
	}
}

// TestGeminiDocumentDamaged: a message that cannot be read is named, and the others are read.
func TestGeminiDocumentDamaged(t *testing.T) {
	const call = `{"type":"gemini","toolCalls":[{"id":"%d","name":"ls","args":{},"status":"success","timestamp":"2026-01-15T12:00:01Z"}]}`
	text := "{\n" + `"sessionId":"gemini-old","messages":[` + fmt.Sprintf(call, 1) + `,{"type":7},` + fmt.Sprintf(call, 2) + "]}"
	got, calls := read(t, Gemini, text)
	if len(calls) != 2 || len(got.Problems) != 1 || !strings.HasPrefix(got.Problems[0].Message, "message 2: ") {
		t.Errorf("there are the calls %q and problems %v, want two and one of message 2", calls, got.Problems)
	}
}

// TestFind finds logs, and no links out of the folder.
func TestFind(t *testing.T) {
	home := t.TempDir()
	put := func(name string) string {
		path := filepath.Join(home, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, []byte("{}\n"), 0o600))
		must(t, os.Chtimes(path, time.Unix(1, 0), time.Unix(1, 0)))
		return path
	}
	want := []string{".claude/projects/p/a.jsonl", ".claude/projects/p/s/subagents/agent-1.jsonl", ".codex/sessions/2026/01/15/rollout-a.jsonl", ".copilot/session-state/s/events.jsonl",
		".gemini/tmp/p/chats/session-1.json", ".qwen/projects/p/chats/s.jsonl"}
	for _, name := range want {
		put(name)
	}
	put(".claude/projects/p/memory/notes.jsonl")
	put(".claude/projects/p/s/tool-results/1.jsonl")
	put(".codex/sessions/2026/01/15/other.jsonl")
	outside := put("outside.jsonl")
	if err := os.Symlink(outside, filepath.Join(home, ".claude", "projects", "p", "link.jsonl")); err != nil {
		t.Skipf("this system makes no links: %v", err)
	}
	found, err := Find(home, func(string) string { return "" })
	must(t, err)
	var got []string
	for _, l := range found {
		name, err := filepath.Rel(home, l.Path())
		must(t, err)
		got = append(got, filepath.ToSlash(name))
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("found %v, want %v", got, want)
	}
	link := Log{Client: Claude, Place: filepath.Join(home, ".claude", "projects"), Name: filepath.Join("p", "link.jsonl")}
	if _, err := Read(link, func(Session, Call) error { return nil }); err == nil {
		t.Error("a link out of the folder was read")
	}
}

// TestFindNewest: a search that ends at its bound has found the newest of dated folders.
func TestFindNewest(t *testing.T) {
	home := t.TempDir()
	for _, day := range []string{"2024/12/31", "2025/01/01", "2025/12/31", "2026/01/01"} {
		dir := filepath.Join(home, ".codex", "sessions", filepath.FromSlash(day))
		must(t, os.MkdirAll(dir, 0o700))
		must(t, os.WriteFile(filepath.Join(dir, "rollout-"+strings.ReplaceAll(day, "/", "-")+".jsonl"), nil, 0o600))
	}
	for _, p := range places(home, func(string) string { return "" }) {
		if p.client != Codex {
			continue
		}
		found, err := p.find(9) // the place itself, and two days with their months and years
		if err != nil || len(found) != 2 || found[0].Name != filepath.FromSlash("2026/01/01/rollout-2026-01-01.jsonl") || found[1].Name != filepath.FromSlash("2025/12/31/rollout-2025-12-31.jsonl") {
			t.Errorf("found %v, %v; want the two newest", found, err)
		}
	}
}

func FuzzClaude(f *testing.F)  { fuzzLines(f, Claude) }
func FuzzCodex(f *testing.F)   { fuzzLines(f, Codex) }
func FuzzGemini(f *testing.F)  { fuzzLines(f, Gemini) }
func FuzzQwen(f *testing.F)    { fuzzLines(f, Qwen) }
func FuzzCopilot(f *testing.F) { fuzzLines(f, Copilot) }

// fuzzLines: whatever a log of lines holds, its calls have names and times.
func fuzzLines(f *testing.F, client string) {
	f.Add([]byte(fixture(f, client)))
	f.Add([]byte(`{"type":"user","payload":[],"message":{"content":{}},"messages":[1],"data":0}` + "\n\x00\n" + strings.Repeat("[", 100)))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := readFrom(bytes.NewReader(text), client, "", func(s Session, c Call) error {
			if s.ID == "" || c.ID == "" || c.Tool == "" || c.At.IsZero() {
				t.Errorf("a call without a name or time: %+v in %+v", c, s)
			}
			return nil
		})
		if err == nil && len(got.Problems) > maxProblems {
			t.Errorf("%d problems, at most %d", len(got.Problems), maxProblems)
		}
	})
}

// TestTitle: a prompt may begin with a path; what the client itself has written is no title.
func TestTitle(t *testing.T) {
	for prompt, want := range map[string]string{
		" /home/me/app fails with exit 2\n": "/home/me/app fails with exit 2",
		"/clear":                            "",
		"/review cmd/app":                   "",
		"<command-name>/clear":              "",
		"Why does it fail?":                 "Why does it fail?",
	} {
		if got := titleOf(prompt); got != want {
			t.Errorf("titleOf(%q) = %q, want %q", prompt, got, want)
		}
	}
}

// TestFindBesideBadPlace: one client whose folder cannot be opened does not keep the logs of the
// others from being found, and reading says what is wrong.
func TestFindBesideBadPlace(t *testing.T) {
	home := t.TempDir()
	log, bad := filepath.Join(home, ".claude", "projects", "p", "a.jsonl"), filepath.Join(home, ".codex", "sessions")
	for _, path := range []string{log, bad} {
		must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("{}\n"), 0o600)))
	}
	found, err := Find(home, func(string) string { return "" })
	must(t, err)
	var paths []string
	for _, l := range found {
		paths = append(paths, l.Path())
		if _, err := Read(l, func(Session, Call) error { return nil }); (err != nil) != (l.Client == Codex) {
			t.Errorf("reading %s says %v", l.Path(), err)
		}
	}
	if want := []string{bad, log}; !slices.Equal(paths, want) {
		t.Errorf("found %q, want %q", paths, want)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestFindUnreadableFolder: a folder of logs that cannot be listed is found as a log that cannot
// be read, not passed over.
func TestFindUnreadableFolder(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root lists every folder: run it as another user")
	}
	home := t.TempDir()
	closed := filepath.Join(home, ".claude", "projects", "p")
	if err := errors.Join(os.MkdirAll(filepath.Dir(closed), 0o700), os.Mkdir(closed, 0)); err != nil {
		t.Fatal(err)
	}
	found, err := Find(home, func(string) string { return "" })
	if err != nil || len(found) != 1 || found[0].Path() != closed {
		t.Fatalf("found %+v, %v; want %s", found, err, closed)
	}
	_, err = Read(found[0], func(Session, Call) error { return nil })
	if _, unopened := errors.AsType[*OpenError](err); !unopened {
		t.Errorf("reading it says %v, want that it cannot be opened", err)
	}
}
