package indexer

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// Load fills the indexes from the store, and begins with the saved ones where they can be
// used. Changes committed while it runs are applied at its end.
func (x *Indexer) Load(ctx context.Context, store Store) error {
	return x.load(ctx, store, store.Load, x.restore)
}

func (x *Indexer) load(ctx context.Context, store Store, read func(context.Context, memory.Loader) (uint64, error), restore func() *restored) error {
	start := time.Now()
	x.loadMu.Lock()
	if x.state != Empty {
		x.loadMu.Unlock()
		return memory.Errorf(memory.CodeConflict, "the indexes are loaded already")
	}
	x.store, x.state = store, Loading
	x.loadMu.Unlock()

	if err := x.openCollections(ctx); err != nil {
		return fmt.Errorf("load indexes: %w", err)
	}
	var saved *restored
	if restore != nil {
		saved = restore()
	}
	pipeline, parts := x.startLexicalPipeline(), x.startPartLoader(ctx, saved)
	seq, err := read(ctx, memory.Loader{
		Session: x.loadSession, File: x.loadFile, Terms: pipeline.add,
		Record: func(r memory.Record) error {
			num := x.loadRecord(r)
			if parted(&r) {
				parts.add(parting{num, r.Text})
			}
			return nil
		},
		Saved: saved.savedRecords(), Collection: x.collections.wanted, Vector: x.loadVector, Held: saved.held,
	})
	saved.wait() // also after an error: every goroutine has its owner
	pipeline.end()
	parts.end()
	if err == nil {
		err = x.countUnused()
	}
	if err != nil {
		return fmt.Errorf("load indexes: %w", err)
	}
	if saved == nil {
		x.fillRecency()
	} else {
		saved.settle()
	}
	x.loadMu.Lock()
	defer x.loadMu.Unlock()
	x.mu.Lock()
	x.sessions.finishLoad()
	x.listed.finishLoad()
	x.mu.Unlock()
	x.seq.Store(seq)
	for _, c := range x.pending {
		if c.Seq > seq {
			x.apply(c)
		}
	}
	x.pending, x.state = nil, Ready
	close(x.loaded)
	x.opts.Logger.Info("indexes loaded", "part", "indexer", "documents", x.numbers.Len(), "saved", saved != nil && saved.ready, "took", time.Since(start).Round(time.Millisecond))
	return nil
}

func (x *Indexer) loadSession(s memory.Session) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.sessions.put(&s)
	return nil
}

func (x *Indexer) loadRecord(r memory.Record) uint32 {
	x.listed.apply([]memory.RecordChange{{New: &r}})
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.addRecord(&r)
}

func (x *Indexer) loadFile(f memory.File) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.addFile(&f)
	return nil
}

// lexicalPipeline adds the words of loaded documents to the lexical index in a
// goroutine of its own. That is most of the work of a start and cannot be split, so
// reading and decoding run beside it.
type lexicalPipeline struct {
	x       *Indexer
	batch   []lexicalFields
	batches chan []lexicalFields
	indexer sync.WaitGroup
}

// pipelineBatch is how many documents are sent at once.
const pipelineBatch = 64

func (x *Indexer) startLexicalPipeline() *lexicalPipeline {
	l := &lexicalPipeline{x: x, batches: make(chan []lexicalFields, 8)}
	l.indexer.Go(func() {
		for batch := range l.batches {
			for _, w := range batch {
				x.index(w)
			}
		}
	})
	return l
}

// add is called from one goroutine, after all records and files, when the references
// are complete.
func (l *lexicalPipeline) add(doc memory.DocID, encoded []byte) error {
	num, ok := l.x.numbers.Lookup(doc)
	if !ok {
		return nil
	}
	l.x.unsaved.Add(1)
	w, changed := l.x.describe(num, doc, encoded)
	if !changed {
		return nil
	}
	if l.batch = append(l.batch, w); len(l.batch) == pipelineBatch {
		l.flush()
	}
	return nil
}

func (l *lexicalPipeline) flush() {
	l.batches <- l.batch
	l.batch = make([]lexicalFields, 0, pipelineBatch)
}

// end waits for the index.
func (l *lexicalPipeline) end() {
	l.flush()
	close(l.batches)
	l.indexer.Wait()
}

func (x *Indexer) loadVector(collection string, doc memory.DocID, v []float32) error {
	if num, ok := x.numbers.Lookup(doc); ok {
		x.upsertVector(collection, num, doc, v)
	}
	return nil
}
