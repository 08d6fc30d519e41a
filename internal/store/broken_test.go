package store

import (
	"errors"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// TestNothingIsTakenAfterAFailedCommit: the log may end in half an entry, behind which a
// later update would be acknowledged and lost.
func TestNothingIsTakenAfterAFailedCommit(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	first, d := lesson("l-1", "kept")
	put(t, s, first, d)
	select {
	case <-s.Failed():
		t.Fatal("it says that it has failed before it did")
	default:
	}
	write := func(tx *Tx) error { tx.put(keyPaused, nil); return nil }
	failing := func(tx *Tx) error {
		// From here on Badger refuses commits, as it does when its disk fails.
		return errors.Join(write(tx), s.db.Close())
	}
	for i, fn := range []func(*Tx) error{failing, write} {
		_, err := s.Update(t.Context(), fn)
		if e := memory.AsError(err); e.Code != memory.CodeUnavailable || e.Field != "data" || e.Hint == "" {
			t.Errorf("write %d: %v, want that it failed and what to do", i+1, err)
		}
	}
	select {
	case <-s.Failed():
	default:
		t.Error("nobody is told that it has failed")
	}
	if s.Broken() == nil {
		t.Error("it does not say why")
	}

	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	s = open(t, Options{Dir: dir})
	put(t, s, first, d)
	if kept, err := s.Record("l-1"); err != nil || kept.Text != "kept" {
		t.Errorf("after the next start: %+v, %v", kept, err)
	}
}
