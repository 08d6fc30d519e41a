package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
)

// Paused reports whether background work is paused.
func (s *Store) Paused() (bool, error) {
	return read(s, func(v View) (bool, error) {
		err := get(v.txn, keyPaused, func([]byte) error { return nil })
		if errors.Is(err, badger.ErrKeyNotFound) {
			return false, nil
		}
		return err == nil, err
	})
}

// SetPaused stores whether background work is paused, so that it survives a restart. It
// does not itself pause anything.
func (s *Store) SetPaused(ctx context.Context, on bool) error {
	if err := s.writable(); err != nil {
		return err
	}
	_, err := s.Update(ctx, func(tx *Tx) error {
		if on {
			tx.put(keyPaused, nil)
		} else {
			tx.del(keyPaused)
		}
		tx.Audit("pause", map[string]any{"paused": on})
		return nil
	})
	if err != nil {
		return fmt.Errorf("store pause: %w", err)
	}
	return nil
}
