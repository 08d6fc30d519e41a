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

// collections are the vector spaces that hold, or may hold, vectors.
type collections struct {
	mu    sync.RWMutex // guards what follows
	names []string
	// probes are the vectors by which the model of a space is known again.
	probes map[string][][]float32
	// widths are the bytes of a vector, as far as one was seen.
	widths map[string]int
	// unwritten are the values of those that were opened while nothing could be stored.
	unwritten [][]byte
}

// saw notes how many bytes a vector of a space takes.
func (s *collections) saw(name string, bytes int) {
	s.mu.RLock()
	known := s.widths[name] == bytes
	s.mu.RUnlock()
	if known {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.widths == nil {
		s.widths = map[string]int{}
	}
	s.widths[name] = bytes
}

// vectorBytes is what the vectors of a document take that has one in every space.
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

// all returns the short names.
func (s *collections) all() []collectionKey {
	s.mu.RLock()
	defer s.mu.RUnlock()
	keys := make([]collectionKey, len(s.names))
	for i, n := range s.names {
		keys[i] = collectionKeyOf(n)
	}
	return keys
}

// Collections returns the names of the spaces that were opened and not dropped.
func (s *Store) Collections() []string {
	s.collections.mu.RLock()
	defer s.collections.mu.RUnlock()
	return slices.Clone(s.collections.names)
}

// Probes returns the vectors of the embedder's probe texts by which the model of a
// space is known again; nil when none were stored.
func (s *Store) Probes(name string) [][]float32 {
	s.collections.mu.RLock()
	defer s.collections.mu.RUnlock()
	return s.collections.probes[name]
}

// OpenCollection makes a space known, so that vectors can be put into it, and keeps
// its probes, if it has none yet. While nothing can be stored it is written later.
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
		short := collectionKeyOf(string(name))
		tx.put(key(prefixCollection, string(short[:])), value)
		return nil
	})
	return err
}

// writeCollections writes the spaces that were opened while nothing could be stored. The next
// start opens again those that cannot be written.
func (s *Store) writeCollections() {
	s.collections.mu.Lock()
	values := s.collections.unwritten
	s.collections.unwritten = nil
	s.collections.mu.Unlock()
	for _, value := range values {
		if err := s.writeCollection(context.Background(), value); err != nil && !errors.Is(err, ErrClosed) {
			s.opts.Logger.Error("a vector space was not written", "part", "store", "error", err)
		}
	}
}

// encodeCollection gives a space's value: its name and, after a NUL, the codes of its
// probes' vectors in CBOR, if there are any.
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

// add takes in a space by its value. It is called with mu held, but by Open.
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
	if s.probes == nil {
		s.probes = map[string][][]float32{}
	}
	s.probes[name] = probes
	return nil
}

// CountVectors returns how many documents have a vector in a space.
func (s *Store) CountVectors(name string) (int, error) {
	return read(s, func(v View) (int, error) {
		n := 0
		for range v.keys(prefixVectors(collectionKeyOf(name))) {
			n++
		}
		return n, nil
	})
}

// DropCollection removes a space and its vectors. What a crash or an error leaves of it is
// known as the space, and is removed when it is dropped again.
func (s *Store) DropCollection(ctx context.Context, name string) error {
	// In the committer, so that the updates that knew the space are committed
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

// dropVectors removes the keys of a space, in portions.
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
	keys = append(keys, key(prefixCollection, string(short[:]))) // last: what is left is known by it
	const portion = 1000                                         // few enough to share a commit
	for part := range slices.Chunk(keys, portion) {
		if _, err := s.Update(ctx, func(tx *Tx) error {
			for _, k := range part {
				tx.del(k)
			}
			return nil
		}); err != nil {
			return err
		}
	}
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
