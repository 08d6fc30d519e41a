package store

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/recalld/recalld/internal/memory"
)

// spaces are the names of the vector spaces that hold, or may hold, vectors.
type spaces struct {
	mu    sync.RWMutex // guards names
	names []string
}

func (s *spaces) known(name string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Contains(s.names, name)
}

// all returns the short names.
func (s *spaces) all() []spaceKey {
	s.mu.RLock()
	defer s.mu.RUnlock()
	keys := make([]spaceKey, len(s.names))
	for i, n := range s.names {
		keys[i] = shortSpace(n)
	}
	return keys
}

// Spaces returns the names of the spaces that were opened and not dropped.
func (s *Store) Spaces() []string {
	s.spaces.mu.RLock()
	defer s.spaces.mu.RUnlock()
	return slices.Clone(s.spaces.names)
}

// OpenSpace makes a space known, so that vectors can be put into it.
func (s *Store) OpenSpace(ctx context.Context, name string) error {
	if s.spaces.known(name) {
		return nil
	}
	_, err := s.Update(ctx, func(tx *Tx) error {
		short := shortSpace(name)
		tx.put(key(prefixSpace, string(short[:])), []byte(name))
		return nil
	})
	if err != nil {
		return fmt.Errorf("open space %s: %w", name, err)
	}
	s.spaces.mu.Lock()
	defer s.spaces.mu.Unlock()
	if !slices.Contains(s.spaces.names, name) {
		s.spaces.names = append(s.spaces.names, name)
	}
	return nil
}

// DropSpace removes a space and its vectors.
func (s *Store) DropSpace(ctx context.Context, name string) error {
	s.spaces.mu.Lock()
	s.spaces.names = slices.DeleteFunc(s.spaces.names, func(n string) bool { return n == name })
	s.spaces.mu.Unlock()
	short := shortSpace(name)
	var keys [][]byte
	err := s.View(func(v View) error {
		for k := range v.keys(prefixVectors(short)) {
			keys = append(keys, k)
		}
		return nil
	})
	if err != nil {
		return err
	}
	const portion = 5000 // keys a transaction, far below its limit
	for part := range slices.Chunk(keys, portion) {
		if _, err := s.Update(ctx, func(tx *Tx) error {
			for _, k := range part {
				tx.del(k)
			}
			return nil
		}); err != nil {
			return fmt.Errorf("drop space %s: %w", name, err)
		}
	}
	_, err = s.Update(ctx, func(tx *Tx) error {
		tx.del(key(prefixSpace, string(short[:])))
		return nil
	})
	return err
}

func (s *Store) openSpaces() error {
	return s.View(func(v View) error {
		read := func(_, b []byte) (string, error) { return string(b), nil }
		for name, err := range scan(v, prefixSpace, read) {
			if err != nil {
				return memory.Errorf(memory.CodeCorrupt, "read spaces: %w", err)
			}
			s.spaces.names = append(s.spaces.names, name)
		}
		return nil
	})
}
