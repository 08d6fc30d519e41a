//go:build unix

package contextfile

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

// The scan does not wait for a pipe without a writer, and reports a file that may not be read.
func TestOddFiles(t *testing.T) {
	r := newRepo(t, map[string]string{"AGENTS.md": "be kind", "CLAUDE.md": "be brief"})
	if err := syscall.Mkfifo(r.path(".cursorrules"), 0o644); err != nil {
		t.Skipf("pipes cannot be made here: %v", err)
	}
	if err := os.Chmod(r.path("CLAUDE.md"), 0); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{".cursorrules": "is not a file"}
	if os.Getuid() != 0 { // who may read everything
		want["CLAUDE.md"] = "may not be read"
	}
	found := r.look()
	for _, p := range found.Problems {
		if !strings.Contains(p.Message, want[p.File]) || want[p.File] == "" {
			t.Errorf("the problem %+v, want %q", p, want[p.File])
		}
		delete(want, p.File)
	}
	if len(want) > 0 || !strings.HasPrefix(listing(found), "rule AGENTS.md") {
		t.Errorf("found %s and no problem of %v", listing(found), want)
	}
}
