// Package indexer is the sole writer of the indexes. It maps records and files
// to documents, applies committed changes in their order, fills the indexes at
// start, saves most of them for the next start, and backfills the vector
// collections of models.
//
// Vocabulary. A document is one distinct text. An owner is a record, or a file with its
// chunks: what has documents. A reference leads from a document to an owner, and to a
// chunk of it. The words of the paths of a document's files are its extra field: they are
// searched but not embedded, so that a rename costs no embedding. The session index has
// the sessions in the order of their time, each with its steps and lessons: filters choose
// sessions before any step is looked at. The record cache holds the records that are
// listed: tasks, blockers and the entries of catalogues. The file-name index of a project
// finds files by path and preview, which is the beginning of the file.
package indexer

import (
	"cmp"
	"context"
	"fmt"
	"io"
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
	// Load reads everything that is stored and counts it for the store's own use; Read
	// only reads it.
	Load(ctx context.Context, l memory.Loader) (uint64, error)
	Read(ctx context.Context, l memory.Loader) (uint64, error)
	Record(id string) (memory.Record, error)
	// RecordIDs returns the ids that begin with a prefix, sorted, at most `most`.
	RecordIDs(prefix string, most int) ([]string, error)
	Saved
	Located
	Vectors
}

// Saved are indexes that are saved beside the store, for the next start.
type Saved interface {
	// SavedIndexes opens them, nil if there are none.
	SavedIndexes() (*memory.SavedIndexes, error)
	HasSavedIndexes() bool
	DropSavedIndexes() error
	// SaveIndexes replaces them by the parts that write begins and writes, which must have
	// everything that was committed before. It opens them, or returns nil.
	SaveIndexes(ctx context.Context, write func(begin func() io.Writer) error) (*memory.SavedIndexes, error)
}

// Located reads what the location of a chunk is made of.
type Located interface {
	File(sandbox, path string) (memory.File, error)
	Sandbox(id string) (memory.Sandbox, error)
	Terms(doc memory.DocID) ([]byte, error)
}

// Vectors are the stored vector collections.
type Vectors interface {
	Collections() []string
	// Probes are the vectors that identify a collection's model.
	Probes(collection string) [][]float32
	OpenCollection(ctx context.Context, name string, probes [][]float32) error
	DropCollection(ctx context.Context, name string) error
	PutVectors(ctx context.Context, collection string, vectors []memory.DocVector) (int, error)
	CountVectors(collection string) (int, error)
}

// Options configure an indexer.
type Options struct {
	// Builtin embeds at ingest; its collection always exists. Documents that another
	// model has embedded before are backfilled. Required.
	Builtin embedder.Embedder
	// ChunkText reads the text of a chunk from disk, as it was analysed. Required
	// where files are indexed.
	ChunkText func(ctx context.Context, at memory.Location) (string, error)
	// Lexical configures the lexical ranking.
	Lexical lexical.Options
	// NoFileNames leaves out the file-name index.
	NoFileNames bool
	// EmbedBatch is how many texts a model gets at once. Default 64.
	EmbedBatch int
	// Version is that of the program. What another version saved is not used.
	Version string
	// SaveFrom is from how many documents on the indexes are saved. Default 5,000.
	SaveFrom int
	// Gate delays backfills of the built-in model during requests; nil never does.
	Gate   *worker.Gate
	Logger *slog.Logger
}

// Indexer holds the indexes. It is safe for concurrent use.
type Indexer struct {
	opts    Options
	store   Store
	lexical *lexical.Index
	words   []weightedIndex // lexical and further retrievers over words
	attrs   index.Attributes
	numbers index.Numbers
	parts   parts
	// selections are the results of Select, until attributes change.
	selections selections

	// mu guards the fields below, up to called. Every field is an index over the
	// owners: a change of an owner updates all of them before mu is released.
	mu      sync.RWMutex
	docs    index.Table[document]
	recency index.Recency // documents by document.newest
	// several are the documents with more than one reference; mixed are the ones among
	// them whose references differ in their attributes.
	several, mixed *roaring.Bitmap
	owners         owners
	sessions       sessionIndex
	fileNames      fileNames
	called         called

	// listed has a lock of its own.
	listed recordCache

	// loadMu orders Apply and the end of Load, and guards the fields below.
	loadMu  sync.Mutex
	state   State
	pending []memory.Change
	// loaded is closed when the state becomes Ready. Readers of it need not wait for
	// loadMu while a change is applied.
	loaded chan struct{}
	// seq is the number of the last applied change, readable without loadMu.
	seq atomic.Uint64

	// saving keeps two Save calls apart.
	saving sync.Mutex
	// unsaved is how many documents have changed since the indexes were saved.
	unsaved atomic.Int64

	// attachMu keeps two Attach calls from opening one collection twice.
	attachMu    sync.Mutex
	collections collections
}

// State is how complete the indexes are.
type State string

// The states.
const (
	Empty   State = "empty"
	Loading State = "loading"
	Ready   State = "ready"
)

// New returns an indexer with empty indexes. The store needs Apply when it is opened,
// and Load needs the store.
func New(opts Options) (*Indexer, error) {
	if opts.Builtin == nil {
		return nil, memory.Invalid("builtin", "", "the indexer needs a built-in model")
	}
	opts.EmbedBatch = cmp.Or(opts.EmbedBatch, 64)
	opts.SaveFrom = cmp.Or(opts.SaveFrom, saveFrom)
	opts.Logger = cmp.Or(opts.Logger, slog.New(slog.DiscardHandler))
	lex, err := lexical.New(opts.Lexical)
	if err != nil {
		return nil, err
	}
	x := &Indexer{opts: opts, lexical: lex, words: wordIndexes(lex), state: Empty, owners: newOwners(), loaded: make(chan struct{})}
	x.parts, x.called = newParts(), newCalled()
	x.several, x.mixed = roaring.New(), roaring.New()
	x.sessions = newSessionIndex(&x.owners)
	x.fileNames = newFileNames(opts.NoFileNames)
	x.listed = newRecordCache()
	return x, nil
}

// Apply brings the indexes up to date with committed changes. The store calls
// it in commit order, before it acknowledges them.
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

// Seq returns the number of the last applied change, 0 before Load has ended.
func (x *Indexer) Seq() uint64 { return x.seq.Load() }

// Loaded reports whether Load has ended: then everything committed is found.
func (x *Indexer) Loaded() bool {
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

// Documents returns the number of distinct texts indexed.
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
	var long []parting
	for _, r := range c.Records {
		if r.Old != nil {
			x.dropRecord(r.Old, touched)
		}
		if r.New != nil {
			num := x.addRecord(r.New)
			touched[num] = r.New.Doc
			if parted(r.New) {
				long = append(long, parting{num, r.New.Text})
			}
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
	x.mu.Unlock() // queries run while words and vectors are indexed
	for _, id := range c.Swept {
		if num, ok := x.numbers.Lookup(id); ok {
			x.drop(num)
			delete(touched, num)
		}
	}
	for num := range touched {
		x.collections.retry(num)
		x.dropStaleParts(num)
	}
	for _, p := range long {
		x.addParts(context.Background(), p) // a commit is not interrupted
	}
	// Vectors of new documents come before their attributes, by which they are found:
	// otherwise the documents would seem to lack vectors for a moment.
	x.applyVectors(c.Docs, true)
	for num, id := range touched {
		x.refresh(num, id, terms[id])
	}
	x.applyVectors(c.Docs, false)
	x.unsaved.Add(int64(len(touched) + len(c.Swept) + len(c.Docs)))
	x.seq.Store(c.Seq)
}

// applyVectors indexes the vectors of new documents, or of documents already indexed.
func (x *Indexer) applyVectors(docs []memory.Doc, fresh bool) {
	for i := range docs {
		d := &docs[i]
		num, ok := x.numbers.Lookup(d.ID)
		if !ok || fresh != (d.Terms != nil) {
			continue
		}
		for collection, v := range d.Vectors {
			x.upsertVector(collection, num, d.ID, v)
		}
		if fresh {
			x.collections.skipWithoutVector(num, d)
		}
	}
}

// Held reports whether a document is indexed with the names that it declares, and thus
// stored. It is false, and the document must be analysed again, if its terms are damaged
// or if it was stored with other names.
func (x *Indexer) Held(doc memory.Document) bool {
	if !x.Loaded() {
		return false
	}
	num, ok := x.numbers.Lookup(doc.ID)
	if !ok {
		return false
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	d, _ := x.docs.Get(num)
	return d.indexed && d.names == namesOf(lexical.WithNames(nil, marked(doc)))
}
