package fsx

import (
	"os"
	"path/filepath"
	"testing"
)

// Two spellings of one folder must not become two daemons.
func TestCanonical(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skipf("no symbolic links: %v", err)
	}
	for _, spelling := range []string{
		filepath.Join(dir, "a", "b"), filepath.Join(link, "a", "b"), dir + "/a/../a/./b",
	} {
		got, err := Canonical(spelling)
		if err != nil {
			t.Fatal(err)
		}
		if want := filepath.Join(dir, "a", "b"); got != want {
			t.Errorf("%s is %s, want %s", spelling, got, want)
		}
	}
}
