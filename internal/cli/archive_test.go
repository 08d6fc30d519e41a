package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// TestArchiveCommands: --all asks for an archive by its absolute path, and import knows one
// by its first line.
func TestArchiveCommands(t *testing.T) {
	counts := map[memory.ArchiveKind]int{memory.ArchivedProject: 1, memory.ArchivedRecord: 12, memory.ArchivedForgotten: 2, memory.ArchivedSettings: 1}
	b := newBench(t, map[string]any{
		service.ExportAll.Name: &memory.Archive{Path: "/x/all.jsonl", Counts: counts, Bytes: 2048},
		service.ImportAll.Name: &memory.Archive{Path: "/x/all.jsonl", Version: "0.9", Counts: counts, Added: map[memory.ArchiveKind]int{memory.ArchivedRecord: 3}, LeftOut: 1, Redacted: 2},
	})
	if out := b.ok("export", "--all", "all.jsonl"); !strings.Contains(out, "1 project, 12 records, 2 forgotten") {
		t.Errorf("export says %s", out)
	}
	if r := request[memory.ArchiveRequest](t, b, service.ExportAll.Name); !filepath.IsAbs(r.Path) {
		t.Errorf("it asks for %q", r.Path)
	}
	if _, errs, code := b.run("export", "--all", "--project", "demo", "all.jsonl"); code != ExitUsage || !strings.Contains(errs, "--all and --project exclude each other") {
		t.Errorf("one project and all: exit %d, %s", code, errs)
	}
	file := filepath.Join(t.TempDir(), "all.jsonl")
	if err := os.WriteFile(file, []byte(`{"kind":"recalld-archive","value":{"format":1}}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := b.ok("import", file); !strings.Contains(out, "New: 3 records") || !strings.Contains(out, "1 record forgotten here") || !strings.Contains(out, "Secrets were removed from 2 lines") {
		t.Errorf("import says %s", out)
	}
	if b.ok("import", file, "--dry-run"); !request[memory.ArchiveRequest](t, b, service.ImportAll.Name).DryRun {
		t.Error("--dry-run is not asked for")
	}
	if _, _, code := b.run("import", file, "--project", "demo"); code != ExitUsage {
		t.Errorf("an archive into one project: exit %d", code)
	}
}
