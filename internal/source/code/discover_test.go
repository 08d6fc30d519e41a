package code_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/git/gittest"
)

// TestRepositoriesThatAppear: made, cloned, or moved below a folder of the settings,
// as deep as they are looked for.
func TestRepositoriesThatAppear(t *testing.T) {
	opts := withGit(t)
	work, origin := folder(t, map[string]string{"notes.md": "# Notes\n"}), folder(t, map[string]string{"a.go": "package a\n"})
	gittest.Run(t, origin, "init", "-q")
	gittest.Run(t, origin, "add", "-A")
	gittest.Run(t, origin, "commit", "-q", "-m", "first")
	r := live(t, rigOptions{run: opts, staleAfter: time.Hour}, work)
	appears := func(root string, files int) {
		t.Helper()
		began := time.Now()
		run := r.next()
		if s := r.state(run.Sandbox); s.Root != root {
			t.Fatalf("found is %s, want %s", s.Root, root)
		}
		t.Logf("%s is found after %s", filepath.Base(root), time.Since(began).Round(time.Millisecond))
		r.runNext()
		if s := r.state(run.Sandbox); s.Files != files {
			t.Errorf("%s has %d files, want %d", root, s.Files, files)
		}
		if first := r.next(); first.Sandbox != run.Sandbox {
			t.Fatalf("queued is %+v, want the look when it is watched", first)
		}
		r.runNext()
	}
	write(t, work, "made/b.go", "package b\n")
	gittest.Run(t, filepath.Join(work, "made"), "init", "-q")
	appears(filepath.Join(work, "made"), 1)
	must(t, os.MkdirAll(filepath.Join(work, "x", "y"), 0o755))
	gittest.Run(t, filepath.Join(work, "x", "y"), "clone", "-q", origin, "cloned")
	appears(filepath.Join(work, "x", "y", "cloned"), 1)
	must(t, os.Rename(origin, filepath.Join(work, "x", "moved")))
	appears(filepath.Join(work, "x", "moved"), 1)

	must(t, os.Mkdir(filepath.Join(work, "empty"), 0o755))
	gittest.Run(t, filepath.Join(work, "empty"), "init", "-q")
	appears(filepath.Join(work, "empty"), 0)
}

// TestUnfinishedClone: what git is still fetching waits, and what a repository
// belongs to is asked when it is there.
func TestUnfinishedClone(t *testing.T) {
	work := folder(t, nil)
	r := live(t, rigOptions{staleAfter: time.Hour}, work)
	half := filepath.Join(work, "half")
	must(t, os.Mkdir(half, 0o755))
	gitFolder(t, half, "")
	write(t, half, ".git/objects/pack/tmp_pack_X1", "PACK")
	write(t, work, "whole/a.go", "package a\n")
	gitFolder(t, filepath.Join(work, "whole"), "")
	run := r.next()
	if s := r.state(run.Sandbox); s.Root != filepath.Join(work, "whole") {
		t.Fatalf("found is %s, which is not finished", s.Root)
	}
	r.runNext()
	r.next()
	r.runNext()
	gitFolder(t, half, "https://example.com/team/half.git")
	write(t, half, "b.go", "package b\n")
	must(t, os.Remove(filepath.Join(half, ".git", "objects", "pack", "tmp_pack_X1")))
	run = r.next()
	if s := r.state(run.Sandbox); s.Root != half || s.ProjectName != "half" {
		t.Errorf("found is %+v, want half with its remote", s)
	}
	r.runNext()
}
