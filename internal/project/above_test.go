package project

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A folder of which git's place cannot be looked at is no repository; a worktree
// whose repository is missing is one.
func TestBelowListsRepositoriesOnly(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"odd", "lost", "real/.git", "plain"} {
		must(t, os.MkdirAll(filepath.Join(dir, filepath.FromSlash(name)), 0o700))
	}
	must(t, os.WriteFile(filepath.Join(dir, "real", ".git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "lost", ".git"), []byte("gitdir: ../gone/.git/worktrees/lost\n"), 0o600))
	// A link to itself cannot be followed by any user.
	if err := os.Symlink(".git", filepath.Join(dir, "odd", ".git")); err != nil {
		t.Skipf("no symbolic links: %v", err)
	}
	want := []string{filepath.Join(dir, "lost"), filepath.Join(dir, "real")}
	if got := Below(dir, 10); !slices.Equal(got, want) {
		t.Errorf("repositories below are %q, want %q", got, want)
	}
	if got := Below(filepath.Join(dir, "odd"), 10); len(got) > 0 {
		t.Errorf("a folder that cannot be looked into is taken for %q", got)
	}
}
