package indexer

import (
	"context"
	"fmt"
	"iter"
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

// collection is the vectors of one model and, once attached, the model.
type collection struct {
	name      string // of the space
	vectors   *vector.Collection
	retriever index.Retriever
	embed     embedder.Embedder
	// background says that new documents are embedded by jobs, not at ingest.
	background bool

	mu       sync.Mutex      // guards what follows
	skipped  *roaring.Bitmap // documents that are passed over, none of them held
	attempts []*attempt      // under way
	err      error           // of the last attempt to reach the model
}

// attempt is one at embedding some documents. What was written of a document since it
// began may be what it lacked.
type attempt struct{ written *roaring.Bitmap } // guarded by the space's mu

func (s *collection) begin() *attempt {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := &attempt{roaring.New()}
	s.attempts = append(s.attempts, a)
	return a
}

func (s *collection) end(a *attempt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attempts = slices.DeleteFunc(s.attempts, func(other *attempt) bool { return other == a })
}

// noteOutcome notes the outcome of an attempt to reach the model.
func (s *collection) noteOutcome(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

// progress returns how many documents are embedded, how many of all still wait for
// it, and the error of the last attempt. What is passed over waits no more.
func (s *collection) progress(all int) (embedded, waiting int, err error) {
	embedded = s.vectors.Len()
	s.mu.Lock()
	defer s.mu.Unlock()
	return embedded, max(all-embedded-int(s.skipped.GetCardinality()), 0), s.err
}

// skip passes a document over that an attempt failed with, until a record or file that
// holds it is written again; a nil attempt is the writing itself.
func (s *collection) skip(a *attempt, num uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a == nil || !a.written.Contains(num) {
		s.skipped.Add(num)
	}
}

// anySkipped says whether any of some documents was passed over.
func (s *collection) anySkipped(docs iter.Seq[uint32]) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.skipped.IsEmpty() {
		return false
	}
	for num := range docs {
		if s.skipped.Contains(num) {
			return true
		}
	}
	return false
}

// embeddedOrSkipped returns the documents that have a vector or are passed over.
func (s *collection) embeddedOrSkipped() *roaring.Bitmap {
	done := s.vectors.Held()
	s.mu.Lock()
	defer s.mu.Unlock()
	done.Or(s.skipped)
	return done
}

// collections are the spaces that take part in answers.
type collections struct {
	mu sync.RWMutex // guards what follows
	// models are the background models asked for, by their name.
	models map[string]embedder.Embedder
	all    []*collection // the built-in one first
	// unused are how many vectors the spaces had that no model in use fills, when the
	// indexes were loaded.
	unused map[string]int
}

// Expect names a background model that should take part in answers. Vectors
// that it made before are loaded, so Expect comes before Load.
func (x *Indexer) Expect(model string, e embedder.Embedder) {
	x.collections.mu.Lock()
	defer x.collections.mu.Unlock()
	if x.collections.models == nil {
		x.collections.models = map[string]embedder.Embedder{}
	}
	x.collections.models[model] = e
}

// Attach reaches for an expected model: it opens the model's space, or the one
// that it filled before, and drops those that other weights of the same name left
// behind. It returns the name of the space, or the error of embedder.Embedder.Model. It
// waits for the end of Load, which opens the spaces that have vectors from before.
//
// The space of other weights goes at once, not when the new one is filled: nobody can
// ask with them any more, and what was embedded between their exchange and its being
// noticed is in their space and of the new ones.
func (x *Indexer) Attach(ctx context.Context, model string) (string, error) {
	x.attachMu.Lock()
	defer x.attachMu.Unlock()
	if err := x.untilReady(ctx); err != nil {
		return "", err
	}
	x.collections.mu.RLock()
	e := x.collections.models[model]
	x.collections.mu.RUnlock()
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

// collectionOf returns the name of a model's space: of the one that the same weights
// filled before, though the name that they would give it now may differ.
func (x *Indexer) collectionOf(m embedder.Model) string {
	for _, stored := range x.store.Collections() {
		if strings.HasPrefix(stored, m.Name+"@") && embedder.SameModel(x.store.Probes(stored), m.Probes) {
			return stored
		}
	}
	return m.Space()
}

// openCollections opens the built-in space and those that expected models filled
// before.
func (x *Indexer) openCollections(ctx context.Context) error {
	m, err := x.opts.Builtin.Model(ctx)
	if err != nil {
		return fmt.Errorf("open built-in model: %w", err)
	}
	if err := x.open(ctx, m.Space(), x.opts.Builtin, false); err != nil {
		return err
	}
	for _, name := range x.store.Collections() {
		model, _, _ := strings.Cut(name, "@")
		x.collections.mu.RLock()
		e, expected := x.collections.models[model]
		x.collections.mu.RUnlock()
		if expected {
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
		return fmt.Errorf("open space %s: %w", name, err)
	}
	if err := x.store.OpenCollection(ctx, name, nil); err != nil {
		return err
	}
	s := &collection{name: name, vectors: vectors, embed: e, background: background, skipped: roaring.New()}
	if weigher, ok := e.(embedder.Weigher); ok && !background {
		s.retriever = vectors.Direct(func(ctx context.Context, q index.Query) ([]float32, error) {
			weights, err := x.lexical.Weights(ctx, q.Text, q.Universe)
			if err != nil {
				return nil, err
			}
			return weigher.EmbedWeighted(ctx, q.Text, weights.Of)
		})
	} else {
		s.retriever = vectors.Retriever(func(ctx context.Context, text string) ([]float32, error) {
			vs, err := x.embedAs(ctx, s, embedder.Query, []string{text})
			if err != nil {
				return nil, err
			}
			s.noteOutcome(nil) // it is back, whatever a job met last
			return vs[0], nil
		})
	}
	x.collections.mu.Lock()
	defer x.collections.mu.Unlock()
	x.collections.all = append(x.collections.all, s)
	return nil
}

// errOtherModel is returned for a model that has come to have other weights, as long
// as the space that takes the place of the present one was not opened by Attach.
var errOtherModel = fmt.Errorf("%w: the model has changed", embedder.ErrUnavailable)

// embedAs embeds with the model of a space. A server may have other weights under the
// name by now, whose vectors must not meet those of the space: who embeds is asked
// before and after.
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
	if m.Space() != s.name && x.collectionOf(m) != s.name {
		return errOtherModel
	}
	return nil
}

// Missed notes that a model is out of reach, so that its space, which may have
// vectors from before, is said to be unavailable until Attach succeeds.
func (x *Indexer) Missed(model string, err error) {
	for _, s := range x.collections.list() {
		if s.vectors.Name() == model {
			s.noteOutcome(err)
		}
	}
}

// parseCollection takes a space's name apart, see embedder.Model.Collection.
func parseCollection(name string) (model string, dim int, err error) {
	model, rest, _ := strings.Cut(name, "@")
	width, _, _ := strings.Cut(rest, "-")
	if dim, err = strconv.Atoi(width); err != nil || model == "" {
		return "", 0, memory.Errorf(memory.CodeCorrupt, "space %q has no width in its name", name)
	}
	return model, dim, nil
}

func (s *collections) find(name string) *collection {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, x := range s.all {
		if x.name == name {
			return x
		}
	}
	return nil
}

func (s *collections) wanted(name string) bool { return s.find(name) != nil }

// remove takes a space out and ends what it still asks of its model.
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

// Close ends the embeddings of queries that are under way and waits for them. It
// comes after the last question.
func (x *Indexer) Close() {
	for _, s := range x.collections.list() {
		s.vectors.Close()
	}
}

func (s *collections) list() []*collection {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clone(s.all)
}

func (s *collections) drop(num uint32) {
	for _, x := range s.list() {
		x.vectors.Delete(num)
	}
	s.retry(num)
}

// retry lets a document that was passed over be tried again, and one that is being
// noteOutcome. It comes after what was written of it can be found.
func (s *collections) retry(num uint32) {
	for _, x := range s.list() {
		x.mu.Lock()
		x.skipped.Remove(num)
		for _, a := range x.attempts {
			a.written.Add(num)
		}
		x.mu.Unlock()
	}
}

// skipWithoutVector passes over, in the spaces that are filled at ingest, a document that came
// from there without a vector.
func (s *collections) skipWithoutVector(num uint32, doc *memory.Doc) {
	for _, x := range s.list() {
		if !x.background && doc.Vectors[x.name] == nil {
			x.skip(nil, num)
		}
	}
}

func (x *Indexer) upsertVector(name string, num uint32, doc memory.DocID, v []float32) {
	s := x.collections.find(name)
	if s == nil {
		return
	}
	if err := s.vectors.Upsert(num, v); err != nil {
		x.opts.Logger.Error("stored vector is unusable", "part", "indexer", "document", doc, "space", name, "error", err)
	}
}

// Sources returns the retrievers, the lexical one first, with what each lacks.
func (x *Indexer) Sources() []index.Source {
	parts := []index.Source{{Name: x.lexical.Name(), Retriever: x.lexical}}
	for _, s := range x.collections.list() {
		p := index.Source{Name: s.retriever.Name(), Retriever: s.retriever, Space: s.name}
		p.Missing, p.Degraded = x.missingFrom(s)
		parts = append(parts, p)
	}
	if !x.ready() {
		for i := range parts {
			parts[i].Retriever, parts[i].Degraded = nil, string(Loading)
		}
	}
	return parts
}

// missingFrom returns the documents that wait for a space, nil for none, and what was
// the matter when its model was last tried.
func (x *Indexer) missingFrom(s *collection) (missing *roaring.Bitmap, degraded string) {
	_, waiting, err := s.progress(x.attrs.Len())
	if err != nil {
		degraded = embedder.Reason(err)
	}
	if waiting > 0 {
		missing = roaring.AndNot(x.attrs.Match(), s.embeddedOrSkipped())
	}
	return missing, degraded
}
