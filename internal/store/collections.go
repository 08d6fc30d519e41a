package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/recalld/recalld/internal/memory"
)

// collections are the open vector collections.
type collections struct {
	mu    sync.RWMutex // guards the fields below
	names []string
	// probes are vectors that identify the model of a collection.
	probes map[string][][]float32
	// widths are the bytes per vector; 0 before the first vector.
	widths map[string]int
	// unwritten are the values of collections that were opened while the store was
	// read-only.
	unwritten [][]byte
}

// saw notes the size of a collection's vectors.
func (s *collections) saw(name string, bytes int) {
	s.mu.RLock()
	known := s.widths[name] == bytes
	s.mu.RUnlock()
	if known {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.widths[name] = bytes
}

// vectorBytes is the size of a document's vectors if every collection has one.
func (s *collections) vectorBytes() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	sum := 0
	for _, width := range s.widths {
		sum += width
	}
	return sum
}

func (s *collections) known(name string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Contains(s.names, name)
}

// all returns the keys of all collections.
func (s *collections) all() []collectionKey {
	s.mu.RLock()
	defer s.mu.RUnlock()
	keys := make([]collectionKey, len(s.names))
	for i, n := range s.names {
		keys[i] = collectionKeyOf(n)
	}
	return keys
}

// Collections returns the names of the collections that were opened and not dropped.
func (s *Store) Collections() []string {
	s.collections.mu.RLock()
	defer s.collections.mu.RUnlock()
	return slices.Clone(s.collections.names)
}

// Probes returns the vectors of the embedder's probe texts, which identify the model of a
// collection; nil if none are stored.
func (s *Store) Probes(name string) [][]float32 {
	s.collections.mu.RLock()
	defer s.collections.mu.RUnlock()
	return s.collections.probes[name]
}

// OpenCollection creates a collection if needed, so that vectors can be added, and stores
// its probes if it has none. While the store is read-only, the collection is written later.
func (s *Store) OpenCollection(ctx context.Context, name string, probes [][]float32) error {
	if s.collections.known(name) && (probes == nil || s.Probes(name) != nil) {
		return nil
	}
	value, err := encodeCollection(name, probes)
	if err != nil {
		return fmt.Errorf("open collection %s: %w", name, err)
	}
	err = s.writeCollection(ctx, value)
	if err != nil && memory.CodeOf(err) != memory.CodeReadOnly {
		return fmt.Errorf("open collection %s: %w", name, err)
	}
	s.collections.mu.Lock()
	defer s.collections.mu.Unlock()
	if err != nil {
		s.collections.unwritten = append(s.collections.unwritten, value)
	}
	return s.collections.add(value)
}

func (s *Store) writeCollection(ctx context.Context, value []byte) error {
	name, _, _ := bytes.Cut(value, []byte{0})
	_, err := s.Update(ctx, func(tx *Tx) error {
		tx.put(keyCollection(collectionKeyOf(string(name))), value)
		return nil
	})
	return err
}

// writeCollections writes the collections that were opened while the store was read-only.
// The next start opens again what cannot be written.
func (s *Store) writeCollections() {
	s.collections.mu.Lock()
	values := s.collections.unwritten
	s.collections.unwritten = nil
	s.collections.mu.Unlock()
	for _, value := range values {
		if err := s.writeCollection(context.Background(), value); err != nil && !errors.Is(err, ErrClosed) {
			s.opts.Logger.Error("a vector collection was not written", "part", "store", "error", err)
		}
	}
}

// encodeCollection returns a collection's value: its name and, if there are probes, a NUL
// and the probes' codes in CBOR.
func encodeCollection(name string, probes [][]float32) ([]byte, error) {
	if probes == nil {
		return []byte(name), nil
	}
	codes := make([][]byte, len(probes))
	for i, v := range probes {
		codes[i] = encodeVector(v)
	}
	b, err := encode(codes)
	return append([]byte(name+"\x00"), b...), err
}

// add adds a collection by its value. It is called with mu held, except by Open.
func (s *collections) add(value []byte) error {
	before, after, probed := bytes.Cut(value, []byte{0})
	name := string(before)
	if !slices.Contains(s.names, name) {
		s.names = append(s.names, name)
	}
	if !probed {
		return nil
	}
	codes, err := decode[[][]byte](after)
	if err != nil {
		return err
	}
	probes := make([][]float32, len(codes))
	for i, c := range codes {
		if probes[i], err = decodeVector(c); err != nil {
			return err
		}
	}
	s.probes[name] = probes
	return nil
}

// CountVectors returns how many documents have a vector in a collection.
func (s *Store) CountVectors(name string) (int, error) {
	return read(s, func(v View) (int, error) {
		n := 0
		for range v.keys(prefixVectors(collectionKeyOf(name))) {
			n++
		}
		return n, nil
	})
}

// DropCollection removes a collection and its vectors. After a crash or an error the
// collection still exists; dropping it again removes the rest.
func (s *Store) DropCollection(ctx context.Context, name string) error {
	// In the committer, so that updates that still write to the collection are committed
	// before its vectors are listed.
	_, err := s.Update(ctx, func(*Tx) error {
		s.collections.mu.Lock()
		defer s.collections.mu.Unlock()
		s.collections.names = slices.DeleteFunc(s.collections.names, func(n string) bool { return n == name })
		delete(s.collections.probes, name)
		delete(s.collections.widths, name)
		return nil
	})
	if err == nil {
		err = s.dropVectors(ctx, name)
	}
	if err == nil {
		return nil
	}
	s.collections.mu.Lock()
	defer s.collections.mu.Unlock()
	return fmt.Errorf("drop collection %s: %w", name, errors.Join(err, s.collections.add([]byte(name))))
}

// dropVectors removes the keys of a collection in several commits.
func (s *Store) dropVectors(ctx context.Context, name string) error {
	short := collectionKeyOf(name)
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
	keys = append(keys, keyCollection(short)) // last, so that an interrupted drop can be repeated
	const portion = 1000                      // few enough to share a commit
	for part := range slices.Chunk(keys, portion) {
		if _, err := s.Update(ctx, func(tx *Tx) error {
			tx.refuseSaved() // they would bring the vectors back
			for _, k := range part {
				tx.del(k)
			}
			return nil
		}); err != nil {
			return err
		}
	}
	s.removeRefused()
	return nil
}

func (s *Store) openCollections() error {
	return s.View(func(v View) error {
		read := func(_, b []byte) ([]byte, error) { return slices.Clone(b), nil }
		for value, err := range scan(v, prefixCollection, read) {
			if err == nil {
				err = s.collections.add(value)
			}
			if err != nil {
				return memory.Errorf(memory.CodeCorrupt, "read collections: %w", err)
			}
		}
		return nil
	})
}
