package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/dgraph-io/badger/v4"
	"golang.org/x/sync/errgroup"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/worker"
)

// contents is what Load learns about the store.
type contents struct {
	open         openSessions
	refs         map[memory.DocID]int32
	chunkSets    map[chunkSetID]int32
	unread       map[chunkSetID]bool // referenced, but cannot be read
	logSizes     logSizes
	sandboxSizes sandboxSizes
	totals       totals
	// fileDocs is the number of documents referenced by files.
	fileDocs int
	orphans  orphans
}

// Load reads one consistent state, counts the references to every document and sweeps the
// documents without any. It returns the sequence number of the state: later changes go to
// Options.Apply, perhaps while Load runs. Values that fail their checksum are logged and
// skipped.
func (s *Store) Load(ctx context.Context, l memory.Loader) (uint64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	var seq, sessionsAt uint64
	var txn *badger.Txn
	done := func() {}
	err := s.betweenCommits(func() {
		var db *handle
		db, done = s.use()
		txn = db.NewTransaction(false)
		seq, sessionsAt = s.seq, s.sessionsAt
		s.loaded = false // incomplete counts must not sweep anything
		clear(s.refs)
		clear(s.chunkSets)
		clear(s.unread)
		clear(s.logSizes)
		clear(s.sandboxSizes)
		clear(s.totals)
		s.fileDocs = 0
		if s.forgets.Load() != s.forgetsRead {
			l.Saved = nil // a record was dropped since they were opened
		}
		s.stopCompactions() // until the end, or a commit: callers wait for the indexes
	})
	if err != nil {
		return 0, err
	}
	c, err := func() (*contents, error) {
		defer done() // before the committer is waited for, which may wait for this
		defer txn.Discard()
		return s.walk(ctx, View{txn}, l)
	}()
	if err != nil {
		return 0, err
	}
	err = s.betweenCommits(func() {
		for doc, n := range s.refs {
			if c.refs[doc] += n; c.refs[doc] == 0 { // its last reference was removed while Load ran
				c.orphans.terms[doc] = struct{}{}
				delete(c.refs, doc)
			}
		}
		s.refs = c.refs
		for id, n := range c.chunkSets {
			s.chunkSets[id] += n
		}
		for id, n := range s.chunkSets {
			if n == 0 {
				c.orphans.chunkSets = append(c.orphans.chunkSets, id)
				delete(s.chunkSets, id)
			}
		}
		maps.Copy(s.unread, c.unread)
		for project, n := range c.logSizes {
			s.logSizes.change(project, n)
		}
		s.sandboxSizes.add(c.sandboxSizes)
		s.fileDocs += c.fileDocs
		s.keepOpen(c.open, sessionsAt)
		s.loaded = true
		s.totals.add(c.totals)
		s.compare()
		s.wake()
	})
	if err != nil {
		return 0, err
	}
	if err := s.sweep(ctx, &c.orphans); err != nil {
		s.leftUnswept(err)
	}
	return seq, nil
}

// Read passes the last committed state to a loader, as Load does, and returns its
// sequence number. It counts and sweeps nothing, so it may run at any time.
func (s *Store) Read(ctx context.Context, l memory.Loader) (uint64, error) {
	return read(s, func(v View) (uint64, error) {
		if _, err := s.walk(ctx, v, l); err != nil {
			return 0, err
		}
		seq, err := getUint(v.txn, keySeq)
		if errors.Is(err, badger.ErrKeyNotFound) { // nothing was committed yet
			return 0, nil
		}
		return seq, err
	})
}

// loadedBatch is how many values are read ahead at once, loadedBatches how many batches wait.
const loadedBatch, loadedBatches = 128, 4

// walk passes everything that a view holds to a loader.
func (s *Store) walk(ctx context.Context, v View, l memory.Loader) (*contents, error) {
	saved := 0
	if l.Saved != nil {
		saved = l.Saved.Documents
	}
	c := &contents{
		open: openSessions{}, refs: make(map[memory.DocID]int32, saved), chunkSets: map[chunkSetID]int32{}, unread: map[chunkSetID]bool{},
		logSizes: logSizes{}, sandboxSizes: sandboxSizes{}, totals: totals{},
	}
	for x := range sound(s, v.Sessions("")) {
		c.open.add(&x)
		c.totals[totalSessions]++
		if err := l.Session(x); err != nil {
			return nil, err
		}
	}
	written := v.loadSaved(l.Saved, c)
	for r, err := range worker.Ahead(v.unsaved(l.Saved, written), loadedBatch, loadedBatches) {
		if s.damaged(err) {
			s.mustRead.Store(true) // a start with saved indexes would not read it again
			continue
		}
		c.add(r.Outline())
		if err := l.Record(r); err != nil {
			return nil, err
		}
	}
	if err := s.walkFiles(ctx, v, l, c); err != nil {
		return nil, err
	}
	return c, s.loadDocs(ctx, v, l, c)
}

func (c *contents) add(o memory.RecordOutline) {
	c.refs[o.Doc]++
	c.logSizes.change(o.Project, int64(o.LogBytes))
	c.totals[string(o.Kind)]++
}

// loadSaved loads the saved records but those that were written since. It returns the ids of
// the latter.
func (v View) loadSaved(saved *memory.SavedRecords, c *contents) (written map[string]bool) {
	if saved == nil {
		return nil
	}
	written = map[string]bool{}
	for item := range v.items(prefixRecord, prefixRecord, saved.Since) {
		written[string(item.Key()[len(prefixRecord):])] = true
	}
	saved.Load(func(id string) bool { return written[id] }, c.add)
	return written
}

// unsaved yields the records that are not saved, and those written since.
func (v View) unsaved(saved *memory.SavedRecords, written map[string]bool) iter.Seq2[memory.Record, error] {
	return func(yield func(memory.Record, error) bool) {
		since := uint64(0)
		if saved != nil {
			since = saved.Since
			for _, id := range saved.Others {
				if written[id] {
					continue
				}
				if r, err := v.Record(id); memory.CodeOf(err) != memory.CodeNotFound && !yield(r, err) {
					return
				}
			}
		}
		for item := range v.items(prefixRecord, prefixRecord, since) {
			if !yield(readItem(item, decodeValue[memory.Record])) {
				return
			}
		}
	}
}

// walkFiles passes the files to a loader. It decodes every chunk set once.
func (s *Store) walkFiles(ctx context.Context, v View, l memory.Loader, c *contents) error {
	all := s.loadChunkSets(v)
	find := func(id chunkSetID) (chunkSet, error) {
		found, ok := all[id]
		if !ok {
			return chunkSet{}, corrupt(keyChunkSet(id), "a file names it and it cannot be read")
		}
		return found, nil
	}
	for f, err := range worker.Ahead(v.files("", find), loadedBatch, loadedBatches) {
		if f.chunkSet != (chunkSetID{}) {
			c.chunkSets[f.chunkSet]++
		}
		if s.damaged(err) {
			if f.chunkSet != (chunkSetID{}) {
				c.unread[f.chunkSet] = true
			}
			continue
		}
		c.totals[string(memory.Chunk)] += len(f.Chunks)
		c.totals[totalFiles]++
		c.sandboxSizes.change(memory.FileChange{New: &f.File})
		for _, chunk := range f.Chunks {
			if c.refs[chunk.Doc]++; c.refs[chunk.Doc] == 1 {
				c.fileDocs++
			}
		}
		if err := l.File(f.File); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	for id := range all {
		if c.chunkSets[id] == 0 {
			c.orphans.chunkSets = append(c.orphans.chunkSets, id)
		}
	}
	return nil
}

// orphans are documents and chunk sets without a reference. Terms and vectors are loaded
// in parallel, so the documents found by each are kept apart.
type orphans struct {
	terms, vectors map[memory.DocID]struct{}
	chunkSets      []chunkSetID
}

func (o *orphans) documents() []memory.DocID {
	maps.Copy(o.terms, o.vectors)
	return slices.Collect(maps.Keys(o.terms))
}

func (s *Store) loadDocs(ctx context.Context, v View, l memory.Loader, c *contents) error {
	c.orphans.terms, c.orphans.vectors = map[memory.DocID]struct{}{}, map[memory.DocID]struct{}{}
	var held *memory.Held
	if l.Held != nil {
		held = l.Held()
	}
	var apart []memory.DocID
	if held != nil { // before the vectors, which depend on what was written
		var err error
		if apart, err = s.loadTerms(ctx, v, l.Terms, held, c); err != nil {
			return err
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	if held == nil {
		g.Go(func() error {
			_, err := s.loadTerms(ctx, v, l.Terms, nil, c)
			return err
		})
	}
	names := s.Collections()
	g.Go(func() error {
		for _, name := range names {
			if l.Collection != nil && !l.Collection(name) {
				continue
			}
			if err := s.loadVectors(ctx, v, l.Vector, name, held, apart, c); err != nil {
				return err
			}
		}
		return nil
	})
	return g.Wait()
}

// loadTerms passes the terms that a loader does not hold. It returns the documents whose
// vectors must be read one by one, because they may be older than what is held: those that the
// loader does not hold at all, and those whose terms it holds and that were written since. Of
// the latter, the vectors that it holds are dropped: the document may have lost its last
// reference, and with it its vectors, and have been written again.
func (s *Store) loadTerms(
	ctx context.Context, v View, load func(memory.DocID, []byte) error, held *memory.Held, c *contents,
) (apart []memory.DocID, err error) {
	pass := func(doc memory.DocID, b []byte) error {
		if c.refs[doc] == 0 {
			c.orphans.terms[doc] = struct{}{}
			return nil
		}
		return load(doc, b)
	}
	if held == nil {
		return nil, s.each(ctx, v, prefixTerms, 0, pass)
	}
	written, found := map[memory.DocID]struct{}{}, 0 // of the documents in c.refs
	err = s.each(ctx, v, prefixTerms, held.Since, func(doc memory.DocID, b []byte) error {
		written[doc] = struct{}{}
		if held.Has(doc) {
			held.DropVectors(doc)
			apart = append(apart, doc)
		} else if c.refs[doc] > 0 {
			found++
		}
		return pass(doc, b)
	})
	if err != nil {
		return nil, err
	}
	for doc := range held.All {
		if c.refs[doc] > 0 {
			found++
		} else if s.remains(v, doc) { // perhaps in part: a crash can end a sweep
			c.orphans.terms[doc] = struct{}{}
		}
	}
	if found == len(c.refs) { // as after most stops: no document must be looked for
		return apart, ctx.Err()
	}
	for doc := range c.refs {
		if _, passed := written[doc]; passed || held.Has(doc) {
			continue
		}
		apart = append(apart, doc)
		if err := s.passOne(v, keyTerms(doc), doc, pass); err != nil {
			return nil, err
		}
	}
	return apart, ctx.Err()
}

// passOne passes the value of a document under a key, if there is a sound one.
func (s *Store) passOne(v View, key []byte, doc memory.DocID, pass func(memory.DocID, []byte) error) error {
	err := get(v.txn, key, func(b []byte) error { return pass(doc, b) })
	if errors.Is(err, badger.ErrKeyNotFound) || memory.CodeOf(err) == memory.CodeCorrupt && s.damaged(err) {
		return nil
	}
	return err
}

// remains reports whether terms or vectors of a document are there.
func (s *Store) remains(v View, doc memory.DocID) bool {
	keys := [][]byte{keyTerms(doc)}
	for _, c := range s.collections.all() {
		keys = append(keys, keyVector(c, doc))
	}
	return slices.ContainsFunc(keys, func(k []byte) bool {
		_, err := v.txn.Get(k)
		return err == nil
	})
}

// loadVectors passes the vectors of a collection that a loader does not hold.
func (s *Store) loadVectors(
	ctx context.Context, v View, load func(string, memory.DocID, []float32) error, name string, held *memory.Held, apart []memory.DocID, c *contents,
) error {
	prefix, since := prefixVectors(collectionKeyOf(name)), uint64(0)
	pass := func(doc memory.DocID, b []byte) error {
		if c.refs[doc] == 0 {
			c.orphans.vectors[doc] = struct{}{}
			return nil
		}
		s.collections.saw(name, len(b))
		vec, err := decodeVector(b)
		if s.damaged(err) {
			return nil
		}
		return load(name, doc, vec)
	}
	if held != nil && held.Vectors(name) {
		since = held.Since
		for _, doc := range apart {
			if err := s.passOne(v, keyVector(collectionKeyOf(name), doc), doc, pass); err != nil {
				return err
			}
		}
		if size, ok := v.firstSize(prefix); ok {
			s.collections.saw(name, size)
		}
	}
	return s.each(ctx, v, prefix, since, pass)
}

// firstSize returns the size of the first value under a prefix.
func (v View) firstSize(prefix []byte) (size int, ok bool) {
	it := v.txn.NewIterator(badger.IteratorOptions{Prefix: prefix})
	defer it.Close()
	if it.Rewind(); !it.Valid() {
		return 0, false
	}
	return int(it.Item().ValueSize()) - valueOverhead, true
}

// each calls fn for the values of documents under a prefix that were written after a
// version of the database.
func (s *Store) each(ctx context.Context, v View, prefix []byte, since uint64, fn func(memory.DocID, []byte) error) error {
	for item := range v.items(prefix, prefix, since) {
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

// sweepBatch is how many documents are swept in one commit.
const sweepBatch = 1000

// sweep removes documents and chunk sets that a crash left without a reference. It touches
// their counts, and finish sweeps what nothing refers to.
func (s *Store) sweep(ctx context.Context, o *orphans) error {
	return errors.Join(
		sweepAll(ctx, s, "documents", "documents", o.documents(), func(tx *Tx, doc memory.DocID) { tx.refs[doc] += 0 }),
		sweepAll(ctx, s, "chunk sets", "cuts", o.chunkSets, func(tx *Tx, id chunkSetID) { tx.chunkSets[id] += 0 }),
	)
}

// sweepAll calls touch for every id, in several commits. audited is what the audit log calls them.
func sweepAll[ID any](ctx context.Context, s *Store, what, audited string, ids []ID, touch func(*Tx, ID)) error {
	for part := range slices.Chunk(ids, sweepBatch) {
		_, err := s.Update(ctx, func(tx *Tx) error {
			for _, id := range part {
				touch(tx, id)
			}
			tx.Audit("sweep", map[string]any{audited: len(part)})
			return nil
		})
		if err != nil {
			return fmt.Errorf("sweep %s: %w", what, err)
		}
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
