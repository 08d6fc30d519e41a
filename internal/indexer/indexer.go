// Package indexer is the sole writer of the indexes. It maps records and files
// to documents, applies committed changes in their order, rebuilds the indexes
// at start, and fills the spaces of models that embed in the background.
//
// Vocabulary. An entry is a record, or a file with its chunks, as far as
// filters need it. A reference leads from a document to an entry (and a chunk
// of it). The words of the paths at which a document lies are its extra field:
// they are searched but not embedded, so that a rename costs no embedding. The
// sessions is where sessions stand, in the order of their time, each with its steps
// and lessons: filters choose sessions from it before any step is looked at. The roster
// holds whole what is listed: tasks, blockers and the entries of catalogues. Heads are
// how files begin: the light index of every project.
package indexer

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/index/lexical"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/worker"
)

// Store is what the indexer reads and writes.
type Store interface {
	// Load tells all that is stored and counts it for the store's own use; Read
	// only tells it.
	Load(ctx context.Context, l memory.Loader) (uint64, error)
	Read(ctx context.Context, l memory.Loader) (uint64, error)
	Record(id string) (memory.Record, error)
	// RecordIDs returns the ids that begin with a prefix, in order, at most some.
	RecordIDs(prefix string, most int) ([]string, error)
	Located
	Vectors
}

// Located reads what a chunk's place is made of.
type Located interface {
	File(sandbox, path string) (memory.File, error)
	Sandbox(id string) (memory.Sandbox, error)
	Terms(doc memory.DocID) ([]byte, error)
}

// Vectors are the stored spaces.
type Vectors interface {
	Collections() []string
	// Probes are the vectors by which a space's model is known again.
	Probes(space string) [][]float32
	OpenCollection(ctx context.Context, name string, probes [][]float32) error
	DropCollection(ctx context.Context, name string) error
	PutVectors(ctx context.Context, space string, vectors []memory.DocVector) (int, error)
	CountVectors(space string) (int, error)
}

// Options configure an indexer.
type Options struct {
	// Builtin embeds at ingest; its space is always there. Where another one has
	// embedded before, jobs make up for it. Required.
	Builtin embedder.Embedder
	// ChunkText reads from disk the text of a chunk that is to be embedded, as
	// it was analysed. Required where files are indexed.
	ChunkText func(ctx context.Context, at memory.Location) (string, error)
	// Lexical tunes the ranking by words.
	Lexical lexical.Options
	// NoFileNames leaves out the light index: no file is found by its name and beginning.
	NoFileNames bool
	// EmbedBatch is how many texts are handed to a model at once. Default 64.
	EmbedBatch int
	// Gate lets the built-in model make up for another while nobody asks; nil at any
	// time.
	Gate   *worker.Gate
	Logger *slog.Logger
}

// Indexer holds the indexes. It is safe for concurrent use.
type Indexer struct {
	opts    Options
	store   Store
	lexical *lexical.Index
	attrs   index.Attributes
	numbers index.Numbers

	// mu guards what maps documents to entries, and entries to sessions.
	mu      sync.RWMutex
	docs    index.Table[document]
	recency index.Recency // documents by document.newest
	// several are the documents that have more than one reference, and mixed those
	// whose references differ in what attributes say of them.
	several, mixed *roaring.Bitmap
	owners         owners
	sessions       sessionIndex
	fileNames      fileNames

	// listed locks itself.
	listed recordCache

	// loadMu orders Apply and the end of Load, and guards what follows.
	loadMu  sync.Mutex
	state   State
	pending []memory.Change
	// loaded is closed when the state becomes Ready, for those who must not
	// wait while a change is applied.
	loaded chan struct{}
	// seq is of the last change that is held, for those who must not wait either.
	seq atomic.Uint64

	// attachMu keeps two Attach calls from opening one space twice.
	attachMu    sync.Mutex
	collections collections
}

// State says how far the indexes are.
type State string

// The states.
const (
	Empty   State = "empty"
	Loading State = "loading"
	Ready   State = "ready"
)

// New returns an indexer with empty indexes. Load gives it the store, which in
// turn was given Apply: each needs the other.
func New(opts Options) (*Indexer, error) {
	if opts.Builtin == nil {
		return nil, memory.Invalid("builtin", "", "the indexer needs a built-in model")
	}
	if opts.EmbedBatch == 0 {
		opts.EmbedBatch = 64
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	lex, err := lexical.New(opts.Lexical)
	if err != nil {
		return nil, err
	}
	x := &Indexer{opts: opts, lexical: lex, state: Empty, owners: newOwners(), loaded: make(chan struct{})}
	x.several, x.mixed = roaring.New(), roaring.New()
	x.sessions = newSessionIndex(&x.owners)
	x.fileNames = newFileNames(opts.NoFileNames)
	x.listed = newRecordCache()
	return x, nil
}

// Apply brings the indexes up to date with committed changes. The store calls
// it in commit order, before it acknowledges.
func (x *Indexer) Apply(changes []memory.Change) {
	x.loadMu.Lock()
	defer x.loadMu.Unlock()
	if x.state != Ready {
		x.pending = append(x.pending, changes...)
		return
	}
	for _, c := range changes {
		x.apply(c)
	}
}

// State tells how far the indexes are and the last change they hold.
func (x *Indexer) State() (State, uint64) {
	x.loadMu.Lock()
	defer x.loadMu.Unlock()
	return x.state, x.seq.Load()
}

// Seq returns the number of the last change that is found, 0 while none is.
func (x *Indexer) Seq() uint64 { return x.seq.Load() }

// ready says that Load has ended.
func (x *Indexer) ready() bool {
	select {
	case <-x.loaded:
		return true
	default:
		return false
	}
}

// untilReady waits for the end of Load, or returns ctx's error.
func (x *Indexer) untilReady(ctx context.Context) error {
	select {
	case <-x.loaded:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the indexes: %w", ctx.Err())
	}
}

// Documents is how many distinct texts are indexed.
func (x *Indexer) Documents() int { return x.numbers.Len() }

// apply is called with loadMu held.
func (x *Indexer) apply(c memory.Change) {
	terms := make(map[memory.DocID][]byte, len(c.Docs))
	for _, d := range c.Docs {
		if d.Terms != nil {
			terms[d.ID] = d.Terms
		}
	}
	x.listed.apply(c.Records)
	x.mu.Lock()
	for _, s := range c.Sessions {
		if s.New != nil {
			x.sessions.put(s.New)
		} else if s.Old != nil {
			x.sessions.drop(s.Old.Key())
		}
	}
	touched := map[uint32]memory.DocID{}
	for _, r := range c.Records {
		if r.Old != nil {
			x.dropRecord(r.Old, touched)
		}
		if r.New != nil {
			touched[x.addRecord(r.New)] = r.New.Doc
		}
	}
	for _, f := range c.Files {
		if f.Old != nil {
			x.dropFile(f.Old, touched)
		}
		if f.New != nil {
			for i, num := range x.addFile(f.New) {
				touched[num] = f.New.Chunks[i].Doc
			}
		}
	}
	x.mu.Unlock() // questions need not wait while words and vectors are indexed
	for _, id := range c.Swept {
		if num, ok := x.numbers.Lookup(id); ok {
			x.drop(num)
			delete(touched, num)
		}
	}
	for num := range touched {
		x.collections.retry(num)
	}
	// Vectors of new documents come before their attributes, by which they begin to be
	// searched: they would seem to lack one for a moment.
	x.applyVectors(c.Docs, true)
	for num, id := range touched {
		x.refresh(num, id, terms[id])
	}
	x.applyVectors(c.Docs, false)
	x.seq.Store(c.Seq)
}

// applyVectors takes in the vectors of documents that are new, or that are not.
func (x *Indexer) applyVectors(docs []memory.Doc, fresh bool) {
	for i := range docs {
		d := &docs[i]
		num, ok := x.numbers.Lookup(d.ID)
		if !ok || fresh != (d.Terms != nil) {
			continue
		}
		for space, v := range d.Vectors {
			x.upsertVector(space, num, d.ID, v)
		}
		if fresh {
			x.collections.skipWithoutVector(num, d)
		}
	}
}

// Held says that a document is indexed, with the names that it declares, and thus
// stored. One whose terms are damaged, or that was stored when other names were
// known of it, is not: it is to be analysed again.
func (x *Indexer) Held(doc memory.Document) bool {
	if !x.ready() {
		return false
	}
	num, ok := x.numbers.Lookup(doc.ID)
	if !ok {
		return false
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	d, _ := x.docs.Get(num)
	return d.indexed && d.names == namesOf(lexical.WithNames(nil, doc.Defines))
}
