package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// noted are the changes in the audit log of a data folder that commands made without a
// daemon: each operation with its ids, and why it failed.
func noted(t *testing.T, data string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(data, "log", "audit.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var l memory.AuditLine
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		if !l.NoDaemon || l.Client != "cli" || l.At.IsZero() {
			t.Errorf("it does not say that the command line did it: %s", line)
		}
		all = append(all, strings.Join(append(append([]string{l.Operation}, l.IDs...), strings.Fields(l.Error)...), " "))
	}
	return all
}

// TestTokensAreNoted: what is done to tokens is in the audit log, also what failed, and no
// token is.
func TestTokensAreNoted(t *testing.T) {
	b, data := newBench(t, sample()), t.TempDir()
	token := strings.Fields(b.ok("token", "add", "ci", "--read-only", "--data", data))
	b.ok("token", "--keep", "30d", "--data", data)
	b.ok("token", "remove", "ci", "--data", data)
	if _, _, code := b.run("token", "remove", "ci", "--data", data); code != ExitNotFound {
		t.Errorf("a client is removed twice: %d", code)
	}
	for _, keep := range []string{"9999h", "31d", "-1h", "soon"} {
		if _, errs, code := b.run("token", "--keep", keep, "--data", data); code != ExitUsage || !strings.Contains(errs, "--keep: ") || !strings.Contains(errs, "(limit: 0 to 30d, as 2d or 36h)") {
			t.Errorf("--keep %q: %d, %q", keep, code, errs)
		}
	}
	want := []string{"token add ci", "token", "token remove ci", "token remove ci not_found: name"}
	if got := noted(t, data); !slices.Equal(got, want) {
		t.Errorf("the audit log has %q, want %q", got, want)
	}
	text, err := os.ReadFile(filepath.Join(data, "log", "audit.jsonl"))
	if err != nil || strings.Contains(string(text), token[len(token)-1]) {
		t.Errorf("the audit log has a token: %v, %s", err, text)
	}
}

// TestTokenWithoutAFormer: where there was no token, or its file was removed, nothing is said
// to be accepted for a while.
func TestTokenWithoutAFormer(t *testing.T) {
	b, data := newBench(t, sample()), t.TempDir()
	for _, step := range []struct {
		removed, former bool
	}{{false, false}, {false, true}, {true, false}} {
		if step.removed {
			if err := os.Remove(filepath.Join(data, "token")); err != nil {
				t.Fatal(err)
			}
		}
		out := b.ok("token", "--data", data)
		_, err := os.Stat(filepath.Join(data, "token.former"))
		if said := strings.Contains(out, "The former one is accepted"); said != step.former || (err == nil) != step.former {
			t.Errorf("%+v: it says %q, and token.former: %v", step, out, err)
		}
	}
}

// TestAuditTable: a line says when it was, in UTC, whose it is, and that no daemon did it.
func TestAuditTable(t *testing.T) {
	b := newBench(t, map[string]any{service.Audit.Name: &memory.AuditList{Changes: []memory.AuditLine{
		{At: noon, Operation: "forget", Client: "cli", Policy: "ro", Error: "forbidden"}, {At: noon, Operation: "repair", Client: "cli", NoDaemon: true},
	}}})
	if out := b.ok("audit"); !strings.Contains(out, "2026-01-15 12:00:00Z  cli (ro)  ") || !strings.Contains(out, "cli, no daemon  repair") {
		t.Errorf("it lists %s", out)
	}
}
