package ingest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// TestLessonSpeaksOfItsFolder: a lesson that names no repository speaks of the
// folder that it is told in, as the script has it, not of the remote.
func TestLessonSpeaksOfItsFolder(t *testing.T) {
	r := newRig(t)
	root := filepath.Join(t.TempDir(), "mine")
	for name, text := range map[string]string{
		".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[remote \"origin\"]\n\turl = https://git.example.org/org/lib.git\n", "sub/file": "x",
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o644))
	}
	below := memory.Caller{Dir: filepath.Join(root, "sub")}
	for _, test := range []struct {
		req  memory.RememberRequest
		want string
	}{
		{memory.RememberRequest{Lesson: "one", Caller: below}, "mine"},
		{memory.RememberRequest{Lesson: "two", Repo: "other", Caller: below}, "other"},
		{memory.RememberRequest{Lesson: "three", Project: root}, "lib"},
	} {
		if kept := r.remember(test.req); kept.Repo != test.want || kept.ProjectName != "lib" {
			t.Errorf("%q speaks of %q in %q, want %q in lib", test.req.Lesson, kept.Repo, kept.ProjectName, test.want)
		}
	}
}
