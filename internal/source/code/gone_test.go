package code_test

import (
	"os"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// TestMissingFolder: what is known of it stays for a day, and is whole when the
// folder is back.
func TestMissingFolder(t *testing.T) {
	r := live(t, rigOptions{staleAfter: 20 * time.Millisecond})
	q := r.settle(folder(t, map[string]string{"a.go": "package a\n", "b.go": "package b\n"}))
	other := r.settle(folder(t, map[string]string{"c.go": "package c\n"}))
	away := q.Root + "-away"
	until := func(what string, right func() bool) {
		t.Helper()
		r.until(other, what, right)
	}
	must(t, os.Rename(q.Root, away))
	gone := r.clock.Now()
	until("it is not seen to be missing", func() bool { return !r.state(q.Sandbox).GoneAt.IsZero() })
	if s := r.state(q.Sandbox); !s.GoneAt.Equal(gone) || s.Watch != "" || len(r.indexed(q.Sandbox)) != 2 {
		t.Errorf("with the folder away: %+v, want that it is gone since %s and both files", s, gone)
	}
	r.clock.advance(23 * time.Hour)
	looks := 0
	until("no run looks", func() bool { looks++; return looks == 3 })
	write(t, away, "b.go", "package changed\n")
	must(t, os.Rename(away, q.Root))
	r.changed(q)
	if s := r.state(q.Sandbox); !s.GoneAt.IsZero() || s.Files != 2 || s.Stale {
		t.Errorf("with the folder back: %+v", s)
	}

	must(t, os.Rename(q.Root, away))
	until("it is not seen to be missing", func() bool { return !r.state(q.Sandbox).GoneAt.IsZero() })
	r.clock.advance(24*time.Hour + time.Second)
	until("its files are kept", func() bool { return len(r.indexed(q.Sandbox)) == 0 && r.state(q.Sandbox).Files == 0 })
	if s := r.state(q.Sandbox); s.Stale || s.Chunks != 0 || s.GoneAt.IsZero() {
		t.Errorf("a day later: %+v, want it empty and not stale, for nothing of it is known", s)
	}
	must(t, os.Rename(away, q.Root))
	r.changed(q)
	if s := r.state(q.Sandbox); !s.GoneAt.IsZero() || s.Files != 2 {
		t.Errorf("with the folder back after a day: %+v", s)
	}
}

// TestFolderIsBackWhileItsFilesAreDropped: the look at it may have taken them for
// indexed, so another one follows.
func TestFolderIsBackWhileItsFilesAreDropped(t *testing.T) {
	r := live(t, rigOptions{staleAfter: 20 * time.Millisecond})
	q := r.settle(folder(t, map[string]string{"a.go": "package a\n", "b.go": "package b\n"}))
	other := r.settle(folder(t, map[string]string{"c.go": "package c\n"}))
	away := q.Root + "-away"
	must(t, os.Rename(q.Root, away))
	r.until(other, "it is not seen to be missing", func() bool { return !r.state(q.Sandbox).GoneAt.IsZero() })
	begun, goOn := make(chan struct{}, 2), make(chan struct{})
	r.disk.onDrop(func() {
		begun <- struct{}{}
		<-goOn
	})
	r.clock.advance(24*time.Hour + time.Second)
	<-begun
	must(t, os.Rename(away, q.Root))
	r.changed(q)
	close(goOn)
	r.changed(q)
	if s, files := r.state(q.Sandbox), r.indexed(q.Sandbox); len(files) != 2 || s.Stale || !s.GoneAt.IsZero() {
		t.Errorf("at the end %d files are indexed and the state is %+v, want both files", len(files), s)
	}
}

// TestMovedFolder: a repository that was moved is indexed where it is, and its files
// are not found twice.
func TestMovedFolder(t *testing.T) {
	work := folder(t, map[string]string{"old/a.go": "package a\n"})
	gitFolder(t, work+"/old", "https://example.com/team/thing.git")
	r := live(t, rigOptions{}, work)
	old := r.next()
	r.runNext()
	for r.state(old.Sandbox).Watch == "" {
		r.next() // the look at the start
		r.runNext()
	}
	must(t, os.Rename(work+"/old", work+"/new"))
	moved := r.next()
	for moved.Sandbox == old.Sandbox { // a look of before
		moved = r.next()
	}
	r.runNext()
	if s := r.state(moved.Sandbox); s.Root != work+"/new" || s.Project != old.Project || s.Files != 1 {
		t.Fatalf("found is %+v, want the same project in %s", s, work+"/new")
	}
	r.next() // it is watched now
	r.runNext()
	r.until(&memory.IndexQueued{Sandbox: moved.Sandbox, Root: work + "/new"}, "files are still found where it was",
		func() bool { return len(r.indexed(old.Sandbox)) == 0 })
}

// until waits until something is right. Each turn is a change of another sandbox that
// is noticed and indexed.
func (r *rig) until(other *memory.IndexQueued, not string, right func() bool) {
	r.t.Helper()
	for began := time.Now(); !right(); {
		if time.Since(began) > patience {
			r.t.Fatalf("%s for %s", not, patience)
		}
		write(r.t, other.Root, "turn.go", "package turn\n\n// "+time.Now().String()+"\n")
		r.changed(other, "turn.go")
	}
}
