//go:build unix

package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/testkit/badfile"
	"github.com/recalld/recalld/internal/testkit/underrace"
)

// TestHostileArchives: what is no archive of a file is refused soon, in words that name it, and
// nothing of it is taken.
func TestHostileArchives(t *testing.T) {
	s := serve(t, newConfig(t))
	s.keep(t.TempDir(), "Use npm ci in the shop's pipeline")
	path, _ := exportAll(t, s)
	whole, err := os.ReadFile(path)
	must(t, err)
	before, err := service.Status.Do(t.Context(), s, service.None{})
	must(t, err)
	for bad, put := range badfile.All {
		path := filepath.Join(t.TempDir(), "archive.jsonl")
		must(t, put(path, string(whole)))
		took := badfile.Bounded(t, bad, func() { _, err = importAll(t, s, path) })
		if e := memory.AsError(err); err == nil || !strings.Contains(e.Message, path) || e.Code == memory.CodeInternal || took > 256<<20 {
			t.Errorf("%s: %d MB were allocated, and it is answered with %.300v", bad, took>>20, err)
		}
	}
	after, err := service.Status.Do(t.Context(), s, service.None{})
	must(t, err)
	if after.Documents != before.Documents {
		t.Errorf("%d documents became %d", before.Documents, after.Documents)
	}
}

// TestHostileFilesOfRepository: whatever lies where a repository's files are expected, its code
// is indexed, and the daemon stays within its memory.
func TestHostileFilesOfRepository(t *testing.T) {
	underrace.Skip(t, "one repository after the other, and a bound on memory")
	s := serve(t, newConfig(t))
	files := map[string]string{
		".gitignore": "*.log\n", ".recalldignore": "*.log\n", ".recalld/context.yaml": "rules:\n  - id: r1\n    text: Use npm ci\n",
		"agent-knowledge/logs/x.jsonl": `{"timestamp":"2026-01-01T00:00:00Z","agent_id":"a","repo":"shop","event_type":"pattern","context":"c","lesson":"Use npm ci","tags":[]}` + "\n",
		".git/info/exclude":            "*.log\n",
	}
	for bad, put := range badfile.All {
		dir := shop(t)
		for name, whole := range files {
			path := filepath.Join(dir, filepath.FromSlash(name))
			must(t, os.MkdirAll(filepath.Dir(path), 0o700))
			must(t, put(path, whole))
		}
		var box memory.SandboxState
		took := badfile.Bounded(t, bad, func() {
			if _, err := service.Trust.Do(t.Context(), s, memory.TrustRequest{Path: dir, Caller: memory.Caller{Dir: dir}}); err != nil {
				t.Errorf("%s: trust: %v", bad, err)
			}
			box = s.indexed(s.index(dir))
		})
		if took > 128<<20 {
			t.Errorf("%s: %d MB were allocated", bad, took>>20)
		}
		if box.Files < 2 {
			t.Errorf("%s: %d files are indexed, want cart.go and mail.go", bad, box.Files)
		}
	}
}

// TestHostileAgentLogs: logs of an agent that are none are left out, and the others are imported.
func TestHostileAgentLogs(t *testing.T) {
	underrace.Skip(t, "a bound on memory")
	home := agentHome(t, t.TempDir())
	logs := filepath.Join(home, ".claude", "projects", "shop")
	whole, err := os.ReadFile(filepath.Join(logs, "one.jsonl"))
	must(t, err)
	for bad, put := range badfile.All {
		must(t, put(filepath.Join(logs, bad+".jsonl"), string(whole))) // all but two come before the good one
	}
	s := serve(t, newConfig(t), func(o *Options) { o.home = home })
	took := badfile.Bounded(t, "the import", func() {
		got, err := importLogs(t, s, memory.AgentImportRequest{Consent: true})
		if err != nil || got.Added+got.Known == 0 {
			t.Errorf("%+v, %v", got, err)
		}
	})
	if took > 128<<20 {
		t.Errorf("%d MB were allocated", took>>20)
	}
}
