package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
)

// Restoring says what a store is restored from.
type Restoring struct {
	// Walk passes the entries of a snapshot to fn, by key.
	Walk func(fn func(Entry) error) error
	// Size is the number of bytes of the entries, Schema the version of their layout.
	Size   int64
	Schema uint64
	// NewID gives the store an id of its own, because the other one may live on.
	NewID bool
	// Forgotten are ids that must not come back.
	Forgotten []string
}

// Restore is a prepared restore: a store beside the present one, which is unchanged until
// Finish.
type Restore struct {
	// Kept counts what the restored store has, by kind, without recalld's own tools.
	Kept map[string]int

	made Repair
}

// PrepareRestore makes a store of a snapshot's entries beside that in opts.Dir, which need
// not exist, and checks it. It returns CodeIncompatible for a layout of a newer version.
func PrepareRestore(ctx context.Context, opts Options, from Restoring) (*Restore, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	if from.Schema > Schema() {
		return nil, tooNew("backup", from.Schema)
	}
	if err := endRepair(opts.Dir); err != nil {
		return nil, err
	}
	if err := fsx.MakeFolder(filepath.Dir(opts.Dir), 0o700); err != nil {
		return nil, fmt.Errorf("prepare restore: %w", err)
	}
	if err := roomFor(filepath.Dir(opts.Dir), 2*from.Size+reserveSize); err != nil {
		return nil, fmt.Errorf("prepare restore: %w", err)
	}
	r := &Restore{made: Repair{opts: opts}}
	made := optionsBeside(opts)
	last, _ := readWitness(opts.Dir) // without one, any number is new
	err := fill(ctx, made, from, last.Seq)
	if err == nil {
		err = r.made.make(ctx, made, &examination{}, "restore")
	}
	if err == nil && r.made.Left != nil {
		err = memory.Errorf(memory.CodeCorrupt, "the restored store is not sound: %w", r.made.Left)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("prepare restore: %w", err), os.RemoveAll(made.Dir))
	}
	r.Kept = r.made.Kept
	return r, nil
}

// fill writes the entries into a new database. Its sequence number is not below least: the
// witness would take it for a store that has lost updates.
func fill(ctx context.Context, opts Options, from Restoring, least uint64) error {
	if err := errors.Join(os.RemoveAll(opts.Dir), os.Mkdir(opts.Dir, 0o700)); err != nil {
		return err
	}
	return writeBatch(opts, func(_ *badger.DB, batch *badger.WriteBatch) error { return fillBatch(ctx, batch, from, least) })
}

func fillBatch(ctx context.Context, batch *badger.WriteBatch, from Restoring, least uint64) error {
	eraser, buried, seq := newEraser(from.Forgotten), map[string]bool{}, least
	err := from.Walk(func(e Entry) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		payload, err := unseal(e.Key, e.Value)
		if err != nil {
			return err
		}
		if string(e.Key) == string(keySeq) {
			n, err := parseUint(e.Key, payload)
			seq = max(seq, n)
			return err
		}
		if string(e.Key) == string(keySaved) {
			return nil // versions are others in the new database
		}
		if id, is := ForgottenID(e.Key); is && len(payload) == 0 {
			buried[id] = true
		}
		if string(e.Key) == string(keyID) && from.NewID {
			e.Value = seal(keyID, bigEndian(rand.Uint64()))
		}
		keep, err := eraser.Keep(&e)
		if err != nil || !keep {
			return err
		}
		entry := badger.NewEntry(bytes.Clone(e.Key), bytes.Clone(e.Value))
		entry.ExpiresAt = e.ExpiresAt
		return batch.SetEntry(entry)
	})
	if err != nil {
		return err
	}
	for _, id := range from.Forgotten {
		if k := key(prefixTomb, id); !buried[id] {
			if err := batch.Set(k, seal(k, nil)); err != nil {
				return err
			}
		}
	}
	return batch.Set(keySeq, seal(keySeq, bigEndian(seq)))
}

// Finish puts the restored store in its place. The former one, if there is one, is moved
// to the folder that is returned. After a crash at any moment, one of both stores is in
// place, or the next start finishes.
func (r *Restore) Finish() (aside string, err error) {
	dir := filepath.Clean(r.made.opts.Dir)
	if err := fsx.MakeFolder(dir, 0o700); err != nil {
		return "", fmt.Errorf("finish restore: %w", err)
	}
	aside = dir + ".before-restore-" + r.made.opts.Clock().UTC().Format(asideLayout)
	if err := r.made.replace(aside); err != nil {
		return "", fmt.Errorf("finish restore: %w", err)
	}
	if os.Remove(aside) == nil { // it was empty
		return "", nil
	}
	return aside, nil
}

// Discard removes what was prepared and not finished.
func (r *Restore) Discard() error { return r.made.Discard() }

// Forgotten opens the store in opts.Dir and returns its id and what was forgotten, as
// Snapshot.Forgotten does. No process may have it open.
func Forgotten(opts Options) (id uint64, forgotten []string, err error) {
	if _, err := os.Stat(opts.Dir); err != nil {
		return 0, nil, err
	}
	opts.ReadDamaged = true
	s, err := Open(opts)
	if err != nil {
		return 0, nil, err
	}
	err = s.View(func(v View) error {
		forgotten = tombstones(v)
		return nil
	})
	return s.id, forgotten, errors.Join(err, s.Close())
}
