package store

import (
	"slices"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// TestExistingBringsNothingBack: a change of a record that was dropped meanwhile is
// left out, with its document, and the rest of its batch is written.
func TestExistingBringsNothingBack(t *testing.T) {
	s := open(t, Options{})
	here, hereDoc := lesson("l-here", "here")
	gone, goneDoc := lesson("l-gone", "gone")
	put(t, s, here, hereDoc)
	c := commit(t, s, memory.Batch{
		Docs: []memory.Doc{goneDoc}, Records: []memory.Record{gone, here}, Existing: true,
		Merge: func(old, _ memory.Record) memory.Record { old.Repo = "changed"; return old },
	})
	if !slices.Equal(c.Put, []string{here.ID}) || !slices.Equal(c.Left, []string{gone.ID}) {
		t.Errorf("put %v and left %v, want %s put and %s left", c.Put, c.Left, here.ID, gone.ID)
	}
	if r, err := s.Record(here.ID); err != nil || r.Repo != "changed" {
		t.Errorf("the record that was there = %+v, %v; want it changed", r, err)
	}
	if _, err := s.Record(gone.ID); memory.CodeOf(err) != memory.CodeNotFound {
		t.Errorf("the record that was gone = %v, want it not found", err)
	}
	if _, err := s.Terms(gone.Doc); memory.CodeOf(err) != memory.CodeNotFound {
		t.Errorf("the document of the record that was gone = %v, want it not found", err)
	}
}
