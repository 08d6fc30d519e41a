package store

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
)

func TestForgottenStaysOutOfImports(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	gone, goneDoc := lesson("l-1", "forgotten")
	kept, keptDoc := lesson("l-2", "kept")
	shared, _ := lesson("l-3", "forgotten") // the same text under another id
	stored := func(id string) bool {
		t.Helper()
		_, err := s.Record(id)
		if err != nil && memory.CodeOf(err) != memory.CodeNotFound {
			t.Fatal(err)
		}
		return err == nil
	}
	put(t, s, gone, goneDoc)
	commit(t, s, memory.Batch{DropRecords: []string{"l-1"}, Tombstones: []string{"l-1"}})
	if dead, err := s.Tombstoned("l-1"); err != nil || !dead {
		t.Fatalf("tombstone of l-1: %v, %v", dead, err)
	}
	if dead, err := s.Tombstoned("l-2"); err != nil || dead {
		t.Errorf("tombstone of l-2: %v, %v; want none", dead, err)
	}
	must(t, s.Close())
	s = open(t, Options{Dir: dir})

	all := memory.Batch{Docs: []memory.Doc{goneDoc, keptDoc}, Records: []memory.Record{gone, kept}, Import: true}
	c := commit(t, s, all)
	if diff := cmp.Diff([]string{"l-1"}, c.Left); diff != "" || stored("l-1") || !stored("l-2") {
		t.Errorf("import: l-1 stored %v, l-2 stored %v, left (-want +got):\n%s", stored("l-1"), stored("l-2"), diff)
	}
	if _, err := s.Terms(goneDoc.ID); memory.CodeOf(err) != memory.CodeNotFound {
		t.Errorf("terms of what was left out: %v, want not found", err)
	}
	seq := s.Seq()
	c = commit(t, s, memory.Batch{Docs: []memory.Doc{goneDoc}, Records: []memory.Record{gone}, Import: true})
	if len(c.Left) != 1 || s.Seq() != seq {
		t.Errorf("an import of nothing but what was forgotten left out %v and wrote update %d after %d", c.Left, s.Seq(), seq)
	}
	c = commit(t, s, memory.Batch{Docs: []memory.Doc{goneDoc}, Records: []memory.Record{gone, shared}, Import: true})
	if len(c.Left) != 1 || !stored("l-3") {
		t.Errorf("the same text under another id: left %v, stored %v", c.Left, stored("l-3"))
	}
	file := memory.File{Project: "p-1", Sandbox: "s-1", Path: "a.go", Chunks: []memory.FileChunk{{Doc: goneDoc.ID, End: 1}}}
	commit(t, s, memory.Batch{DropRecords: []string{"l-3"}})
	commit(t, s, memory.Batch{Docs: []memory.Doc{goneDoc}, Records: []memory.Record{gone}, Files: []memory.File{file}, Import: true})
	if _, err := s.Terms(goneDoc.ID); err != nil {
		t.Errorf("terms of a file beside what was left out: %v", err)
	}

	c = commit(t, s, memory.Batch{Docs: []memory.Doc{goneDoc}, Records: []memory.Record{gone}, DropTombstones: []string{"l-1"}, Import: true})
	if len(c.Left) > 0 || !stored("l-1") {
		t.Errorf("with its tombstone lifted: left %v, stored %v", c.Left, stored("l-1"))
	}
	if dead, err := s.Tombstoned("l-1"); err != nil || dead {
		t.Errorf("a lifted tombstone: %v, %v; want none", dead, err)
	}
}

// TestTombstonesBindImportsOnly: who remembers something on purpose may.
func TestTombstonesBindImportsOnly(t *testing.T) {
	s := open(t, Options{})
	r, d := lesson("l-1", "forgotten and told again")
	commit(t, s, memory.Batch{Tombstones: []string{"l-1"}})
	c := put(t, s, r, d)
	if _, err := s.Record("l-1"); err != nil || len(c.Left) > 0 {
		t.Errorf("a record that was told again: %v, left %v", err, c.Left)
	}
}
