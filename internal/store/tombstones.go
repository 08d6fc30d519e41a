package store

import (
	"errors"
	"fmt"
	"slices"

	"github.com/dgraph-io/badger/v4"

	"github.com/recalld/recalld/internal/memory"
)

// Tombstoned reports whether a record was forgotten.
func (v View) Tombstoned(id string) (bool, error) {
	switch _, err := v.txn.Get(key(prefixTomb, id)); {
	case err == nil:
		return true, nil
	case errors.Is(err, badger.ErrKeyNotFound):
		return false, nil
	default:
		return false, fmt.Errorf("read tombstone: %w", err)
	}
}

// Tombstoned reports whether a record was forgotten.
func (s *Store) Tombstoned(id string) (bool, error) {
	return read(s, func(v View) (bool, error) { return v.Tombstoned(id) })
}

// withoutForgotten returns an import without records that have a tombstone, and without
// documents that only these records reference. Tombstones that the batch removes are
// ignored.
func (tx *Tx) withoutForgotten(b memory.Batch, out *memory.Committed) (memory.Batch, error) {
	if !tx.s.hasTombstones.Load() {
		return b, nil
	}
	forgotten := map[memory.DocID]bool{}
	var records []memory.Record
	for _, r := range b.Records {
		dead, err := tx.Tombstoned(r.ID)
		if err != nil {
			return b, err
		}
		if dead && !slices.Contains(b.DropTombstones, r.ID) {
			out.Left = append(out.Left, r.ID)
			forgotten[r.Doc] = true
			continue
		}
		records = append(records, r)
	}
	if len(out.Left) == 0 {
		return b, nil
	}
	b.Records = records
	for _, r := range records {
		delete(forgotten, r.Doc)
	}
	for _, f := range b.Files {
		for _, c := range f.Chunks {
			delete(forgotten, c.Doc)
		}
	}
	b.Docs = slices.DeleteFunc(slices.Clone(b.Docs), func(d memory.Doc) bool { return forgotten[d.ID] })
	return b, nil
}
