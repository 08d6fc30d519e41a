//go:build unix

package code

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/recalld/recalld/internal/project"
)

// TestFolderReplaced: a folder that git still lists files of has become something
// else. The run ends, a pipe does not hold it up, and what was below is dropped.
func TestFolderReplaced(t *testing.T) {
	for name, replace := range map[string]func(path string) error{
		"a file":                func(path string) error { return os.WriteFile(path, []byte("package was\n"), 0o600) },
		"a pipe":                func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a link that leads out": func(path string) error { return os.Symlink(os.TempDir(), path) },
		"a link inside":         func(path string) error { return os.Symlink("kept", path) },
	} {
		t.Run(name, func(t *testing.T) {
			root := tree(t, map[string]string{"was/a.go": "package a\n", "kept/a.go": "package kept\n"})
			gitInit(t, root)
			s := newShelf()
			index(t, root, s, nil, settings(Options{}))
			must(t, os.RemoveAll(filepath.Join(root, "was")))
			if err := replace(filepath.Join(root, "was")); err != nil {
				t.Skipf("this system makes no such thing: %v", err)
			}
			report := index(t, root, s, nil, settings(Options{}))
			if report.Incomplete || slices.Contains(s.paths(), "was/a.go") || !slices.Contains(s.paths(), "kept/a.go") {
				t.Errorf("the run is incomplete: %t; kept are %q, want was/a.go dropped", report.Incomplete, s.paths())
			}
		})
	}
}

// TestGitWarns: in a repository that git warns about at every call, for an ignore file that
// is a link or for a folder that it may not open, a file that git ignores by now is dropped.
func TestGitWarns(t *testing.T) {
	root := tree(t, map[string]string{"a.go": "package a\n", "rules": "*.tmp\n", "sub/b.go": "package b\n", "sub/c.go": "package c\n"})
	gitInit(t, root)
	must(t, os.Symlink("../rules", filepath.Join(root, "sub", ".gitignore")))
	put(t, root, "sub/new.go", "package b\n")
	s := newShelf()
	index(t, root, s, nil, settings(Options{}))
	if !slices.Contains(s.paths(), "sub/new.go") {
		t.Fatalf("indexed %q, want sub/new.go as well", s.paths())
	}
	put(t, root, ".gitignore", "new.go\n")
	if index(t, root, s, nil, settings(Options{})); slices.Contains(s.paths(), "sub/new.go") {
		t.Errorf("kept are %q, want sub/new.go dropped", s.paths())
	}
}

// TestLinkedIgnoreFile: git, from 2.32 on, does not follow a .gitignore that is a link, so
// what it names is indexed without git too, and its changes are noticed.
func TestLinkedIgnoreFile(t *testing.T) {
	root := tree(t, map[string]string{"rules": "a.go\nb.go\n", "sub/a.go": "package a\n", "sub/b.go": "package b\n", "sub/c.go": "package c\n"})
	for name, target := range map[string]string{".gitignore": "../rules", ".recalldignore": "own"} {
		must(t, os.Symlink(target, filepath.Join(root, "sub", name)))
	}
	put(t, root, "sub/own", "c.go\n") // a link of ours is followed
	want := []string{"rules", "sub/a.go", "sub/b.go", "sub/own"}
	s := newShelf()
	if index(t, root, s, nil, settings(Options{Git: "none"})); !slices.Equal(s.paths(), want) {
		t.Errorf("without git: indexed %q, want %q", s.paths(), want)
	}
	rules := (&Sandboxes{opts: SandboxesOptions{Run: settings(Options{Git: "none"})}}).rulesOf(root)(t.Context())
	for _, name := range want {
		if rules.Skip(name, false) {
			t.Errorf("changes of %s are not noticed", name)
		}
	}
}

// TestExcludeStateOfALink: what a link leads to may change all the time, which would index the
// repository again and again.
func TestExcludeStateOfALink(t *testing.T) {
	dir := tree(t, map[string]string{"info/exclude": "own/\n"})
	id := project.Identity{CommonDir: dir}
	if excludeState(id) == "" {
		t.Error("a file has no state")
	}
	must(t, errors.Join(os.Remove(excludeFile(id)), os.Symlink(dir, excludeFile(id))))
	if state := excludeState(id); state != "" {
		t.Errorf("a link has the state %q, want none", state)
	}
}
