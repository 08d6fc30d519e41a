package store

import (
	"context"
	"fmt"
	"iter"
	"maps"

	"github.com/dgraph-io/badger/v4"
	"golang.org/x/sync/errgroup"

	"github.com/recalld/recalld/internal/memory"
)

// Load reads one consistent state, counts the references to every document and
// sweeps those that have none. It returns the sequence number of the state:
// changes with a higher one come to Options.Apply, perhaps while Load runs.
// Values that fail their checksum are logged and passed over.
func (s *Store) Load(ctx context.Context, l memory.Loader) (uint64, error) {
	var seq, sessionsAt uint64
	var txn *badger.Txn
	// In the committer, so that no commit falls between state and counts.
	_, err := s.Update(ctx, func(*Tx) error {
		txn = s.db.NewTransaction(false)
		s.mu.Lock()
		defer s.mu.Unlock()
		seq, sessionsAt = s.seq, s.sessionsAt
		clear(s.refs)
		clear(s.counts)
		return nil
	})
	if err != nil {
		return 0, err
	}
	defer txn.Discard()
	v := View{txn}

	open := openSessions{}
	for x, err := range v.Sessions("") {
		if s.damaged(err) {
			continue
		}
		open.add(&x)
		if err := l.Session(x); err != nil {
			return 0, err
		}
	}
	refs := map[memory.DocID]int32{}
	counts := memory.Change{}
	for r, err := range v.Records() {
		if s.damaged(err) {
			continue
		}
		refs[r.Doc]++
		counts.Records = append(counts.Records, memory.RecordChange{New: &memory.Record{Kind: r.Kind}})
		if err := l.Record(r); err != nil {
			return 0, err
		}
	}
	chunks := 0
	for f, err := range v.Files("") {
		if s.damaged(err) {
			continue
		}
		chunks += len(f.Chunks)
		for _, c := range f.Chunks {
			refs[c.Doc]++
		}
		if err := l.File(f); err != nil {
			return 0, err
		}
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
	}

	var orphans orphans
	if err := s.loadDocs(ctx, v, l, refs, &orphans); err != nil {
		return 0, err
	}
	s.mu.Lock()
	for doc, n := range refs {
		s.refs[doc] += n
	}
	for doc, n := range s.refs {
		if n == 0 { // its last reference went while Load ran
			orphans.terms[doc] = struct{}{}
			delete(s.refs, doc)
		}
	}
	s.count(counts)
	s.counts[memory.Chunk] += chunks
	s.keepOpen(open, sessionsAt)
	s.loaded = true
	s.mu.Unlock()
	return seq, s.sweep(ctx, orphans.all())
}

// orphans are documents without a reference, found by the loaders of terms and
// of vectors, each with a set of its own.
type orphans struct {
	terms, vectors map[memory.DocID]struct{}
}

func (o *orphans) all() iter.Seq[memory.DocID] {
	if o.terms == nil {
		o.terms = map[memory.DocID]struct{}{}
	}
	maps.Copy(o.terms, o.vectors)
	return maps.Keys(o.terms)
}

func (s *Store) loadDocs(ctx context.Context, v View, l memory.Loader, refs map[memory.DocID]int32, o *orphans) error {
	o.terms, o.vectors = map[memory.DocID]struct{}{}, map[memory.DocID]struct{}{}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		return s.each(ctx, v, prefixTerms, func(doc memory.DocID, b []byte) error {
			if refs[doc] == 0 {
				o.terms[doc] = struct{}{}
				return nil
			}
			return l.Terms(doc, b)
		})
	})
	names := s.Spaces()
	g.Go(func() error {
		for _, name := range names {
			if l.Space != nil && !l.Space(name) {
				continue
			}
			err := s.each(ctx, v, prefixVectors(shortSpace(name)), func(doc memory.DocID, b []byte) error {
				if refs[doc] == 0 {
					o.vectors[doc] = struct{}{}
					return nil
				}
				vec, err := decodeVector(b)
				if s.damaged(err) {
					return nil
				}
				return l.Vector(name, doc, vec)
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return g.Wait()
}

// each walks the values of documents; the id is the end of the key.
func (s *Store) each(ctx context.Context, v View, prefix []byte, fn func(memory.DocID, []byte) error) error {
	it := v.txn.NewIterator(badger.IteratorOptions{Prefix: prefix})
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		item := it.Item()
		k := item.Key()
		if len(k) != len(prefix)+len(memory.DocID{}) {
			s.damaged(corrupt(k, "the key has the wrong length"))
			continue
		}
		doc := memory.DocID(k[len(prefix):])
		err := item.Value(func(value []byte) error {
			payload, err := unseal(k, value)
			if s.damaged(err) {
				return nil
			}
			return fn(doc, payload)
		})
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// sweep removes documents that a crash left without a reference.
func (s *Store) sweep(ctx context.Context, docs iter.Seq[memory.DocID]) error {
	var ids []memory.DocID
	for doc := range docs {
		ids = append(ids, doc)
	}
	if len(ids) == 0 {
		return nil
	}
	_, err := s.Update(ctx, func(tx *Tx) error {
		for _, doc := range ids {
			tx.refs[doc] += 0 // touched: finish sweeps it when nothing refers to it
		}
		tx.Audit("sweep", map[string]any{"documents": len(ids)})
		return nil
	})
	if err != nil {
		return fmt.Errorf("sweep documents: %w", err)
	}
	return nil
}

// damaged logs an error about a stored value and reports whether there was one.
func (s *Store) damaged(err error) bool {
	if err == nil {
		return false
	}
	s.opts.Logger.Error("stored value is damaged", "part", "store", "error", err)
	return true
}

// keys walks the keys under a prefix, each a copy.
func (v View) keys(prefix []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		it := v.txn.NewIterator(badger.IteratorOptions{Prefix: prefix})
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			if !yield(it.Item().KeyCopy(nil)) {
				return
			}
		}
	}
}
