package code_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/git/gittest"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/source/code"
	"github.com/recalld/recalld/worker"
)

// live is a rig whose sandboxes are watched.
func live(t *testing.T, opts rigOptions, folders ...string) *rig {
	t.Helper()
	opts.watch = true
	r := newRig(t, opts)
	r.refresh(folders...)
	return r
}

// settle indexes a folder and runs what follows from that it is watched.
func (r *rig) settle(root string) *memory.IndexQueued {
	r.t.Helper()
	q := r.ask(root)
	r.next()
	r.runNext()
	r.first(q)
	return q
}

// first runs the look that follows from that a sandbox is watched.
func (r *rig) first(q *memory.IndexQueued) {
	r.t.Helper()
	if run := r.next(); run.Sandbox != q.Sandbox || len(run.Changed) > 0 {
		r.t.Fatalf("when it is watched %+v is queued, want a look at all of %s", run, q.Sandbox)
	}
	r.runNext()
}

// changed waits for a run over exactly these paths, and runs it.
func (r *rig) changed(q *memory.IndexQueued, paths ...string) {
	r.t.Helper()
	run := r.next()
	if run.Sandbox != q.Sandbox || !slices.Equal(run.Changed, paths) {
		r.t.Fatalf("queued is a run of %s over %q, want %s over %q", run.Sandbox, run.Changed, q.Sandbox, paths)
	}
	r.runNext()
}

// withGit are the options of runs that ask git.
func withGit(t testing.TB) code.Options {
	t.Helper()
	gittest.Need(t)
	o := runOptions()
	o.Git = "git"
	return o
}

// TestChangesAreIndexed: what is saved, renamed and removed is queued with its path
// and nothing else; what the rules leave out is not.
func TestChangesAreIndexed(t *testing.T) {
	root := folder(t, map[string]string{
		"a.go": "package a\n", "sub/b.go": "package b\n", ".gitignore": "output/\n*.gen.go\n",
		"output/c.go": "package c\n", "node_modules/d.js": "1\n", "nested/.git/HEAD": "ref: refs/heads/main\n", "nested/e.go": "package e\n",
	})
	gitFolder(t, root, "")
	r := live(t, rigOptions{})
	q := r.settle(root)
	if s := r.state(q.Sandbox); s.Watch != "events" && !strings.HasPrefix(s.Watch, "polling: ") || s.Files != 3 {
		t.Fatalf("the sandbox is %+v, want .gitignore, a.go and b.go, and that it is watched", s)
	}
	write(t, root, "a.go", "package a\n\nfunc Saved() {}\n")
	r.changed(q, "a.go")
	for name, text := range map[string]string{
		"output/c.go": "package cc\n", "node_modules/d.js": "22\n", "nested/e.go": "package ee\n", "x.gen.go": "package x\n",
		"sum.lock": "1\n", "logo.png": "\x00",
	} {
		write(t, root, name, text)
	}
	must(t, os.Rename(filepath.Join(root, "sub"), filepath.Join(root, "moved")))
	r.changed(q, "moved", "sub")
	if files := r.indexed(q.Sandbox); len(files) != 3 || files["moved/b.go"].Path == "" {
		t.Errorf("indexed are %d files, want .gitignore, a.go and moved/b.go", len(files))
	}
	must(t, os.Remove(filepath.Join(root, "a.go")))
	r.changed(q, "a.go")
	if files := r.indexed(q.Sandbox); len(files) != 2 {
		t.Errorf("after a.go is removed %d files are indexed, want 2", len(files))
	}
	write(t, root, ".gitignore", "moved/\n")
	r.changed(q)
	if files := r.indexed(q.Sandbox); files["output/c.go"].Path == "" || files["moved/b.go"].Path != "" {
		t.Errorf("after the rules changed %d files are indexed, output/c.go not among them or moved/b.go still", len(files))
	}
}

// TestExcludeFileChanges: git's own file of rules lies where no watch is.
func TestExcludeFileChanges(t *testing.T) {
	opts := withGit(t)
	root := folder(t, map[string]string{"a.go": "package a\n", "own/b.go": "package b\n"})
	gittest.Run(t, root, "init", "-q")
	r := live(t, rigOptions{run: opts})
	q := r.settle(root)
	for _, step := range []struct {
		rules string
		want  int
	}{{"own/\n", 1}, {"", 2}} {
		write(t, root, ".git/info/exclude", step.rules)
		r.changed(q)
		if files := r.indexed(q.Sandbox); len(files) != step.want {
			t.Errorf("with the rules %q %d files are indexed, want %d", step.rules, len(files), step.want)
		}
	}
}

// TestTrackedThoughIgnored: what git tracks is indexed whatever its rules say, and
// so it is watched.
func TestTrackedThoughIgnored(t *testing.T) {
	opts := withGit(t)
	root := folder(t, map[string]string{".gitignore": "gen/\n", "gen/deep/a.go": "package a\n", "gen/deep/b.go": "package b\n"})
	gittest.Run(t, root, "init", "-q")
	gittest.Run(t, root, "add", "-f", ".gitignore", "gen/deep/a.go")
	r := live(t, rigOptions{run: opts})
	q := r.settle(root)
	write(t, root, "gen/deep/b.go", "package bb\n")
	write(t, root, "gen/deep/a.go", "package aa\n")
	r.changed(q, "gen/deep/a.go")
}

// TestBranchSwitchIsOneRun: however many files it changes.
func TestBranchSwitchIsOneRun(t *testing.T) {
	opts := withGit(t)
	root := folder(t, nil)
	gittest.Run(t, root, "init", "-q")
	for _, branch := range []string{"main", "other"} {
		for i := range 310 {
			write(t, root, fmt.Sprintf("p%d/f%d.go", i%20, i), fmt.Sprintf("package p\n\n// %s %d\n", branch, i))
		}
		gittest.Run(t, root, "switch", "-q", "-C", branch)
		gittest.Run(t, root, "add", "-A")
		gittest.Run(t, root, "commit", "-q", "-m", branch)
	}
	r := live(t, rigOptions{run: opts})
	q := r.settle(root)
	gittest.Run(t, root, "switch", "-q", "main")
	r.changed(q)
	write(t, root, "sign.go", "package sign\n")
	r.changed(q, "sign.go") // and nothing of the switch before it
}

// TestSavedFileIsFoundSoon: a file that is saved is indexed within a second, while
// other sandboxes are known and watched. The way is the whole one: the system's
// notice, the batch, the queue, a pool, the run, the store.
func TestSavedFileIsFoundSoon(t *testing.T) {
	r := live(t, rigOptions{run: withGit(t)})
	var saved *memory.IndexQueued
	var root string
	for i := range 6 {
		root = folder(t, map[string]string{"a.go": "package a\n", "sub/b.go": fmt.Sprintf("package b\n\n// %d\n", i)})
		gittest.Run(t, root, "init", "-q")
		saved = r.settle(root)
	}
	if s := r.state(saved.Sandbox); s.Watch != "events" {
		t.Skipf("the sandbox is not watched by events: %s", s.Watch)
	}
	ended := make(chan error, 1)
	pool, err := worker.NewPool(worker.Options{
		Queue: r.store.Queue(),
		Handlers: map[string]worker.Handler{indexKind: func(ctx context.Context, job worker.Job) error {
			err := r.boxes.Run(ctx, job.Payload)
			ended <- err
			return err
		}},
	})
	must(t, err)
	pool.Start()
	defer func() { must(t, pool.Stop(context.Background())) }()
	var took []time.Duration
	for i := range 3 {
		before := r.indexed(saved.Sandbox)["a.go"].Hash
		began := time.Now()
		write(t, root, "a.go", fmt.Sprintf("package a\n\nfunc Saved%d() {}\n", i))
		select {
		case err := <-ended:
			must(t, err)
		case <-time.After(patience):
			t.Fatalf("nothing was indexed for %s", patience)
		}
		took = append(took, time.Since(began))
		if r.indexed(saved.Sandbox)["a.go"].Hash == before {
			t.Fatal("the run did not index the file that was saved")
		}
	}
	t.Logf("indexed after %s", took)
	// Other programs may have the machine meanwhile: the best of three counts.
	if best := slices.Min(took); best > time.Second {
		t.Errorf("a saved file is indexed after %s at best, want within a second", best)
	}
}

// TestWatchedIsNotStale: a quiet repository that is watched is up to date, however
// long ago it was last indexed.
func TestWatchedIsNotStale(t *testing.T) {
	r := live(t, rigOptions{staleAfter: time.Minute})
	q, other := r.settle(folder(t, map[string]string{"a.go": "package a\n"})), r.settle(folder(t, map[string]string{"b.go": "package b\n"}))
	r.clock.advance(time.Hour)
	// The watch says that a batch waits until a moment after it was taken.
	quiet := func() bool { return !r.state(q.Sandbox).Stale }
	r.until(other, "a quiet sandbox that is watched is stale", quiet)
	if r.boxes.Stale(q.Project, false) {
		t.Error("the sandbox is quiet, and its project stale")
	}
	if !r.boxes.Stale(q.Project, true) {
		t.Error("code was seen to have changed, and it is not stale")
	}
	r.next()
	if !r.state(q.Sandbox).Stale {
		t.Error("a run waits for what was seen, and the sandbox is not stale")
	}
	r.runNext()
	r.clock.advance(time.Hour)
	write(t, q.Root, "a.go", "package a2\n")
	r.next()
	if !r.state(q.Sandbox).Stale {
		t.Error("a run over a saved file waits, and the sandbox is not stale")
	}
	r.runNext()
	r.until(other, "after that run it is still stale", quiet)
}

// TestPausedIsWatchedAndNotRun: what changes meanwhile is made up for.
func TestPausedIsWatchedAndNotRun(t *testing.T) {
	r := live(t, rigOptions{})
	q, other := r.settle(folder(t, map[string]string{"a.go": "package a\n"})), r.settle(folder(t, map[string]string{"b.go": "package b\n"}))
	pause := func(resume bool) {
		t.Helper()
		_, err := r.boxes.Pause(t.Context(), memory.PauseRequest{Path: q.Root, Resume: resume})
		must(t, err)
	}
	pause(false)
	write(t, q.Root, "a.go", "package paused\n")
	for !r.state(q.Sandbox).Stale { // the batch is what makes it so
		write(t, other.Root, "b.go", "package b\n\n// "+time.Now().String()+"\n")
		r.changed(other, "b.go")
	}
	pause(true)
	r.changed(q)
	if s := r.state(q.Sandbox); s.Stale || s.Files != 1 {
		t.Errorf("after it was resumed: %+v", s)
	}
}

// TestReconcile: every sandbox is looked at from time to time, in turn.
func TestReconcile(t *testing.T) {
	r := newRig(t, rigOptions{reconcile: 10 * time.Millisecond})
	one, two := r.ask(folder(t, map[string]string{"a.go": "package a\n"})), r.ask(folder(t, map[string]string{"b.go": "package b\n"}))
	r.runBoth()
	r.refresh()
	r.runBoth() // of the start
	first, second := r.next(), r.next()
	got := []string{first.Sandbox, second.Sandbox}
	slices.Sort(got)
	want := []string{one.Sandbox, two.Sandbox}
	slices.Sort(want)
	if !slices.Equal(got, want) || len(first.Changed)+len(second.Changed) > 0 {
		t.Errorf("looked at %v, want all of each of %v", got, want)
	}
	lease := r.lease() // the other one waits, so that its turn passes
	must(t, r.run(lease))
	if next := r.next(); next.Sandbox != lease.Key {
		t.Errorf("looked at %s, which waits for that, want %s", next.Sandbox, lease.Key)
	}
}
