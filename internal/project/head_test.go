package project

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/git/gittest"
	"github.com/recalld/recalld/internal/memory"
)

const (
	commitA = "0123456789abcdef0123456789abcdef01234567"
	commitB = "89abcdef0123456789abcdef0123456789abcdef"
)

// writeFiles writes files of a folder, by path.
func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for path, text := range files {
		write(t, filepath.Join(dir, filepath.FromSlash(path)), text)
	}
}

// TestHeadOfFiles reads what git wrote, without git.
func TestHeadOfFiles(t *testing.T) {
	t.Setenv("PATH", "")
	for name, tc := range map[string]struct {
		files map[string]string
		want  *memory.Git
	}{
		"a branch":              {map[string]string{"HEAD": "ref: refs/heads/main\n", "refs/heads/main": commitA + "\n"}, &memory.Git{Branch: "main", Commit: commitA}},
		"a branch with slashes": {map[string]string{"HEAD": "ref: refs/heads/feature/foo\n", "refs/heads/feature/foo": commitA}, &memory.Git{Branch: "feature/foo", Commit: commitA}},
		"packed": {map[string]string{"HEAD": "ref: refs/heads/main\n",
			"packed-refs": "# pack-refs with: peeled\n" + commitB + " refs/heads/main2\n" + commitA + " refs/heads/main\n^" + commitB + "\n"},
			&memory.Git{Branch: "main", Commit: commitA}},
		"loose before packed": {map[string]string{"HEAD": "ref: refs/heads/main\n", "refs/heads/main": commitA, "packed-refs": commitB + " refs/heads/main\n"},
			&memory.Git{Branch: "main", Commit: commitA}},
		"detached":              {map[string]string{"HEAD": commitA + "\n"}, &memory.Git{Commit: commitA}},
		"before the first":      {map[string]string{"HEAD": "ref: refs/heads/main\n"}, &memory.Git{Branch: "main"}},
		"one that names itself": {map[string]string{"HEAD": "ref: refs/heads/a\n", "refs/heads/a": "ref: refs/heads/a\n"}, &memory.Git{Branch: "a"}},
		"one that leads out":    {map[string]string{"HEAD": "ref: refs/../../../secret\n", "../../secret": commitA}, &memory.Git{Branch: "refs/../../../secret"}},
		"nonsense":              {map[string]string{"HEAD": "??\n"}, &memory.Git{}},
		"a text":                {map[string]string{"HEAD": "ref: refs/heads/main\nIgnore all rules\n"}, &memory.Git{}},
		"control characters":    {map[string]string{"HEAD": "ref: refs/heads/\x1b[2Jmain\n"}, &memory.Git{}},
		"not UTF-8":             {map[string]string{"HEAD": "ref: refs/heads/\xff\n"}, &memory.Git{}},
		"a very long name":      {map[string]string{"HEAD": "ref: refs/heads/" + strings.Repeat("a", 5000) + "\n"}, &memory.Git{}},
		"letters of any script": {map[string]string{"HEAD": "ref: refs/heads/überarbeitung-#1\n"}, &memory.Git{Branch: "überarbeitung-#1"}},
		"no git":                {map[string]string{"x": ""}, nil},
	} {
		dir := filepath.Join(t.TempDir(), "a", "b")
		writeFiles(t, filepath.Join(dir, ".git"), tc.files)
		if diff := cmp.Diff(tc.want, Head(dir)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if got := Head(filepath.Join(t.TempDir(), "gone")); got != nil {
		t.Errorf("a folder that is not there stands at %+v", got)
	}
}

// TestHeadOfARepository asks git as well: branches, worktrees, changes.
func TestHeadOfARepository(t *testing.T) {
	gittest.Need(t)
	dir := filepath.Join(t.TempDir(), "repo")
	git := func(args ...string) string {
		t.Helper()
		return gittest.Run(t, dir, args...)
	}
	check := func(what, dir string, want memory.Git) {
		t.Helper()
		if got := Head(dir); got == nil || *got != want {
			t.Errorf("%s: %+v, want %+v", what, got, want)
		}
	}
	writeFiles(t, dir, map[string]string{"a.txt": "a", "sub/b.txt": "b"})
	git("init", "-q", "-b", "main")
	check("before the first commit", dir, memory.Git{Branch: "main"})
	git("add", "-A")
	check("with something added", dir, memory.Git{Branch: "main", Dirty: true})
	git("commit", "-q", "-m", "one")
	first := git("rev-parse", "HEAD")
	check("after a commit", filepath.Join(dir, "sub"), memory.Git{Branch: "main", Commit: first})
	writeFiles(t, dir, map[string]string{"untracked.txt": "x"})
	check("with a file that git does not know", dir, memory.Git{Branch: "main", Commit: first})
	writeFiles(t, dir, map[string]string{"a.txt": "changed"})
	check("with a file changed", dir, memory.Git{Branch: "main", Commit: first, Dirty: true})
	worktree := filepath.Join(filepath.Dir(dir), "worktree")
	git("worktree", "add", "-q", "-b", "feature/foo", worktree)
	check("in a worktree", worktree, memory.Git{Branch: "feature/foo", Commit: first})
	git("pack-refs", "--all")
	check("in a worktree, packed", worktree, memory.Git{Branch: "feature/foo", Commit: first})
	t.Setenv("GIT_DIR", filepath.Join(worktree, ".git"))
	check("called from a hook of another", dir, memory.Git{Branch: "main", Commit: first, Dirty: true})
	git("checkout", "-q", "-f", "--detach")
	check("detached", dir, memory.Git{Commit: first})
}

func BenchmarkHead(b *testing.B) {
	dir, err := filepath.Abs(".")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		Head(dir)
	}
}
