//go:build unix

package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/hook"
	"github.com/recalld/recalld/internal/testkit/badfile"
	"github.com/recalld/recalld/internal/testkit/underrace"
)

// fileReader is a command that reads a file.
type fileReader struct {
	args  []string
	path  string // of the file, below the home folder
	whole string
	// fine is the bad file that is a right one here.
	fine string
	// limit is how many bytes it reads, if that is more than the hole of badfile.
	limit int64
	// aside are other files that it needs, below the home folder.
	aside map[string]string
}

func fileReaders() map[string]fileReader {
	const settings, token = ".config/recalld/recalld.yaml", ".local/share/recalld/"
	const aToken = "ABCDEFGHIJKLMNOPQRSTUVWXYZ\n"
	whole := "log:\n  level: debug\nmcp:\n  toolsets: [core, tasks]\n"
	corpus, queries, qrels := `{"id":"d1","text":"npm ci is right"}`+"\n", `{"id":"q1","text":"npm"}`+"\n", "q1\td1\t1\n"
	set := func(but string) map[string]string {
		files := map[string]string{"set/corpus.jsonl": corpus, "set/queries.jsonl": queries, "set/qrels.tsv": qrels}
		delete(files, but)
		return files
	}
	evaluate := []string{"eval", "--retriever", "lexical", "--set", "../set"}
	return map[string]fileReader{
		"manifest of backup verify":    {args: []string{"backup", "verify"}, path: token + "backups/00000000000000a1/20260101T000000Z.manifest", whole: `{"format":1}`, limit: 1 << 30},
		"settings of config list":      {args: []string{"config", "list"}, path: settings, whole: whole},
		"settings of config get":       {args: []string{"config", "get", "log.level"}, path: settings, whole: whole},
		"settings of config set":       {args: []string{"config", "set", "log.level", "warn"}, path: settings, whole: whole},
		"settings of recall":           {args: []string{"recall", "npm"}, path: settings, whole: whole},
		"settings that --config names": {args: []string{"recall", "npm", "--config", "../my.yaml"}, path: "my.yaml", whole: whole},
		"token":                        {args: []string{"token"}, path: token + "token", whole: aToken, fine: "cut off"},
		"clients of token list":        {args: []string{"token", "list"}, path: token + "clients.json", whole: `{"clients":[{"name":"ci","created_at":"2026-01-01T00:00:00Z"}]}`},
		"clients of token add":         {args: []string{"token", "add", "ci"}, path: token + "clients.json", whole: `{"clients":[{"name":"cd","created_at":"2026-01-01T00:00:00Z"}]}`},
		"documents of eval":            {args: evaluate, path: "set/corpus.jsonl", whole: corpus, aside: set("set/corpus.jsonl")},
		"questions of eval":            {args: evaluate, path: "set/queries.jsonl", whole: queries, aside: set("set/queries.jsonl")},
		"judgements of eval":           {args: evaluate, path: "set/qrels.tsv", whole: qrels, aside: set("set/qrels.tsv")},
		"further questions of eval":    {args: evaluate, path: "set/unanswered.jsonl", whole: queries, aside: set("")},
	}
}

// TestHostileFiles: a file that is not what a command expects is refused in words that name it,
// soon, without reading all of what has no end, and it stays as it is.
func TestHostileFiles(t *testing.T) {
	underrace.Skip(t, "one command after the other, and a bound on memory")
	cases := 0
	for name, r := range fileReaders() {
		for bad, put := range badfile.All {
			cases++
			b := newBench(t, nil)
			home := filepath.Dir(b.opts.Dir)
			path := filepath.Join(home, r.path)
			err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.MkdirAll(b.opts.Dir, 0o700), put(path, r.whole))
			for path, text := range r.aside {
				err = errors.Join(err, os.WriteFile(filepath.Join(home, path), []byte(text), 0o600))
			}
			if err != nil {
				t.Fatal(err)
			}
			if bad == badfile.Hole && r.limit > 0 {
				if err := os.Truncate(path, r.limit+1); err != nil {
					t.Fatal(err)
				}
			}
			before, _ := os.Lstat(path)
			var out, errs string
			var code int
			took := badfile.Bounded(t, name+": "+bad, func() { out, errs, code = b.run(r.args...) })
			if took > 128<<20 {
				t.Errorf("%s: for %s, %d MB were allocated", name, bad, took>>20)
			}
			switch {
			case r.fine == bad:
				if code != ExitOK {
					t.Errorf("%s: %s is refused: %.300s", name, bad, errs)
				}
				continue
			case code == ExitOK, code > ExitReadOnly:
				t.Errorf("%s: %s is taken (exit %d): %.200s%.200s", name, bad, code, out, errs)
			case !strings.Contains(errs+out, strings.TrimSuffix(filepath.Base(r.path), ".manifest")) || acted(errs) != "" || len(errs) > 4000:
				t.Errorf("%s: the refusal of %s does not name the file: %.400s", name, bad, errs)
			}
			after, err := os.Lstat(path)
			if err != nil || after.Mode() != before.Mode() || after.Size() != before.Size() && !before.IsDir() {
				t.Errorf("%s: %s has changed: %v", name, bad, err)
			}
			if left, _ := filepath.Glob(path + "?*"); len(left) > 0 {
				t.Errorf("%s: for %s, %v is left", name, bad, left)
			}
		}
	}
	t.Logf("%d files", cases)
}

// TestHostilePayloads: a hook takes any payload in silence, and stores nothing of it.
func TestHostilePayloads(t *testing.T) {
	underrace.Skip(t, "one command after the other, and a bound on memory")
	whole := `{"session_id":"s-1","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"make"},"tool_response":{"stdout":"ok"}}`
	for name, payload := range map[string]string{
		"nothing": "", "cut off": whole[:len(whole)*2/3], "a list": "[1]", "a number": "17", "null": "null", "a text": `"x"`, "two texts as one": whole[:20] + "\x00" + whole[20:],
		"no UTF-8": strings.Replace(whole, "Bash", "B\xff", 1), "deep lists": strings.Repeat("[", 1_000_000), "deep objects": strings.Repeat(`{"a":`, 500_000),
		"too long": strings.Replace(whole, "make", strings.Repeat("x", hook.MaxPayload), 1), "wrong types": `{"session_id":5,"tool_name":[1],"hook_event_name":"PostToolUse"}`,
		"a session that leads out": strings.Replace(whole, "s-1", "../../../etc/passwd", 1), "a program": "\x7fELF" + strings.Repeat("\x00", 1000),
	} {
		for _, client := range []string{"claude-code", "codex", "gemini-cli", "qwen-code", "copilot-cli", "opencode"} {
			b := newBench(t, nil)
			b.opts.In = strings.NewReader(payload)
			var out, errs string
			var code int
			took := badfile.Bounded(t, name, func() { out, errs, code = b.run("hook", client, "PostToolUse") })
			if code != ExitOK || out != "" || errs != "" || took > 128<<20 {
				t.Errorf("%s, %s: exit %d after %d MB, %.200q, %.200q", client, name, code, took>>20, out, errs)
			}
			for _, call := range b.fake.Calls() {
				if text := fmt.Sprintf("%+v", call.Request); strings.Contains(text, "..") || strings.ContainsRune(text, 0) || !utf8.ValidString(text) {
					t.Errorf("%s, %s: the daemon is told %.300s", client, name, text)
				}
			}
		}
	}
}
