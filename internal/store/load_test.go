package store

import (
	"fmt"
	"slices"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/recalld/recalld/internal/memory"
)

// orphan writes documents that nothing references, as a crash leaves them.
func orphan(t *testing.T, s *Store, n int) {
	t.Helper()
	var writes []write
	for i := range n {
		k := keyTerms(memory.DocumentID(fmt.Sprintf("orphan %d", i)))
		writes = append(writes, write{key: k, value: seal(k, []byte("terms"))})
	}
	for part := range slices.Chunk(writes, 500) {
		must(t, s.db.Update(func(txn *badger.Txn) error { return apply(txn, part) }))
	}
}

func TestLoadSweepsMoreThanATransactionHolds(t *testing.T) {
	s := open(t, Options{MemTableSize: 1 << 20})
	r, d := lesson("l-1", "kept")
	put(t, s, r, d)
	orphan(t, s, 3000)
	load(t, s)
	if err := s.Check(); err != nil {
		t.Errorf("after Load: %v", err)
	}
}

// TestReadAndLoadBesideWrites: neither reading all nor loading once more takes
// documents from under their records.
func TestReadAndLoadBesideWrites(t *testing.T) {
	for name, read := range map[string]func(*Store, memory.Loader) error{
		"Read": func(s *Store, l memory.Loader) error { _, err := s.Read(t.Context(), l); return err },
		"Load": func(s *Store, l memory.Loader) error { _, err := s.Load(t.Context(), l); return err },
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, Options{})
			first, d := lesson("l-1", "shared")
			second, _ := lesson("l-2", "shared")
			put(t, s, first, d)
			put(t, s, second, d)
			l := discardLoader()
			l.Record = func(r memory.Record) error {
				if r.ID == "l-1" { // the other record still holds the document
					commit(t, s, memory.Batch{DropRecords: []string{"l-1"}})
				}
				return nil
			}
			must(t, read(s, l))
			if _, err := s.Terms(d.ID); err != nil {
				t.Errorf("terms of a record that is there: %v", err)
			}
		})
	}
}
