package memory_test

import (
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

func TestWords(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	indexed := memory.Sandbox{IndexedAt: now}
	for want, got := range map[string]string{
		"1 file": memory.Count(1, "file"), "0 files": memory.Count(0, "file"), "3 files": memory.Count(3, "file"),
		"demo": memory.ProjectLabel("demo", "p1"), "p1": memory.ProjectLabel("", "p1"), "x run": memory.ProjectLabel("x\nrun", "p1"),
		"0 %": memory.Percent(0, 0), "99 %": memory.Percent(999, 1000), "100 %": memory.Percent(7, 7),
		"next": memory.IndexQueued{}.Turn(), "1 job ahead of it": memory.IndexQueued{Position: 1}.Turn(),

		"queued":          memory.SandboxState{Progress: &memory.Progress{Phase: "queued"}}.IndexState(),
		"indexing 33 %":   memory.SandboxState{Progress: &memory.Progress{Phase: "indexing", FilesDone: 3, FilesTotal: 9}}.IndexState(),
		"indexing 0 %":    memory.SandboxState{Progress: &memory.Progress{Phase: "indexing"}}.IndexState(),
		"gone":            memory.SandboxState{Sandbox: memory.Sandbox{GoneAt: now, Paused: true}}.IndexState(),
		"paused":          memory.SandboxState{Sandbox: memory.Sandbox{Paused: true}, Progress: &memory.Progress{Phase: "queued"}}.IndexState(),
		"walking":         memory.SandboxState{Sandbox: indexed, Progress: &memory.Progress{Phase: "walking"}}.IndexState(),
		"failed":          memory.SandboxState{Sandbox: memory.Sandbox{IndexedAt: now, LastError: "disk full", LastErrorAt: now.Add(-1)}, Progress: &memory.Progress{Phase: "done"}}.IndexState(),
		"not indexed yet": memory.SandboxState{}.IndexState(),
		"stale":           memory.SandboxState{Sandbox: indexed, Stale: true}.IndexState(),
		"ready":           memory.SandboxState{Sandbox: indexed}.IndexState(),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
