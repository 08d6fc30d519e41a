package mcp

import (
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// TestIndexState: an agent reads why a folder's index is not as it should be, and
// what is there all the same.
func TestIndexState(t *testing.T) {
	at := time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)
	box := memory.Sandbox{IndexedAt: at, Files: 2, Chunks: 3}
	held, gone, failed := box, box, box
	held.Paused, gone.GoneAt, failed.LastErrorAt, failed.LastError = true, at, at.Add(1), "disk full"
	for want, state := range map[string]memory.SandboxState{
		"ready, 2 files, 3 chunks":                      {Sandbox: box},
		"stale, 2 files, 3 chunks, 1 file pruned":       {Sandbox: box, Stale: true, Pruned: 1},
		"paused, 2 files, 3 chunks":                     {Sandbox: held},
		"failed: disk full":                             {Sandbox: failed},
		"its folder is missing since 2026-01-15T12:00Z": {Sandbox: gone},
		"indexing 50 %":                                 {Sandbox: box, Progress: &memory.Progress{Phase: "indexing", FilesDone: 1, FilesTotal: 2}},
	} {
		if got := indexState(state); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestCodeText: what nothing can be said of is left out.
func TestCodeText(t *testing.T) {
	for want, code := range map[string]memory.CodeState{
		"": {},
		"- code: 1 folder, 0 stale, 0 runs waiting\n":                {Sandboxes: 1},
		"- all work in the background is held, by `recalld pause`\n": {Paused: true},
	} {
		if got := codeText(&code); got != want {
			t.Errorf("%+v: %q, want %q", code, got, want)
		}
	}
}
