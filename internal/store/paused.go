package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
)

// Paused says whether all work in the background is held.
func (s *Store) Paused() (bool, error) {
	return read(s, func(v View) (bool, error) {
		err := get(v.txn, keyPaused, func([]byte) error { return nil })
		if errors.Is(err, badger.ErrKeyNotFound) {
			return false, nil
		}
		return err == nil, err
	})
}

// SetPaused keeps, also over a restart, whether all work in the background is held.
// It holds nothing itself.
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
		return fmt.Errorf("keep pause: %w", err)
	}
	return nil
}
