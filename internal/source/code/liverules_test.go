package code

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/source/watch"
)

// TestLiveRules: what is watched is what a walk would list, as far as names tell.
func TestLiveRules(t *testing.T) {
	root := tree(t, map[string]string{
		".git/HEAD": "ref: refs/heads/main\n", ".git/info/exclude": "private/\n", ".gitignore": "*.log\ngen/\n!keep.log\n",
		"sub/.gitignore": "/only-here\n", ".recalldignore": "big/\n", "nested/.git/HEAD": "ref: refs/heads/main\n",
	})
	s := &Sandboxes{opts: SandboxesOptions{Run: settings(Options{Git: "none"})}}
	rules := s.rulesOf(root)(t.Context())
	if want := filepath.Join(root, ".git"); rules.GitDir == "" || filepath.Base(rules.GitDir) != ".git" {
		t.Errorf("git's folder is %q, want %q", rules.GitDir, want)
	}
	for _, test := range []struct {
		name string
		dir  bool
		want bool
	}{
		{"src", true, false}, {"src/main.go", false, false}, {"node_modules", true, true}, {"sub/node_modules", true, true},
		{"gen", true, true}, {"gen/a.go", false, true}, {"sub/gen", true, true}, {"private", true, true}, {"big", true, true}, {"big", false, false},
		{"a.log", false, true}, {"sub/keep.log", false, true}, {"sub/only-here", true, true}, {"only-here", true, false},
		{"nested", true, true}, {"logo.png", false, true}, {"go.sum", false, true}, {"node_modules", false, false},
	} {
		if got := rules.Skip(test.name, test.dir); got != test.want {
			t.Errorf("skip(%q, folder %t) = %t, want %t", test.name, test.dir, got, test.want)
		}
	}
}

// BenchmarkWatchSandbox has a sandbox of 10,000 folders watched by the rules of a
// walk. Its files do not matter: a folder is one watch, whatever is in it.
func BenchmarkWatchSandbox(b *testing.B) {
	root := b.TempDir()
	for i := range 10_000 {
		if err := os.MkdirAll(filepath.Join(root, fmt.Sprintf("d%03d/e%05d", i%100, i)), 0o755); err != nil {
			b.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, ".gitignore"), []byte("out/\n*.log\n/tmp\n"), 0o644); err != nil {
		b.Fatal(err)
	}
	s := &Sandboxes{opts: SandboxesOptions{Run: settings(Options{Git: "none"})}}
	for b.Loop() {
		w, err := watch.New(watch.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := w.Add(watch.Root{Path: root, Rules: s.rulesOf(root)}); err != nil {
			b.Fatal(err)
		}
		select {
		case <-w.Batches():
		case <-time.After(time.Minute):
			b.Fatal("not watched within a minute")
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
