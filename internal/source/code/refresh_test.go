package code_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

func TestRun(t *testing.T) {
	r := newRig(t, rigOptions{})
	root := folder(t, map[string]string{
		"a.go": "package a\n\nfunc A() {}\n", "b.go": "package b\n", "logo.go": "\x00\x01", "sum.lock": "x\n",
	})
	q := r.ask(root)
	began := r.clock.Now()
	var seen *memory.Progress
	r.disk.onPut(func(_ context.Context, f memory.File) error {
		if f.Path == "b.go" {
			seen = r.state(q.Sandbox).Progress
			r.clock.advance(7 * time.Second)
		}
		return nil
	})
	r.runNext()
	if seen == nil || seen.Phase != "indexing" || seen.FilesTotal != 3 || seen.StartedAt.IsZero() {
		t.Errorf("in the run progress was %+v, want indexing of 3 files", seen)
	}
	s := r.state(q.Sandbox)
	if s.Files != 2 || s.Chunks != 2 || s.Bytes == 0 || s.Skipped["binary"] != 1 || s.LastError != "" || s.Progress != nil || s.Stale {
		t.Errorf("after the run: %+v", s)
	}
	if !s.IndexedAt.Equal(began) || s.LastRun.Duration() != 7*time.Second {
		t.Errorf("indexed at %s in %s, want the start of the run, %s, and 7s", s.IndexedAt, s.LastRun.Duration(), began)
	}
	if run := string(mustPayload(t, "s-unknown", q.Project)); r.boxes.Run(t.Context(), []byte(run)) != nil {
		t.Error("a run of a sandbox that was forgotten is an error, though there is nothing to do")
	}
	if err := r.boxes.Run(t.Context(), []byte("7")); err == nil {
		t.Error("a run that cannot be read is no error")
	}
}

func mustPayload(t *testing.T, sandbox, project string) []byte {
	t.Helper()
	return fmt.Appendf(nil, `{"sandbox":%q,"project":%q}`, sandbox, project)
}

// TestPartialRun: a run over some files counts all, and looks at all as long as
// that was not done once.
func TestPartialRun(t *testing.T) {
	r := newRig(t, rigOptions{})
	root := folder(t, map[string]string{"a.go": "package a\n", "b.go": "package b\n", "c.go": "package c\n", "x.go": "\x00"})
	q := r.ask(root, "a.go")
	r.runNext()
	if s := r.state(q.Sandbox); s.Files != 3 {
		t.Errorf("the first run, asked for over one file, indexed %d, want all 3", s.Files)
	}

	write(t, root, "a.go", "package a\n\nfunc Longer() {}\n")
	write(t, root, "b.go", "package b\n\nfunc Overlooked() {}\n")
	write(t, root, "d.go", "package d\n")
	must(t, os.Remove(filepath.Join(root, "c.go")))
	before := r.indexed(q.Sandbox)
	r.ask(root, "a.go", "c.go", "d.go")
	r.runNext()
	after := r.indexed(q.Sandbox)
	if after["b.go"].Hash != before["b.go"].Hash || after["a.go"].Hash == before["a.go"].Hash {
		t.Error("the run did not look at a.go alone of the two that changed")
	}
	var size int64
	for _, f := range after {
		size += f.Size
	}
	s := r.state(q.Sandbox)
	if s.Files != 3 || s.Chunks != 3 || s.Bytes != size || s.Skipped["binary"] != 1 {
		t.Errorf("after a run over some files: %+v, want 3 files, 3 chunks, %d bytes and what was skipped before", s, size)
	}

	// After a failure more may be missing than is asked for next.
	r.disk.onPut(func(context.Context, memory.File) error { return errors.New("the disk is full") })
	r.ask(root)
	if err := r.run(r.lease()); err == nil {
		t.Fatal("a run whose sink fails is no error")
	}
	lost := r.lease() // what was to be tried again is given up
	must(t, r.store.Queue().Settle(t.Context(), lost.ID, deadEnd))
	r.disk.onPut(nil)
	r.ask(root, "a.go")
	r.runNext()
	if f := r.indexed(q.Sandbox)["b.go"]; f.Hash == before["b.go"].Hash {
		t.Error("after a run of everything failed for good, one over a.go leaves b.go as it was")
	}
}

func TestFailedRun(t *testing.T) {
	r := newRig(t, rigOptions{})
	root := folder(t, map[string]string{"a.go": "package a\n"})
	q := r.ask(root)
	full := errors.New("the disk is full")
	r.disk.onPut(func(context.Context, memory.File) error { return full })
	if err := r.run(r.lease()); !errors.Is(err, full) {
		t.Fatalf("run: %v, want %v, to be tried again", err, full)
	}
	s := r.state(q.Sandbox)
	if !strings.Contains(s.LastError, "disk is full") || !s.LastErrorAt.Equal(r.clock.Now()) || !s.IndexedAt.IsZero() || !s.Stale {
		t.Errorf("after a run that failed: %+v", s)
	}
	r.disk.onPut(nil)
	r.runNext()
	if s = r.state(q.Sandbox); s.LastError != "" || s.Files != 1 || s.Stale {
		t.Errorf("after it was tried again: %+v", s)
	}
}

// TestFolderGone: a folder that is away is said, and not looked for again and
// again; what is known of it stays, for it may come back.
func TestFolderGone(t *testing.T) {
	r := newRig(t, rigOptions{})
	root := folder(t, map[string]string{"a.go": "package a\n"})
	q := r.ask(root)
	r.runNext()
	away := root + "-away"
	must(t, os.Rename(root, away))
	lease := r.leaseOf(q)
	must(t, r.run(lease))
	s := r.state(q.Sandbox)
	if s.LastError == "" || s.Files != 1 || len(r.indexed(q.Sandbox)) != 1 || r.waiting() != 0 {
		t.Errorf("with the folder away: %+v, %d runs wait, want an error, the file kept and none", s, r.waiting())
	}
	r.clock.advance(time.Hour)
	if !r.boxes.Stale(q.Project, false) {
		t.Error("an index whose folder is away is not stale")
	}
	must(t, os.Rename(away, root))
	r.ask(root)
	r.runNext()
	if s = r.state(q.Sandbox); s.LastError != "" || s.Stale {
		t.Errorf("with the folder back: %+v", s)
	}
}

func TestStale(t *testing.T) {
	r := newRig(t, rigOptions{staleAfter: time.Minute})
	one, two := folder(t, map[string]string{"a.go": "package a\n"}), folder(t, map[string]string{"b.go": "package b\n"})
	q := r.ask(one)
	other := r.ask(two)
	expect := func(when string, seen, want bool) {
		t.Helper()
		if got := r.boxes.Stale(q.Project, seen); got != want {
			t.Errorf("%s: stale %v, want %v", when, got, want)
		}
	}
	expect("never indexed", false, true)
	r.runNext()
	expect("just indexed, while another project never was", false, false)
	expect("just indexed, with stale code seen", true, true)
	r.clock.advance(time.Minute)
	expect("indexed as long ago as is allowed", false, false)
	r.clock.advance(time.Second)
	expect("indexed longer ago", false, true)
	if r.boxes.Stale("p-unknown", false) {
		t.Error("a project without code is stale")
	}
	if s := r.state(other.Sandbox); !s.Stale {
		t.Errorf("a sandbox that was never indexed is %+v", s)
	}
}

// TestDroppedRun: a run that gives way in a full queue is owed. The index is
// stale until everything was looked at again, and nobody has to ask.
func TestDroppedRun(t *testing.T) {
	r := newRig(t, rigOptions{depth: 1})
	one, two := folder(t, map[string]string{"a.go": "package a\n", "b.go": "package b\n"}), folder(t, map[string]string{"c.go": "package c\n"})
	q := r.ask(one)
	r.runNext()
	write(t, one, "a.go", "package a\n\nfunc A() {}\n")
	write(t, one, "b.go", "package b\n\nfunc B() {}\n")
	r.ask(one, "a.go")
	r.ask(two)
	if s := r.state(q.Sandbox); !s.Stale || s.Progress != nil {
		t.Errorf("after its run gave way: %+v, progress %+v, want stale and none", s, s.Progress)
	}
	r.runNext()
	before := r.indexed(q.Sandbox)
	r.ask(one, "b.go")
	if s := r.state(q.Sandbox); !s.Stale {
		t.Errorf("while it has not caught up: %+v, want stale", s)
	}
	r.runNext()
	after := r.indexed(q.Sandbox)
	if s := r.state(q.Sandbox); s.Stale || after["a.go"].Hash == before["a.go"].Hash || after["b.go"].Hash == before["b.go"].Hash {
		t.Errorf("a run over b.go did not catch up with what gave way: %+v", s)
	}
}

// TestDroppedRunIsLookedAtAgain: the next question is enough.
func TestDroppedRunIsLookedAtAgain(t *testing.T) {
	r := newRig(t, rigOptions{depth: 1})
	q := r.ask(folder(t, map[string]string{"a.go": "package a\n"}))
	r.next()
	r.runNext()
	r.refresh()
	r.next() // of the start
	r.ask(folder(t, map[string]string{"c.go": "package c\n"}))
	if s := r.state(q.Sandbox); !s.Stale {
		t.Fatalf("its run did not give way: %+v", s)
	}
	r.next()
	r.runNext()
	if !r.boxes.Stale(q.Project, false) {
		t.Error("not stale, though its run is owed")
	}
	if run := r.next(); run.Sandbox != q.Sandbox {
		t.Errorf("looked at %+v, want %s", run, q.Sandbox)
	}
}

// TestRefreshAtStart: every sandbox that is there is looked at once, and every
// repository below the folders of the settings.
func TestRefreshAtStart(t *testing.T) {
	r := newRig(t, rigOptions{staleAfter: 50 * time.Millisecond})
	known, gone := r.ask(folder(t, map[string]string{"a.go": "package a\n"})), r.ask(folder(t, map[string]string{"b.go": "package b\n"}))
	r.next()
	r.next()
	r.runNext()
	r.runNext()
	must(t, os.RemoveAll(gone.Root))

	work := folder(t, map[string]string{"notes/todo.md": "# Notes\n"})
	for _, name := range []string{"one", "deep/two"} {
		must(t, os.MkdirAll(filepath.Join(work, filepath.FromSlash(name)), 0o755))
		gitFolder(t, filepath.Join(work, filepath.FromSlash(name)), "")
	}
	r.refresh(work, filepath.Join(work, "missing"))
	if run := r.next(); run.Sandbox != known.Sandbox || len(run.Changed) > 0 {
		t.Errorf("first looked at is %+v, want all of %s", run, known.Sandbox)
	}
	var roots []string
	for range 2 {
		roots = append(roots, r.state(r.next().Sandbox).Root)
	}
	slices.Sort(roots)
	if want := []string{filepath.Join(work, "deep", "two"), filepath.Join(work, "one")}; !slices.Equal(roots, want) {
		t.Errorf("found %q, want %q", roots, want)
	}

	// One that appears later is found at the next look, every StaleAfter.
	must(t, os.Mkdir(filepath.Join(work, "three"), 0o755))
	gitFolder(t, filepath.Join(work, "three"), "")
	if s := r.state(r.next().Sandbox); s.Root != filepath.Join(work, "three") {
		t.Errorf("found %+v, want three", s)
	}
}

// TestRefreshIsLimited: what lags is looked at again when somebody asks for it,
// and then left alone for a while.
func TestRefreshIsLimited(t *testing.T) {
	r := newRig(t, rigOptions{})
	one, two := r.ask(folder(t, map[string]string{"a.go": "package a\n"})), r.ask(folder(t, map[string]string{"b.go": "package b\n"}))
	r.runBoth()
	r.refresh()
	r.runBoth() // of the start
	ask := func(q *memory.IndexQueued) {
		t.Helper()
		if !r.boxes.Stale(q.Project, true) {
			t.Error("not stale, though its code was seen to have changed")
		}
	}
	expect := func(when string, q *memory.IndexQueued) {
		t.Helper()
		if run := r.next(); run.Sandbox != q.Sandbox {
			t.Errorf("%s looked at %s, want %s", when, run.Sandbox, q.Sandbox)
		}
	}
	ask(one)
	expect("asked for", one)
	ask(one) // it waits already
	ask(two)
	expect("asked for while one waits", two)
	r.runNext()
	r.runNext()

	// Both were just looked at. Questions are answered in turn, so that the
	// third project is found only after the first two were skipped.
	three := r.ask(folder(t, map[string]string{"c.go": "package c\n"}))
	expect("requested", three)
	r.runNext()
	ask(one)
	ask(two)
	ask(three)
	expect("asked for too soon", three)
	r.runNext()
	r.clock.advance(10 * time.Second)
	ask(one)
	expect("asked for after ten seconds", one)
}
