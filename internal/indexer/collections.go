package indexer

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/index/vector"
	"github.com/recalld/recalld/internal/memory"
)

// collections are the vector collections that are searched.
type collections struct {
	mu sync.RWMutex // guards the fields below
	// models are the expected background models, by name.
	models map[string]embedder.Embedder
	all    []*collection // the built-in one first
	// unused counts the vectors of stored collections without a model in use, as they
	// were when the indexes were loaded.
	unused map[string]int
}

// Expect names a background model that is to be searched with. Load loads its stored
// vectors, so Expect must be called before.
func (x *Indexer) Expect(model string, e embedder.Embedder) {
	x.collections.mu.Lock()
	defer x.collections.mu.Unlock()
	if x.collections.models == nil {
		x.collections.models = map[string]embedder.Embedder{}
	}
	x.collections.models[model] = e
}

// expected returns an expected background model, nil if it is not expected.
func (s *collections) expected(model string) embedder.Embedder {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.models[model]
}

// Attach connects an expected model: it opens the model's collection, new or stored,
// and drops the collections of other weights of the same name. It returns the name of
// the collection, or the error of embedder.Embedder.Model. It waits for the end of
// Load, which opens the stored collections.
//
// The collection of other weights is dropped at once, not after the backfill: no query
// can be embedded with these weights any more, and some of its vectors may be of the
// new weights, embedded before the exchange was noticed.
func (x *Indexer) Attach(ctx context.Context, model string) (string, error) {
	x.attachMu.Lock()
	defer x.attachMu.Unlock()
	if err := x.untilReady(ctx); err != nil {
		return "", err
	}
	e := x.collections.expected(model)
	if e == nil {
		return "", memory.Errorf(memory.CodeNotFound, "model %s is not expected", model)
	}
	m, err := e.Model(ctx)
	if err != nil {
		x.Missed(model, err)
		return "", err
	}
	name := x.collectionOf(m)
	if err := x.store.OpenCollection(ctx, name, m.Probes); err != nil {
		return "", err
	}
	if s := x.collections.find(name); s != nil {
		s.noteOutcome(nil)
	} else if err := x.open(ctx, name, e, true); err != nil {
		return "", err
	}
	for _, old := range x.store.Collections() {
		if old != name && strings.HasPrefix(old, model+"@") {
			x.collections.remove(old)
			if err := x.store.DropCollection(ctx, old); err != nil {
				return "", err
			}
		}
	}
	return name, nil
}

// collectionOf returns the name of a model's collection. If a stored collection has the
// same weights, it returns its name, which may have another fingerprint.
func (x *Indexer) collectionOf(m embedder.Model) string {
	for _, stored := range x.store.Collections() {
		if strings.HasPrefix(stored, m.Name+"@") && embedder.SameModel(x.store.Probes(stored), m.Probes) {
			return stored
		}
	}
	return m.Collection()
}

// openCollections opens the built-in collection and the stored ones of expected
// models.
func (x *Indexer) openCollections(ctx context.Context) error {
	m, err := x.opts.Builtin.Model(ctx)
	if err != nil {
		return fmt.Errorf("open built-in model: %w", err)
	}
	if err := x.open(ctx, m.Collection(), x.opts.Builtin, false); err != nil {
		return err
	}
	for _, name := range x.store.Collections() {
		model, _, _ := strings.Cut(name, "@")
		if e := x.collections.expected(model); e != nil {
			if err := x.open(ctx, name, e, true); err != nil {
				return err
			}
		}
	}
	return nil
}

func (x *Indexer) open(ctx context.Context, name string, e embedder.Embedder, background bool) error {
	model, dim, err := parseCollection(name)
	if err != nil {
		return err
	}
	vectors, err := vector.NewCollection(vector.Options{Name: model, Dim: dim})
	if err != nil {
		return fmt.Errorf("open collection %s: %w", name, err)
	}
	if err := x.store.OpenCollection(ctx, name, nil); err != nil {
		return err
	}
	s := &collection{name: name, vectors: vectors, embed: e, background: background, skipped: roaring.New()}
	over := func(vectors *vector.Collection) index.Retriever {
		if weigher, ok := e.(embedder.Weigher); ok && !background {
			return vectors.Direct(func(ctx context.Context, q index.Query) ([]float32, error) {
				weights, err := x.lexical.Weights(ctx, q.Text, q.Universe)
				if err != nil {
					return nil, err
				}
				return weigher.EmbedWeighted(ctx, q.Text, weights.Of)
			})
		}
		return vectors.Retriever(func(ctx context.Context, text string) ([]float32, error) {
			vs, err := x.embedAs(ctx, s, embedder.Query, []string{text})
			if err != nil {
				return nil, err
			}
			s.noteOutcome(nil) // the model is back, also if the last job failed
			return vs[0], nil
		})
	}
	s.retriever = over(vectors)
	if !background {
		if x.parts.vectors, err = vector.NewCollection(vector.Options{Name: model, Dim: dim}); err != nil {
			return fmt.Errorf("open collection of parts: %w", err)
		}
		s.retriever = partRetriever{Retriever: s.retriever, found: over(x.parts.vectors), parts: &x.parts}
	}
	x.collections.mu.Lock()
	defer x.collections.mu.Unlock()
	x.collections.all = append(x.collections.all, s)
	return nil
}

// errOtherModel is returned for a model whose weights have changed, until Attach
// opens the collection of the new ones.
var errOtherModel = fmt.Errorf("%w: the model has changed", embedder.ErrUnavailable)

// embedAs embeds with the model of a collection. A server may have other weights under
// the name by now. The vectors of both must not be mixed, so the model is checked before
// and after.
func (x *Indexer) embedAs(ctx context.Context, s *collection, purpose embedder.Purpose, texts []string) ([][]float32, error) {
	if !s.background {
		return s.embed.Embed(ctx, purpose, texts)
	}
	if err := x.checkModel(ctx, s); err != nil {
		return nil, err
	}
	vectors, err := s.embed.Embed(ctx, purpose, texts)
	if vectors == nil {
		return nil, err
	}
	if other := x.checkModel(ctx, s); other != nil {
		return nil, other
	}
	return vectors, err
}

func (x *Indexer) checkModel(ctx context.Context, s *collection) error {
	m, err := s.embed.Model(ctx)
	if err != nil {
		return err
	}
	if m.Collection() != s.name && x.collectionOf(m) != s.name {
		return errOtherModel
	}
	return nil
}

// Missed notes that a model cannot be reached. Its collection, which may have stored
// vectors, is reported as unavailable until Attach succeeds.
func (x *Indexer) Missed(model string, err error) {
	for _, s := range x.collections.list() {
		if s.vectors.Name() == model {
			s.noteOutcome(err)
		}
	}
}

// parseCollection splits a collection's name, see embedder.Model.Collection.
func parseCollection(name string) (model string, dim int, err error) {
	model, rest, _ := strings.Cut(name, "@")
	width, _, _ := strings.Cut(rest, "-")
	if dim, err = strconv.Atoi(width); err != nil || model == "" {
		return "", 0, memory.Errorf(memory.CodeCorrupt, "collection %q has no width in its name", name)
	}
	return model, dim, nil
}

func (s *collections) find(name string) *collection {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, c := range s.all {
		if c.name == name {
			return c
		}
	}
	return nil
}

func (s *collections) wanted(name string) bool { return s.find(name) != nil }

// remove removes a collection and ends the embeddings that it waits for.
func (s *collections) remove(name string) {
	gone := s.find(name)
	if gone == nil {
		return
	}
	s.mu.Lock()
	s.all = slices.DeleteFunc(s.all, func(x *collection) bool { return x == gone })
	s.mu.Unlock()
	gone.vectors.Close()
}

// Close cancels the embeddings of queries and waits for them. It must be called after
// the last query.
func (x *Indexer) Close() {
	for _, s := range x.collections.list() {
		s.vectors.Close()
	}
	if x.parts.vectors != nil {
		x.parts.vectors.Close()
	}
}

func (s *collections) list() []*collection {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clone(s.all)
}

func (s *collections) drop(num uint32) {
	for _, c := range s.list() {
		c.vectors.Delete(num)
	}
	s.retry(num)
}

// retry ends the skipping of a document in all collections.
func (s *collections) retry(num uint32) {
	for _, c := range s.list() {
		c.retry(num)
	}
}

// skipWithoutVector skips a new document that came without a vector, in the collections
// that are filled at ingest.
func (s *collections) skipWithoutVector(num uint32, doc *memory.Doc) {
	for _, c := range s.list() {
		if !c.background && doc.Vectors[c.name] == nil {
			c.skip(nil, num)
		}
	}
}

func (x *Indexer) upsertVector(name string, num uint32, doc memory.DocID, v []float32) {
	s := x.collections.find(name)
	if s == nil {
		return
	}
	if err := s.vectors.Upsert(num, v); err != nil {
		x.opts.Logger.Error("stored vector is unusable", "part", "indexer", "document", doc, "collection", name, "error", err)
	}
}

// Sources returns the retrievers, the lexical one first, with the documents that each
// lacks.
func (x *Indexer) Sources() []index.Source {
	var sources []index.Source
	for _, w := range x.words {
		sources = append(sources, index.Source{Name: w.Name(), Retriever: partRetriever{w.wordIndex, w.wordIndex, &x.parts, true}, Weight: w.weight})
	}
	for _, s := range x.collections.list() {
		src := index.Source{Name: s.retriever.Name(), Retriever: s.retriever, Collection: s.name}
		_, waiting, err := s.progress(x.attrs.Len())
		if err != nil { // its model could not be reached
			src.Degraded = embedder.Reason(err)
		}
		if waiting > 0 {
			src.Missing = roaring.AndNot(x.attrs.Match(), s.embeddedOrSkipped())
		}
		sources = append(sources, src)
	}
	if !x.Loaded() {
		for i := range sources {
			sources[i].Retriever, sources[i].Degraded = nil, string(Loading)
		}
	}
	return sources
}
