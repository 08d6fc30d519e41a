package daemon

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// TestSessionsEndWithTheirClient: a session of hooks ends when its client's process is gone,
// or after half a day where that is not known; one that an agent opened stays.
func TestSessionsEndWithTheirClient(t *testing.T) {
	core := openQuiet(t)
	d := &Daemon{core: core, log: slog.New(slog.DiscardHandler)}
	dir := t.TempDir()
	start := func(id, window string, hook bool) {
		t.Helper()
		_, err := core.Ingest.StartSession(t.Context(), memory.StartSessionRequest{SessionID: id, Resume: hook,
			Caller: memory.Caller{Dir: dir, Client: "claude-code", Session: id, Window: window, Hook: hook}})
		if err != nil {
			t.Fatal(err)
		}
	}
	start("alive", "process:7:1", true)
	start("gone", "process:8:1", true)
	start("unknown", "", true)
	start("agents-own", "process:8:1", false)
	left := func() map[string]bool {
		t.Helper()
		open, err := core.Store.OpenSessions()
		if err != nil {
			t.Fatal(err)
		}
		ids := map[string]bool{}
		for _, s := range open {
			ids[s.ID] = true
		}
		return ids
	}
	gone := func(window string) bool { return window == "process:8:1" }
	d.endSessionsOnce(t.Context(), time.Now(), gone)
	if got, want := fmt.Sprint(left()), "map[agents-own:true alive:true unknown:true]"; got != want {
		t.Errorf("open are %s, want %s", got, want)
	}
	d.endSessionsOnce(t.Context(), time.Now().Add(13*time.Hour), gone)
	if got, want := fmt.Sprint(left()), "map[agents-own:true alive:true]"; got != want {
		t.Errorf("after half a day open are %s, want %s", got, want)
	}
}

// TestTitles: a session of hooks is named by its prompt, else by its branch and the files
// that it edited first, else by its first step.
func TestTitles(t *testing.T) {
	core := openQuiet(t)
	dir := t.TempDir()
	caller := memory.Caller{Dir: dir, Client: "claude-code", Session: "titled", Hook: true}
	step := func(tool, input string, ok bool) {
		t.Helper()
		outcome := memory.Outcome{OK: ok}
		if !ok {
			outcome.Error = &memory.StepError{Message: "no"}
		}
		_, err := core.Ingest.RecordStep(t.Context(), memory.RecordStepRequest{SessionID: "titled", Open: true, Caller: caller,
			Tool: memory.StepTool{Name: tool, Input: []byte(input)}, Outcome: outcome})
		if err != nil {
			t.Fatal(err)
		}
	}
	title := func() string {
		t.Helper()
		open, err := core.Store.OpenSessions()
		if err != nil || len(open) != 1 {
			t.Fatalf("open are %v, %v", open, err)
		}
		return open[0].Goal
	}
	for _, s := range []struct {
		tool, input string
		ok          bool
		want        string
	}{
		{"Bash", `{"command":"go test ./..."}`, true, "Bash: go test ./..."},
		{"Bash", `{"command":"ls"}`, true, "Bash: go test ./..."},
		{"Edit", `{"file_path":"/src/broken.go"}`, false, "Bash: go test ./..."},
		{"Edit", `{"file_path":"/src/price.go"}`, true, "edited price.go"},
		{"Edit", `{"file_path":"/src/price.go"}`, true, "edited price.go"},
		{"write_file", `{"file_path":"/src/tax.go"}`, true, "edited price.go, tax.go"},
		{"Edit", `{"file_path":"/src/a.go"}`, true, "edited price.go, tax.go, a.go"},
		{"Edit", `{"file_path":"/src/b.go"}`, true, "edited price.go, tax.go, a.go"},
	} {
		if step(s.tool, s.input, s.ok); title() != s.want {
			t.Errorf("after %s %s it is called %q, want %q", s.tool, s.input, title(), s.want)
		}
	}
	for _, goal := range []string{"Add the tax", "Another prompt"} {
		if _, err := core.Ingest.StartSession(t.Context(), memory.StartSessionRequest{SessionID: "titled", Goal: goal, Resume: true, Caller: caller}); err != nil {
			t.Fatal(err)
		}
	}
	step("Edit", `{"file_path":"/src/c.go"}`, true)
	if got := title(); got != "Add the tax" {
		t.Errorf("with a prompt it is called %q", got)
	}
}
