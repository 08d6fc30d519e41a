package cli

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// TestExitCodes: every refusal ends with the code of the table and a message
// that names the field and its limit; nothing wrong reaches the daemon.
func TestExitCodes(t *testing.T) {
	above := &memory.Error{Code: memory.CodeConflict, Field: "path", Message: "/src is not in a repository, but contains 2: /src/a, /src/b", Hint: "name one of them"}
	long := strings.Repeat("ä", memory.MaxQuery+1)
	for _, tt := range []struct {
		args []string
		err  error
		code int
		want string
	}{
		{[]string{"nosuch"}, nil, ExitUsage, `unknown command "nosuch"`},
		{[]string{"recall"}, nil, ExitUsage, "an argument is missing"},
		{[]string{"recall", "q", "--colour"}, nil, ExitUsage, "unknown flag: --colour"},
		{[]string{"recall", "q", "--limit", "many"}, nil, ExitUsage, "--limit"},
		{[]string{"recall", long}, nil, ExitUsage, "QUERY: 1000001 characters are too many (limit: 1–1000000 characters)"},
		{[]string{"recall", "q", "--limit", "0"}, nil, ExitUsage, "limit: 1–50"},
		{[]string{"recall", "q", "--limit", "51"}, nil, ExitUsage, "limit: 1–50"},
		{[]string{"recall", "q", "--max-tokens", "49"}, nil, ExitUsage, "limit: 50–8000"},
		{[]string{"recall", "q", "--min-relevance", "1.1"}, nil, ExitUsage, "limit: 0–1"},
		{[]string{"recall", "q", "--since", "monday"}, nil, ExitUsage, "--since: "},
		{[]string{"recall", "q", "--kinds", "blocker"}, nil, ExitUsage, `unknown kind "blocker"`},
		{[]string{"recall", "q", "--scope", "abc"}, nil, ExitUsage, "--scope: "},
		{[]string{"recall", "q", "--scope", ""}, nil, ExitUsage, "--scope: "},
		{[]string{"recall", "q", "--session", "abc"}, nil, ExitUsage, "--session: "},
		{[]string{"recall", "q", "--session", "abcd", "--scope", "all"}, nil, ExitUsage, "one of --scope and --session"},
		{[]string{"recall", "q", "--tag", ""}, nil, ExitUsage, "--tag: "},
		{[]string{"recall", "q", "--since-hours", "0"}, nil, ExitUsage, "--since-hours: "},
		{[]string{"remember"}, nil, ExitUsage, "LESSON: is empty"},
		{[]string{"remember", "--lesson", "a", "b"}, nil, ExitUsage, "given twice"},
		{[]string{"remember", "l", "--success-rate", "3/2"}, nil, ExitUsage, "--success-rate: "},
		{[]string{"remember", "l", "--type", "idea"}, nil, ExitUsage, "error, success, pattern"},
		{[]string{"remember", "l", "--event-type", "idea"}, nil, ExitUsage, "error, success, pattern"},
		{[]string{"remember", "l", "--type", "error", "--event-type", "success"}, nil, ExitUsage, "one of type and event_type"},
		{[]string{"remember", "l", "--anchor", "x.go"}, memory.Invalid("anchors[0].path", "", "there is no such file"), ExitUsage, "recalld: --anchor: there is no such file"},
		{[]string{"remember", "l", "--anchor", "x.go#" + strings.Repeat("x", 1000)}, nil, ExitUsage, "recalld: --anchor: "},
		{[]string{"forget"}, nil, ExitUsage, "nothing is named"},
		{[]string{"forget", "--project", "p"}, &memory.Error{Code: memory.CodeNotFound, Field: "project", Message: "no project is called p"}, ExitNotFound, "recalld: --project: no project is called p"},
		{[]string{"receipts", ""}, nil, ExitUsage, "recalld: ID: is empty"},
		{[]string{"files"}, nil, ExitUsage, "an argument is missing"},
		{[]string{"config", "set", "log.level"}, nil, ExitUsage, "an argument is missing: recalld config set SETTING VALUE"},
		{[]string{"eval", "sets/mine"}, nil, ExitUsage, "too many arguments: recalld eval --set DIR…"},
		{[]string{"replay", "s-1"}, nil, ExitUsage, "too many arguments: recalld replay --session"},
		{[]string{"files", "x", "--limit", "0"}, nil, ExitUsage, "--limit: 0 is out of range (limit: 1–1000)"},
		{[]string{"files", "x", "--limit", "1001"}, nil, ExitUsage, "limit: 1001 is out of range (limit: 1–1000)"},
		{[]string{"files", " "}, nil, ExitUsage, "PATTERN: is empty"},
		{[]string{"pause", "a", "b"}, nil, ExitUsage, "too many arguments: recalld pause [PATH]"},
		{[]string{"pause", ""}, nil, ExitUsage, "PATH: is given and is empty"},
		{[]string{"index", ""}, nil, ExitUsage, "PATH: is given and is empty"},
		{[]string{"up", ""}, nil, ExitUsage, "PATH: is given and is empty"},
		{[]string{"trust", ""}, nil, ExitUsage, "PATH: is given and is empty"},
		{[]string{"man", ""}, nil, ExitUsage, "FOLDER: is given and is empty"},
		{[]string{"connect", "codex", "--project", "--dir", "/no/such"}, nil, ExitNotFound, "recalld: --dir: there is no folder"},
		{[]string{"resume", ""}, nil, ExitUsage, "PATH: is given and is empty"},
		{[]string{"model", "nosuch"}, nil, ExitUsage, "unknown command"},
		{[]string{"sessions", "x"}, nil, ExitUsage, "too many arguments: recalld sessions"},
		{[]string{"sessions", "--limit", "0"}, nil, ExitUsage, "limit: 1–50"},
		{[]string{"sessions", "--limit", "51"}, nil, ExitUsage, "limit: 1–50"},
		{[]string{"sessions", "--since-hours", "721"}, nil, ExitUsage, "limit: 1–720"},
		{[]string{"sessions", "--branch", ""}, nil, ExitUsage, "--branch: "},
		{[]string{"steps"}, nil, ExitUsage, "an argument is missing"},
		{[]string{"steps", strings.Repeat("ä", 201)}, nil, ExitUsage, "limit: 1–200 characters"},
		{[]string{"steps", "q", "--limit", "0"}, nil, ExitUsage, "limit: 1–100"},
		{[]string{"steps", "q", "--limit", "101"}, nil, ExitUsage, "limit: 1–100"},
		{[]string{"last", "-n", "0"}, nil, ExitUsage, "--number: 0 is out of range (limit: 1–200)"},
		{[]string{"last", "-n", "201"}, nil, ExitUsage, "--number: 201 is out of range (limit: 1–200)"},
		{[]string{"last", "--flow-tag", ""}, nil, ExitUsage, "--flow-tag: "},
		{[]string{"summarize", "abc"}, nil, ExitUsage, "SESSION: "},
		{[]string{"import"}, nil, ExitUsage, "an argument is missing"},
		{[]string{"import", ""}, nil, ExitUsage, "PATH: is empty"},
		{[]string{"export", "a"}, memory.Invalid("path", "", "it is not empty"), ExitUsage, "recalld: DIR: it is not empty"},
		{[]string{"backup", "list", ""}, nil, ExitUsage, "DIR: "},
		{[]string{"backup", "list", "nowhere"}, nil, ExitNotFound, "DIR: "},
		{[]string{"eval", "--set", "nowhere"}, nil, ExitNotFound, "nowhere: there is no such folder"},
		{[]string{"export", ""}, nil, ExitUsage, "recalld: DIR: is empty"},
		{[]string{"export", "-"}, nil, ExitUsage, "recalld: DIR: an export is not written to standard output"},
		{[]string{"export", "--all", "-"}, nil, ExitUsage, "recalld: DIR: an export is not written to standard output"},
		{[]string{"export", "a", "b"}, nil, ExitUsage, "too many arguments: recalld export DIR"},
		{[]string{"recall", "q", "--since", "-2d"}, nil, ExitUsage, "2d or 36h"},
		{[]string{"tasks", "--limit", "0"}, nil, ExitUsage, "limit: 0 is out of range (limit: 1–100)"},
		{[]string{"tasks", "--limit", "101"}, nil, ExitUsage, "limit: 101 is out of range (limit: 1–100)"},
		{[]string{"catalogue", "nosuch"}, nil, ExitUsage, "unknown command"},
		{[]string{"catalogue", "--types", "chunk"}, nil, ExitUsage, `unknown type "chunk"`},
		{[]string{"context", "for"}, nil, ExitUsage, "an argument is missing"},
		{[]string{"context", "for", "-"}, nil, ExitUsage, "MESSAGE: is empty"},
		{[]string{"context", "for", "m", "--top-k", "0"}, nil, ExitUsage, "--top-k: 0 is out of range (limit: 1–200)"},
		{[]string{"context", "for", "m", "--top-n", "51"}, nil, ExitUsage, "--top-n: 51 is out of range (limit: 1–50)"},
		{[]string{"context", "for", "m", "--max-tokens", "0"}, nil, ExitUsage, "--max-tokens: 0 is out of range (limit: 50–100000)"},
		{[]string{"context", "for", "m", "--include-score", "1.1"}, nil, ExitUsage, "--include-score: 1.1 is out of range"},
		{[]string{"context", "for", "m", "--session", "abc"}, nil, ExitUsage, "--session: 3 characters"},
		{[]string{"receipts", "--limit", "0"}, nil, ExitUsage, "limit: 1–200"},
		{[]string{"receipts", "--limit", "201"}, nil, ExitUsage, "limit: 1–200"},
		{[]string{"receipts", "--since", "monday"}, nil, ExitUsage, "since: \"monday\" is not a time"},
		{[]string{"receipts", "--turn", "1"}, nil, ExitUsage, "turns are counted within a session"},
		{[]string{"receipts", "r-1", "--limit", "3"}, nil, ExitUsage, "is given beside the id of a receipt"},
		{[]string{"feedback", "r-1"}, nil, ExitUsage, "an argument is missing"},
		{[]string{"feedback", "r-1", "good"}, nil, ExitUsage, "worked, failed, irrelevant, outdated"},
		{[]string{"feedback", "", "worked"}, nil, ExitUsage, "RECEIPT: is empty"},
		{[]string{"replay"}, nil, ExitUsage, "hint: name a session with --session, or a time with --since 7d"},
		{[]string{"replay", "--since", "2d", "--floor", "chunk"}, nil, ExitUsage, "--floor: \"chunk\" is no threshold (limit: KIND=0–1)"},
		{[]string{"replay", "--since", "2d", "--floor", "chunk=2"}, nil, ExitUsage, "recalld: --floor: 2 is out of range"},
		{[]string{"replay", "--since", "2d", "--floor", "chunk=1", "--floor", "chunk=0"}, nil, ExitUsage, "given twice"},
		{[]string{"replay", "--since", "2d", "--floor", "recipe=0.5"}, nil, ExitUsage, `recalld: --floor: unknown kind "recipe"`},
		{[]string{"token", "add", "ci", "--projects", "/src"}, &memory.Error{Code: memory.CodeConflict, Field: "path", Message: "it holds several"}, ExitConflict, "recalld: --projects: it holds several"},
		{[]string{"token", "add", "ci", "--projects", "p"}, &memory.Error{Code: memory.CodeNotFound, Field: "project", Message: "no such project"}, ExitNotFound, "recalld: --projects: no such project"},
		{[]string{"replay", "--since", "2d", "--weights", "-1"}, nil, ExitUsage, "--weights"},
		{[]string{"replay", "--since", "2d", "--limit", "0"}, nil, ExitUsage, "limit: 1–1000"},
		{[]string{"replay", "--session", ""}, nil, ExitUsage, "--session: "},
		{[]string{"receipts", "r-9"}, &memory.Error{Code: memory.CodeNotFound, Field: "id", Message: "no such receipt"}, ExitNotFound, "hint: run 'recalld receipts' to list them"},
		{[]string{"feedback", "r-9", "worked"}, &memory.Error{Code: memory.CodeNotFound, Field: "receipt", Message: "no such receipt"}, ExitNotFound, "hint: run 'recalld receipts' to list them"},
		{[]string{"context", "for", "m"}, &memory.Error{Code: memory.CodeInvalidInput, Field: "sessionId", Message: "no session is open", Hint: "session_start"}, ExitUsage, "hint: run 'recalld call session_start' to open one"},
		{[]string{"replay", "--since", "2d"}, &memory.Error{Code: memory.CodeUnavailable, Message: "the index is loading"}, ExitUnavailable, "the index is loading"},
		{[]string{"mcp", "--toolsets", "all tools"}, nil, ExitUsage, `--toolsets: mcp.toolsets[0]: "all tools" is neither`},
		{[]string{"mcp", "--toolsets", "tasks,export"}, nil, ExitUsage, `--toolsets: no toolset or tool is called "export"; there are core, `},
		{[]string{"mcp", "--toolsets", ""}, nil, ExitUsage, "--toolsets: is given and is empty"},
		{[]string{"completion", "tcsh"}, nil, ExitUsage, "tcsh"},
		{[]string{"status", "--set", "log.level"}, nil, ExitUsage, "setting=value"},
		{[]string{"status", "--set", "=debug"}, nil, ExitUsage, "setting=value"},
		{[]string{"status", "--set", "log.level=loud"}, nil, ExitUsage, "log.level"},
		{[]string{"status", "--config", "/no/such/file"}, nil, ExitUsage, "no such file"},
		{[]string{"recall", "q"}, &memory.Error{Code: memory.CodeNotFound, Field: "project", Message: "no such project"}, ExitNotFound, "project: no such project"},
		{[]string{"recall", "q"}, above, ExitConflict, "recalld: /src is not in a repository, but contains 2: /src/a, /src/b\nhint: name one with --project"},
		{[]string{"export", "out"}, above, ExitConflict, "recalld: /src is not in a repository"},
		{[]string{"index", "/src"}, above, ExitConflict, "recalld: PATH: /src is not in a repository, but contains 2: /src/a, /src/b\nhint: name one of them"},
		{[]string{"recall", "q"}, &memory.Error{Code: memory.CodeConflict, Message: "several repositories", Hint: "name one"}, ExitConflict, "hint: name one"},
		{[]string{"recall", "q"}, &memory.Error{Code: memory.CodeForbidden, Message: "no"}, ExitForbidden, "no"},
		{[]string{"recall", "q"}, &memory.Error{Code: memory.CodeIncompatible, Message: "newer"}, ExitIncompatible, "newer"},
		{[]string{"recall", "q"}, &memory.Error{Code: memory.CodeUnavailable, Message: "gone"}, ExitUnavailable, "gone"},
		{[]string{"recall", "q"}, &memory.Error{Code: memory.CodeCorrupt, Message: "bad block"}, ExitFailure, "bad block"},
		{[]string{"status"}, errors.New("odd"), ExitFailure, "odd"},
	} {
		b := newBench(t, sample())
		b.fake.Err = tt.err
		out, errs, code := b.run(tt.args...)
		if code != tt.code || !strings.Contains(errs, tt.want) || out != "" {
			t.Errorf("recalld %.60v: exit %d, stdout %q, stderr %q; want exit %d and %q", tt.args, code, out, errs, tt.code, tt.want)
		}
		if tt.err == nil && len(b.fake.Calls()) > 0 {
			t.Errorf("recalld %.60v reached the daemon", tt.args)
		}
	}
}

func TestErrorAsJSON(t *testing.T) {
	b := newBench(t, sample())
	_, errs, code := b.run("recall", "q", "--limit", "51", "--json")
	var body struct{ Error memory.Error }
	if err := json.Unmarshal([]byte(errs), &body); err != nil {
		t.Fatalf("stderr is no JSON: %v: %s", err, errs)
	}
	if code != ExitUsage || body.Error.Code != memory.CodeInvalidInput || body.Error.Field != "limit" || body.Error.Limit != "1–50" {
		t.Errorf("exit %d, error %+v", code, body.Error)
	}
}

// TestUsageErrorAsJSON: --json is respected wherever it stands, even behind what
// is wrong, which is then never read as a flag.
func TestUsageErrorAsJSON(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want bool
	}{
		{[]string{"recall", "q", "--colour", "--json"}, true},
		{[]string{"--json", "nosuch"}, true},
		{[]string{"nosuch", "--json=true"}, true},
		{[]string{"model", "nosuch", "--json"}, true},
		{[]string{"recall", "--limit", "many", "q", "--json=1"}, true},
		{[]string{"recall", "--json"}, true},
		{[]string{"nosuch", "--json=false"}, false},
		{[]string{"nosuch", "--jsonl"}, false},
		{[]string{"recall", "--colour", "--", "--json"}, false},
		{[]string{"nosuch"}, false},
	} {
		_, errs, code := newBench(t, nil).run(tt.args...)
		var body struct{ Error memory.Error }
		got := json.Unmarshal([]byte(errs), &body) == nil && body.Error.Code == memory.CodeInvalidInput
		if got != tt.want || code != ExitUsage {
			t.Errorf("recalld %q: exit %d, JSON %v, want exit %d, JSON %v: %s", tt.args, code, got, ExitUsage, tt.want, errs)
		}
	}
}
