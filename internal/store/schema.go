package store

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"

	"github.com/dgraph-io/badger/v4"

	"github.com/recalld/recalld/internal/memory"
)

// A migration changes the layout on disk from one version to the next. It must be safe to
// run again after a crash.
type migration func(*badger.DB) error

// migrations lead from version 1 to the latest, one version each. New keys and fields need
// no migration: an old store reads as one without them. Removing data, changing its
// meaning and changing how terms are analysed need one.
var migrations = []migration{
	// To version 2: files have a preview and may be pruned.
	versionAlone,
	// To version 3: files reference shared chunk sets. Older files contain their chunks until
	// they are written again.
	versionAlone,
	// To version 4: there are states, and turns for new receipts with a session. An older
	// program would remove a session without its states and turns.
	versionAlone,
	// To version 5: files have a change time and an inode. Older files have none until they are
	// written again.
	versionAlone,
	recordsWithProvenance,
}

// versionAlone changes nothing: the old values can still be read. The new version keeps an
// older program from misreading the new ones.
func versionAlone(*badger.DB) error { return nil }

// Schema is the version of the layout that this program writes. Older ones are migrated.
func Schema() uint64 { return latest(migrations) }

// latest is the version after all migrations.
func latest(steps []migration) uint64 { return 1 + uint64(len(steps)) }

// migrate runs the missing migrations.
func migrate(db *badger.DB, steps []migration, log *slog.Logger) error {
	version, err := schemaOf(db)
	switch {
	case err != nil:
		return err
	case version == 0: // a new store
		return setMeta(db, keySchema, latest(steps))
	case version > latest(steps):
		return tooNew("store", version)
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

// tooNew is the error of a store or backup, named by what, with a layout that a newer
// program wrote.
func tooNew(what string, version uint64) error {
	return &memory.Error{
		Code:    memory.CodeIncompatible,
		Message: fmt.Sprintf("a newer recalld wrote the %s: it has schema version %d, and this program knows %d; nothing was changed", what, version, Schema()),
		Hint:    "install the newer recalld again, or restore a backup that this version made ('recalld backup list' shows them), or choose another data folder with --data",
	}
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
		return 0, corrupt(keySchema, "version 0 is invalid")
	}
	return version, nil
}

// openSchema migrates the store and reads its sequence number and id.
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
		return fmt.Errorf("read store id: %w", err)
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
