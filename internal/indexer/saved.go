package indexer

import (
	"context"
	"errors"
	"fmt"
	"io"

	"golang.org/x/sync/errgroup"

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
// savedFormat is raised when what is saved changes, or how texts and paths become terms.
const savedFormat = 6

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
// written to the system's cache; questions do not. Rows of vectors lie in the file from then
// on, instead of in memory.
func (x *Indexer) Save(ctx context.Context) error {
	x.saving.Lock()
	defer x.saving.Unlock()
	var unsaved int64
	var collections []*collection
	saved, err := x.store.SaveIndexes(ctx, func(begin func() io.Writer) error {
		x.loadMu.Lock()
		defer x.loadMu.Unlock()
		if x.state != Ready {
			return memory.Errorf(memory.CodeUnavailable, "the indexes are not loaded")
		}
		unsaved, collections = x.unsaved.Load(), x.collections.list()
		return x.save(begin, collections)
	})
	if err != nil {
		return err
	}
	x.unsaved.Add(-unsaved)
	if saved == nil {
		return nil
	}
	for i, c := range collections {
		part, err := saved.Part(firstVectors + i)
		if err != nil {
			return errors.Join(err, x.store.DropSavedIndexes())
		}
		c.vectors.Remap(part, saved)
	}
	return nil
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

// The numbers of the parts.
const (
	savedDocs    = 0 // and records
	savedWords   = 1
	firstVectors = 2 // of the first collection
)

// save writes the parts. It is called with loadMu held, so nothing changes but for what
// queries cache.
func (x *Indexer) save(begin func() io.Writer, collections []*collection) error {
	var renumbered index.Table[uint32]
	for num := range x.numbers.Limit() {
		if _, known := x.numbers.ID(num); known {
			renumbered.Set(num, uint32(renumbered.Len()))
		}
	}
	parts := []func(*index.Saver){
		func(to *index.Saver) {
			to.Uint(savedFormat)
			to.String(x.opts.Version)
			to.Uint(uint64(len(collections)))
			for _, c := range collections {
				to.String(c.name)
			}
			to.Uint(uint64(renumbered.Len()))
			x.saveDocs(to)
			x.saveRecords(to, renumbered.Get)
		},
		// Without the parts of documents, which have no number here.
		func(to *index.Saver) { x.lexical.Save(to, renumbered.Get) },
	}
	for _, c := range collections {
		parts = append(parts, func(to *index.Saver) { c.vectors.Save(to, renumbered.Get) })
	}
	for _, write := range parts {
		to := index.NewSaver(begin())
		write(to)
		if err := to.Flush(); err != nil {
			return err
		}
	}
	return nil
}

func (x *Indexer) saveDocs(to *index.Saver) {
	for num := range x.numbers.Limit() {
		id, known := x.numbers.ID(num)
		if !known {
			continue
		}
		d, _ := x.docs.Get(num)
		to.Bytes(id[:])
		to.Uint(bit(d.indexed, savedIndexed) | bit(d.declares, savedDeclares) | bit(d.test, savedTest))
		to.Word(d.names)
		to.String(d.paths)
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
// anything else; words and vectors are read beside them, and while the store is walked.
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

// restoredIndexes are words and vectors that nobody searches yet.
type restoredIndexes struct {
	words   *lexical.Index
	vectors map[string]*vector.Collection
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
	in, err := r.part(savedDocs)
	var names []string
	if err == nil {
		names = r.readHead(in)
		err = in.Err()
	}
	if err != nil {
		x.unrestored(err)
		return nil
	}
	var read restoredIndexes
	var reading errgroup.Group
	reading.Go(func() error { return r.readWords(&read) })
	reading.Go(func() error { return r.readVectors(&read, names) })
	if err = r.readDocs(in); err != nil {
		x.unrestored(errors.Join(err, reading.Wait()))
		return nil
	}
	x.mu.Lock()
	x.docs = r.docs
	x.mu.Unlock()
	go func() {
		defer close(r.done)
		if err := reading.Wait(); err != nil {
			x.unrestored(err)
			return
		}
		r.take(&read)
	}()
	return r
}

func (x *Indexer) unrestored(err error) {
	err = errors.Join(err, x.store.DropSavedIndexes())
	x.opts.Logger.Warn("the indexes are built anew, because the saved ones cannot be used", "part", "indexer", "error", err)
}

// part returns a restorer of a part.
func (r *restored) part(n int) (*index.Restorer, error) {
	b, err := r.saved.Part(n)
	return index.NewRestorer(b, r.saved), err
}

// readHead reads how many documents there are, and which collections.
func (r *restored) readHead(in *index.Restorer) (collections []string) {
	if in.Below(1<<32) != savedFormat || in.String() != r.x.opts.Version {
		in.Fail("it is of another version of the program")
	}
	collections = restoreStrings(in)
	r.ids = make([][16]byte, in.Count(16+1+8+1))
	return collections
}

// readDocs reads the documents and the records.
func (r *restored) readDocs(in *index.Restorer) error {
	r.indexed = make([]bool, len(r.ids))
	for num := range r.ids {
		copy(r.ids[num][:], in.Bytes(16))
		bits := in.Below(savedTest << 1)
		d := document{indexed: bits&savedIndexed != 0, declares: bits&savedDeclares != 0, test: bits&savedTest != 0, names: in.Word(), paths: in.String()}
		if in.Err() != nil {
			break
		}
		r.indexed[num] = d.indexed
		r.docs.Set(uint32(num), d)
	}
	r.readRecords(in)
	if err := in.End(); err != nil {
		return err
	}
	if !r.x.numbers.Fill(r.ids) {
		return fmt.Errorf("%w: a document is there twice", index.ErrSaved)
	}
	return nil
}

func (r *restored) readWords(read *restoredIndexes) error {
	in, err := r.part(savedWords)
	if err != nil {
		return err
	}
	if read.words, err = lexical.Restore(r.x.opts.Lexical, in, len(r.ids)); err != nil {
		return err
	}
	return in.End()
}

func (r *restored) readVectors(read *restoredIndexes, collections []string) error {
	read.vectors = map[string]*vector.Collection{}
	for i, name := range collections {
		model, dim, err := parseCollection(name)
		if err != nil {
			return fmt.Errorf("%w: %w", index.ErrSaved, err)
		}
		in, err := r.part(firstVectors + i)
		if err != nil {
			return err
		}
		if read.vectors[name], err = vector.Restore(vector.Options{Name: model, Dim: dim}, in, len(r.ids)); err != nil {
			return err
		}
		if err := in.End(); err != nil {
			return err
		}
	}
	return nil
}

// take gives words and vectors to the indexes.
func (r *restored) take(read *restoredIndexes) {
	r.docs = index.Table[document]{} // the indexer has them
	r.x.lexical.Take(read.words)
	for name, from := range read.vectors {
		if c := r.x.collections.find(name); c != nil {
			c.vectors.Take(from)
			r.collections[name] = true
		}
	}
	r.ready = true
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
// Most lessons and steps of a project have the same attributes, and so have the chunks of a
// file, which are set for all of them at once.
func (r *restored) setAttributes() {
	x := r.x
	r.settled = make([]bool, len(r.ids))
	alike := map[owner][]uint32{} // by attributesOf
	for num := range uint32(len(r.ids)) {
		d, _ := x.docs.Get(num)
		if d.set == nil && len(d.refs) == 0 {
			continue
		}
		if key, few := x.attributesOf(&d); few {
			alike[key] = append(alike[key], num)
			path := key.path()
			r.settled[num] = d.paths == path && d.indexed
			if path != "" && d.paths == path {
				d.paths = path // instead of a copy for each chunk
				x.docs.Set(num, d)
			}
			continue
		}
		r.settled[num] = x.setAttributes(num, &d) == d.paths && d.indexed
	}
	for _, docs := range alike {
		d, _ := x.docs.Get(docs[0])
		attrs, _ := x.attributes(d.refs)
		x.attrs.Fill(docs, attrs)
	}
	x.selections.changed()
	x.fillRecency()
}

// attributesOf returns an owner that has the attributes of a document and nothing else, or the
// file that it is in, to compare documents by. few is false if the document has several
// references, or a list of attributes.
func (x *Indexer) attributesOf(d *document) (key owner, few bool) {
	if d.set != nil || len(d.refs) != 1 {
		return owner{}, false
	}
	e := &x.owners.all[d.refs[0].owner]
	if e.file != nil {
		return owner{file: e.file}, true
	}
	if len(e.tags)+len(e.fingerprints) > 0 {
		return owner{}, false
	}
	return owner{kind: e.kind, project: e.project, repo: e.repo, screen: e.screen, followed: e.followed, withdrawn: e.withdrawn}, true
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
