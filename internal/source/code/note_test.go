package code_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/git/gittest"
)

// TestGitRefusalIsNoted: a repository that git refuses, that of another user for
// instance, is indexed by its ignore files, and its state says so until git is
// asked again.
func TestGitRefusalIsNoted(t *testing.T) {
	r := newRig(t, rigOptions{run: withGit(t)})
	root := folder(t, map[string]string{"a.go": "package a\n", "out.go": "package out\n", ".gitignore": "out.go\n"})
	gittest.Run(t, root, "init", "-q")
	config := filepath.Join(root, ".git", "config")
	sound, err := os.ReadFile(config)
	must(t, err)
	// A format that no git knows is refused as another user's repository is.
	must(t, os.WriteFile(config, []byte("[core]\n\trepositoryformatversion = 99\n"), 0o600))
	q := r.ask(root)
	r.runNext()
	if s := r.state(q.Sandbox); s.LastError != "" || !strings.Contains(s.Note, "git was not asked") || !strings.Contains(s.Note, "99") {
		t.Errorf("refused by git the sandbox is %+v, want a note that says why", s.Sandbox)
	}
	if files := r.indexed(q.Sandbox); len(files) != 2 || files["out.go"].Path != "" {
		t.Errorf("refused by git %d files are indexed, want those that .gitignore leaves", len(files))
	}
	must(t, os.WriteFile(config, sound, 0o600))
	r.ask(root)
	r.runNext()
	if s := r.state(q.Sandbox); s.Note != "" {
		t.Errorf("git lists the files again, and the note is still %q", s.Note)
	}
}
