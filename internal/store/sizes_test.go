package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// TestIndexSizes: what sandboxes share counts in each and once in all, and the
// sizes are the same after the store was opened again.
func TestIndexSizes(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	putFile(t, s, "s-1", "a.go", 3)
	putFile(t, s, "s-1", "b.go", 1)
	alone, all := s.IndexSizes()
	if got := alone["s-1"]; got.Files != 2 || got.Chunks != 4 || got.Bytes != 400 || got.Disk != all || all < 400 {
		t.Errorf("one sandbox is %+v of %d", got, all)
	}
	putFile(t, s, "s-2", "a.go", 3) // a worktree: the same texts
	both, shared := s.IndexSizes()
	if both["s-1"] != alone["s-1"] || both["s-2"].Chunks != 3 {
		t.Errorf("beside a worktree they are %+v", both)
	}
	if sum := both["s-1"].Disk + both["s-2"].Disk; shared <= all || sum-shared < both["s-2"].Disk/2 {
		t.Errorf("all take %d, one took %d; by themselves both take %d", shared, all, sum)
	}
	must(t, s.Close())
	s = open(t, Options{Dir: dir})
	again, after := s.IndexSizes()
	if after != shared || again["s-1"] != both["s-1"] || again["s-2"] != both["s-2"] {
		t.Errorf("opened again: %+v of %d, before %+v of %d", again, after, both, shared)
	}
	prune := memory.Batch{PruneFiles: []memory.FileKey{{Sandbox: "s-1", Path: "a.go"}, {Sandbox: "s-2", Path: "a.go"}}}
	if _, err := s.Commit(t.Context(), prune); err != nil {
		t.Fatal(err)
	}
	sizes, left := s.IndexSizes()
	if got := sizes["s-1"]; got.Files != 2 || got.Chunks != 1 || got.Pruned != 1 || left >= all {
		t.Errorf("pruned: %+v of %d", got, left)
	}
	if _, err := s.Commit(t.Context(), memory.Batch{DropFiles: []memory.FileKey{
		{Sandbox: "s-1", Path: "a.go"}, {Sandbox: "s-1", Path: "b.go"}, {Sandbox: "s-2", Path: "a.go"},
	}}); err != nil {
		t.Fatal(err)
	}
	if sizes, left := s.IndexSizes(); len(sizes) != 0 || left != 0 {
		t.Errorf("with nothing left: %+v of %d", sizes, left)
	}
}

// TestIndexSizeBesideRecords: what is remembered besides code does not make code look
// smaller, also when many records say the same.
func TestIndexSizeBesideRecords(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	putFile(t, s, "s-1", "a.go", 3)
	_, alone := s.IndexSizes()
	check := func(when string) {
		t.Helper()
		if _, got := s.IndexSizes(); got != alone {
			t.Errorf("%s code takes %d, want %d", when, got, alone)
		}
	}
	for i := range 10 {
		r, d := lesson(fmt.Sprintf("l-%d", i), "the same text")
		put(t, s, r, d)
	}
	check("beside ten lessons that say the same")
	must(t, s.Close())
	s = open(t, Options{Dir: dir})
	check("opened again")
}

// TestUsed: when a file was used is known at once and after a restart, the newest
// time counts, and it is forgotten with the file.
func TestUsed(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	putFile(t, s, "s-1", "a.go", 1)
	putFile(t, s, "s-1", "b.go", 1)
	first := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	a, b, gone := memory.FileKey{Sandbox: "s-1", Path: "a.go"}, memory.FileKey{Sandbox: "s-1", Path: "b.go"}, memory.FileKey{Sandbox: "s-1", Path: "gone.go"}
	s.Used(first.Add(time.Hour), a)
	s.Used(first, a, b, gone)
	check := func(when string, want map[string]time.Time) {
		t.Helper()
		got := s.UsedAt("s-1")
		for path, at := range want {
			if !got[path].Equal(at) {
				t.Errorf("%s %s was used at %v, want %v", when, path, got[path], at)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s %v were used, want %v", when, got, want)
		}
	}
	check("at once", map[string]time.Time{"a.go": first.Add(time.Hour), "b.go": first, "gone.go": first})
	if at := s.IndexSize("s-1").UsedAt; !at.Equal(first.Add(time.Hour)) {
		t.Errorf("the sandbox was used at %v", at)
	}
	reopen := func() {
		t.Helper()
		must(t, s.Close())
		s = open(t, Options{Dir: dir})
	}
	reopen()
	check("opened again", map[string]time.Time{"a.go": first.Add(time.Hour), "b.go": first})
	if _, err := s.Commit(t.Context(), memory.Batch{DropFiles: []memory.FileKey{a}, PruneFiles: []memory.FileKey{b}}); err != nil {
		t.Fatal(err)
	}
	check("a.go dropped, b.go pruned:", map[string]time.Time{"b.go": first})
	reopen()
	check("and opened again", map[string]time.Time{"b.go": first})
}

func TestPaused(t *testing.T) {
	dir := t.TempDir()
	for _, want := range []bool{false, true, true, false, false} {
		s := open(t, Options{Dir: dir})
		must(t, s.SetPaused(t.Context(), want))
		must(t, s.Close())
		s = open(t, Options{Dir: dir})
		if got, err := s.Paused(); got != want || err != nil {
			t.Errorf("opened again it is paused: %v, %v; want %v", got, err, want)
		}
		must(t, s.Close())
	}
}
