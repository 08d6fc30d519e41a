package daemon

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// TestNpmErrorFindsNpmsLessons: contract 2 names the question. Nothing says "error"
// in two of npm's three lessons, and the failing steps around them say it often. Others
// have a line at most.
func TestNpmErrorFindsNpmsLessons(t *testing.T) {
	core := openQuiet(t)
	ctx := t.Context()
	agent := memory.Caller{Dir: t.TempDir(), Client: "claude-code", Session: "mm-mixed"}
	if _, err := core.Ingest.StartSession(ctx, memory.StartSessionRequest{SessionID: "mm-mixed", Goal: "release the shop", Caller: agent}); err != nil {
		t.Fatalf("start: %v", err)
	}
	var npm []string
	for _, l := range []memory.RememberRequest{
		{Context: "npm install → EACCES", Lesson: "Run `sudo chown -R $USER .` first", Command: "npm install", SuccessRate: "9/10", Tags: []string{"npm"}},
		{Context: "npm ci fails with a lockfile error", Lesson: "Regenerate package-lock.json with the npm version of the pipeline", Type: memory.EventError},
		{Context: "npm publish asks for a one-time password", Lesson: "Use an automation token in the pipeline"},
		{Context: "docker build error", Lesson: "Copy the lock file before the sources", Type: memory.EventError},
		{Context: "cargo build error: linker `cc` not found", Lesson: "Install build-essential", Type: memory.EventError},
		{Context: "pytest fails on import", Lesson: "Add conftest.py to the root", Type: memory.EventError},
		{Context: "go test error: too many open files", Lesson: "Raise ulimit -n", Type: memory.EventError},
		{Context: "git push rejected", Lesson: "Rebase on the remote branch first"},
		{Context: "kubectl apply", Lesson: "Server-side apply avoids the annotation limit"},
		{Context: "make release", Lesson: "Tag before the archives are built"},
	} {
		l.Caller = agent
		kept, err := core.Ingest.Remember(ctx, l)
		if err != nil {
			t.Fatalf("remember %q: %v", l.Context, err)
		}
		if len(npm) < 3 {
			npm = append(npm, kept.ID)
		}
	}
	for _, s := range []struct{ command, failure string }{
		{"npm test", "npm error Missing script: test"}, {"npm run build", "npm error code ELIFECYCLE"}, {"npm install", "npm error network timeout"},
		{"npm ci", "npm error cipm can only install with an existing lock"}, {"npm audit", "npm error audit endpoint returned an error"},
		{"npm start", "npm error enoent"}, {"cargo test", "error: test failed"}, {"go vet ./...", "vet: error in package"},
	} {
		input, _ := json.Marshal(map[string]string{"command": s.command})
		_, err := core.Ingest.RecordStep(ctx, memory.RecordStepRequest{
			SessionID: "mm-mixed", Tool: memory.StepTool{Name: "Bash", Input: input},
			Outcome: memory.Outcome{Error: &memory.StepError{Message: s.failure}}, Caller: agent,
		})
		if err != nil {
			t.Fatalf("record %q: %v", s.command, err)
		}
	}

	for name, test := range map[string]struct {
		query string
		kinds []memory.Kind
	}{
		"lessons alone": {"npm error", []memory.Kind{memory.Lesson}}, "beside steps": {"npm error", nil},
		"a problem": {"npm problem", []memory.Kind{memory.Lesson}}, "problems beside steps": {"problem with npm", nil},
	} {
		a, err := core.Recall.Recall(ctx, memory.RecallRequest{Query: test.query, Kinds: test.kinds, Explain: true, Caller: memory.Caller{Dir: agent.Dir}})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got []string
		for _, item := range a.Items {
			if item.Kind == memory.Lesson && item.Strength != memory.Maybe {
				got = append(got, item.ID)
			}
		}
		slices.Sort(got)
		if want := slices.Sorted(slices.Values(npm)); !slices.Equal(got, want) {
			t.Errorf("%s: %q finds the lessons %v, want npm's %v:\n%s", name, test.query, got, want, a.Text)
		}
	}
}
