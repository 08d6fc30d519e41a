package indexer

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/index/lexical"
	"github.com/recalld/recalld/index/vector"
	"github.com/recalld/recalld/internal/memory"
)

// The saved indexes are the words and vectors of documents, and what filters need of lessons
// and steps: most of the work of a start. They may be older than the store: every start reads
// the records that were written since and those that are not saved, and walks all files. A
// store that drops a saved record drops the saved indexes.
//
// savedFormat is raised when what is saved changes, or what follows from the paths of files,
// which are analysed when they are indexed.
const savedFormat = 3

const (
	// saveFrom is how many documents are worth saving: fewer are indexed in a tenth of a second.
	saveFrom = 5000
	// leastUnsaved and unsavedShare say how many changed documents make saved indexes old: a
	// start indexes them anew.
	leastUnsaved = 1000
	unsavedShare = 20 // a twentieth
)

// The bits of a saved document.
const (
	savedIndexed = 1 << iota
	savedDeclares
	savedTest
)

// Save saves the indexes in the store, for the next start. Changes wait while they are
// written to the system's cache; questions do not.
func (x *Indexer) Save(ctx context.Context) error {
	var saved int64
	err := x.store.SaveIndexes(ctx, func(w io.Writer) error {
		x.loadMu.Lock()
		defer x.loadMu.Unlock()
		if x.state != Ready {
			return memory.Errorf(memory.CodeUnavailable, "the indexes are not loaded")
		}
		saved = x.unsaved.Load()
		to := index.NewSaver(w)
		x.save(to)
		return to.Flush()
	})
	if err == nil {
		x.unsaved.Add(-saved)
	}
	return err
}

// SaveDue reports whether the indexes should be saved: they are large, and what is saved is
// missing or old.
func (x *Indexer) SaveDue() bool {
	if !x.Loaded() || x.Documents() < x.opts.SaveFrom {
		return false
	}
	old := max(leastUnsaved, int64(x.Documents()/unsavedShare))
	return x.unsaved.Load() >= old || !x.store.HasSavedIndexes()
}

// save is called with loadMu held, so nothing changes but for what queries cache.
func (x *Indexer) save(to *index.Saver) {
	to.Uint(savedFormat)
	to.String(x.opts.Version)
	var renumbered index.Table[uint32]
	to.Uint(uint64(x.numbers.Len()))
	for num := range x.numbers.Limit() {
		id, known := x.numbers.ID(num)
		if !known {
			continue
		}
		renumbered.Set(num, uint32(renumbered.Len()))
		d, _ := x.docs.Get(num)
		to.Bytes(id[:])
		to.Uint(bit(d.indexed, savedIndexed) | bit(d.declares, savedDeclares) | bit(d.test, savedTest))
		to.Word(d.names)
		to.String(d.paths)
	}
	x.saveRecords(to, renumbered.Get)
	x.lexical.Save(to, renumbered.Get) // without the parts of documents, which have no number here
	all := x.collections.list()
	to.Uint(uint64(len(all)))
	for _, c := range all {
		to.String(c.name)
		c.vectors.Save(to, renumbered.Get)
	}
}

// bit is a bit that is set or not.
func bit(set bool, bit uint64) uint64 {
	if set {
		return bit
	}
	return 0
}

// restored are indexes as they were saved. Their documents and records are read before
// anything else; words and vectors are read while the store is walked.
type restored struct {
	x       *Indexer
	saved   *memory.SavedIndexes
	ids     [][16]byte // by number
	indexed []bool     // by number: the words of the document are there
	settled []bool     // by number: it has its attributes, and its paths are those that were saved
	docs    index.Table[document]
	records []owner
	found   index.Finder // of records by id
	others  []string     // the ids of the records that are not saved

	done  chan struct{} // closed when the fields below are set
	ready bool          // words and vectors are in the indexes
	// collections are those whose vectors were saved.
	collections map[string]bool
}

// restore begins to read the saved indexes; nil if there are none that can be used. The
// collections must be open.
func (x *Indexer) restore() *restored {
	saved, err := x.store.SavedIndexes()
	if err != nil {
		x.unrestored(err)
	}
	if saved == nil {
		return nil
	}
	r := &restored{x: x, saved: saved, done: make(chan struct{}), collections: map[string]bool{}}
	in := index.NewRestorer(saved, saved.Size)
	if err = r.readDocs(in); err == nil {
		err = r.readRecords(in)
	}
	if err == nil && !x.numbers.Fill(r.ids) {
		err = fmt.Errorf("%w: a document is there twice", index.ErrSaved)
	}
	if err != nil {
		_ = saved.Close() // it was only read
		x.unrestored(err)
		return nil
	}
	x.mu.Lock()
	x.docs = r.docs
	x.mu.Unlock()
	go r.readRest(in)
	return r
}

func (x *Indexer) unrestored(err error) {
	err = errors.Join(err, x.store.DropSavedIndexes())
	x.opts.Logger.Warn("the indexes are built anew, because the saved ones cannot be used", "part", "indexer", "error", err)
}

func (r *restored) readDocs(in *index.Restorer) error {
	if in.Below(1<<32) != savedFormat || in.String() != r.x.opts.Version {
		in.Fail("it is of another version of the program")
	}
	n := in.Count(16 + 1 + 8 + 1)
	r.ids, r.indexed = make([][16]byte, n), make([]bool, n)
	for num := range r.ids {
		in.Bytes(r.ids[num][:])
		bits := in.Below(savedTest << 1)
		d := document{indexed: bits&savedIndexed != 0, declares: bits&savedDeclares != 0, test: bits&savedTest != 0, names: in.Word(), paths: in.String()}
		if in.Err() != nil {
			break
		}
		r.indexed[num] = d.indexed
		r.docs.Set(uint32(num), d)
	}
	return in.Err()
}

// readRest reads words and vectors, and gives them to the indexes when all are read.
func (r *restored) readRest(in *index.Restorer) {
	defer close(r.done)
	defer r.saved.Close()
	words, vectors, err := r.x.readIndexes(in, len(r.ids))
	if err != nil {
		r.x.unrestored(err)
		return
	}
	r.docs = index.Table[document]{} // the indexer has them
	r.x.lexical.Take(words)
	for name, from := range vectors {
		if c := r.x.collections.find(name); c != nil {
			c.vectors.Take(from)
			r.collections[name] = true
		}
	}
	r.ready = true
}

func (x *Indexer) readIndexes(in *index.Restorer, docs int) (words *lexical.Index, vectors map[string]*vector.Collection, err error) {
	if words, err = lexical.Restore(x.opts.Lexical, in, docs); err != nil {
		return nil, nil, err
	}
	vectors = map[string]*vector.Collection{}
	for range in.Count(1) {
		name := in.String()
		model, dim, err := parseCollection(name)
		if err != nil {
			in.Fail(err.Error())
		}
		if in.Err() != nil {
			break
		}
		if vectors[name], err = vector.Restore(vector.Options{Name: model, Dim: dim}, in, docs); err != nil {
			return nil, nil, err
		}
	}
	return words, vectors, in.End()
}

// wait waits until words and vectors are read. A nil receiver has nothing to wait for.
func (r *restored) wait() {
	if r != nil {
		<-r.done
	}
}

// held tells the store what was restored, nil for nothing. It is called after all records and
// files.
func (r *restored) held() *memory.Held {
	if r == nil {
		return nil
	}
	r.setAttributes() // while words and vectors are read
	r.wait()
	if !r.ready {
		r.forget()
		return nil
	}
	return &memory.Held{
		Since: r.saved.Since,
		Has: func(doc memory.DocID) bool {
			num, known := r.x.numbers.Lookup(doc)
			return known && int(num) < len(r.indexed) && r.indexed[num]
		},
		All: func(yield func(memory.DocID) bool) {
			for num, id := range r.ids {
				if r.indexed[num] && !yield(id) {
					return
				}
			}
		},
		Vectors: func(collection string) bool { return r.collections[collection] },
		DropVectors: func(doc memory.DocID) {
			if num, known := r.x.numbers.Lookup(doc); known {
				r.x.collections.drop(num)
			}
		},
	}
}

// forget says of all documents that their words are not indexed.
func (r *restored) forget() {
	r.x.mu.Lock()
	defer r.x.mu.Unlock()
	for num := range uint32(len(r.ids)) {
		d, _ := r.x.docs.Get(num)
		d.indexed, d.paths, d.names, d.declares, d.test = false, "", 0, false, false
		r.x.docs.Set(num, d)
	}
}

// setAttributes gives the restored documents their attributes, after all records and files.
func (r *restored) setAttributes() {
	r.settled = make([]bool, len(r.ids))
	for num := range uint32(len(r.ids)) {
		if d, _ := r.x.docs.Get(num); d.set != nil || len(d.refs) > 0 {
			r.settled[num] = r.x.setAttributes(num, &d) == d.paths && d.indexed
		}
	}
	r.x.fillRecency()
}

// settle indexes the restored documents whose paths are others, after all terms, and removes
// those that nothing references any more.
func (r *restored) settle() {
	if r == nil {
		return
	}
	for num := range uint32(len(r.ids)) {
		if r.settled[num] && r.ready {
			continue
		}
		d, _ := r.x.docs.Get(num)
		if d.set == nil && len(d.refs) == 0 {
			r.x.drop(num)
		} else if r.ready {
			r.x.refresh(num, r.ids[num], nil)
		}
	}
}
