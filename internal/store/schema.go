package store

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"

	"github.com/dgraph-io/badger/v4"

	"github.com/recalld/recalld/internal/memory"
)

// A migration brings the layout on disk from one version to the next. It may be
// run again after a crash in its midst.
type migration func(*badger.DB) error

// migrations lead from version 1 on, one version each. Keys and fields that only
// add to the layout, as sessions, tombstones and steps do, need none: a store
// without them reads as one that has none. Removing or reading otherwise what is
// there needs one, and so do terms that are analysed in another way.
var migrations = []migration{
	filesWithHeads,
	filesWithCuts,
	receiptsWithTurns,
	filesWithChangeTimes,
	recordsWithProvenance,
}

// filesWithHeads leads to version 2, whose files have a head and may be pruned.
// Files of version 1 are read as they are; the new version keeps an older program
// from taking the new ones for damage.
func filesWithHeads(*badger.DB) error { return nil }

// filesWithCuts leads to version 3, whose files name the cuts that they share. Those
// of the versions before hold their chunks themselves, and keep them until they are
// put again.
func filesWithCuts(*badger.DB) error { return nil }

// receiptsWithTurns leads to version 4, which has states, and turns of the receipts
// that have a session; those of before have none. An older program would drop a
// session and leave both.
func receiptsWithTurns(*badger.DB) error { return nil }

// filesWithChangeTimes leads to version 5, whose files have a change time and an
// inode. Those of before have none until they are put again.
func filesWithChangeTimes(*badger.DB) error { return nil }

// latest is the version of the layout that migrations lead to.
func latest(steps []migration) uint64 { return 1 + uint64(len(steps)) }

// migrate brings the layout of a database up to date.
func migrate(db *badger.DB, steps []migration, log *slog.Logger) error {
	version, err := schemaOf(db)
	switch {
	case err != nil:
		return err
	case version == 0: // a new store
		return setMeta(db, keySchema, latest(steps))
	case version > latest(steps):
		return &memory.Error{
			Code:    memory.CodeIncompatible,
			Message: fmt.Sprintf("the store has schema version %d, this program knows %d", version, latest(steps)),
			Hint:    "install the newer recalld, or choose another data folder with --data",
		}
	}
	for ; version < latest(steps); version++ {
		if err := steps[version-1](db); err != nil {
			return fmt.Errorf("migrate store from version %d: %w", version, err)
		}
		if err := setMeta(db, keySchema, version+1); err != nil {
			return err
		}
		log.Info("store migrated", "part", "store", "version", version+1)
	}
	return nil
}

// schemaOf returns the version of a database's layout, 0 for a new one.
func schemaOf(db *badger.DB) (uint64, error) {
	version, err := meta(db, keySchema)
	switch {
	case errors.Is(err, badger.ErrKeyNotFound):
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("read schema version: %w", err)
	case version == 0:
		return 0, corrupt(keySchema, "there is no version 0")
	}
	return version, nil
}

// openSchema brings the layout up to date and reads the last sequence number.
func (s *Store) openSchema(steps []migration) error {
	err := migrate(s.db.DB, steps, s.opts.Logger)
	if err != nil {
		return err
	}
	s.seq, err = meta(s.db.DB, keySeq)
	if err != nil && !errors.Is(err, badger.ErrKeyNotFound) {
		return fmt.Errorf("read sequence number: %w", err)
	}
	s.id, err = meta(s.db.DB, keyID)
	if errors.Is(err, badger.ErrKeyNotFound) && !s.db.readOnly {
		s.id = rand.Uint64()
		err = setMeta(s.db.DB, keyID, s.id)
	}
	if err != nil && !errors.Is(err, badger.ErrKeyNotFound) {
		return fmt.Errorf("read which store it is: %w", err)
	}
	return nil
}

func meta(db *badger.DB, key []byte) (n uint64, err error) {
	err = db.View(func(txn *badger.Txn) error {
		n, err = getUint(txn, key)
		return err
	})
	return n, err
}

func setMeta(db *badger.DB, key []byte, n uint64) error {
	if err := db.Update(func(txn *badger.Txn) error { return setUint(txn, key, n) }); err != nil {
		return fmt.Errorf("write %s: %w", key, err)
	}
	return nil
}
