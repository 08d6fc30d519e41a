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

// space is the vectors of one model and, once attached, the model.
type space struct {
	name      string // of the space
	vectors   *vector.Space
	retriever index.Retriever
	embed     embedder.Embedder
	// background says that documents are embedded by jobs, not at ingest.
	background bool

	mu     sync.Mutex      // guards what follows
	failed *roaring.Bitmap // documents that the model could not embed
	err    error           // of the last attempt to reach the model
}

// spaces are the spaces that take part in answers.
type spaces struct {
	mu sync.RWMutex // guards what follows
	// models are the background models asked for, by their name.
	models map[string]embedder.Embedder
	// seen are those of them that were reached, or have vectors from before.
	seen map[string]error
	all  []*space // the built-in one first
}

// Expect names a background model that should take part in answers. Vectors
// that it made before are loaded, so Expect comes before Load.
func (x *Indexer) Expect(model string, e embedder.Embedder) {
	x.spaces.mu.Lock()
	defer x.spaces.mu.Unlock()
	if x.spaces.models == nil {
		x.spaces.models, x.spaces.seen = map[string]embedder.Embedder{}, map[string]error{}
	}
	x.spaces.models[model] = e
}

// Attach reaches for an expected model: it opens the model's space and drops
// the space that other weights of the same name left behind. It returns the
// name of the space, or the error of embedder.Embedder.Model.
func (x *Indexer) Attach(ctx context.Context, model string) (string, error) {
	x.spaces.mu.RLock()
	e := x.spaces.models[model]
	x.spaces.mu.RUnlock()
	if e == nil {
		return "", memory.Errorf(memory.CodeNotFound, "model %s is not expected", model)
	}
	m, err := e.Model(ctx)
	if err != nil {
		x.spaces.mu.Lock()
		if _, seen := x.spaces.seen[model]; seen {
			x.spaces.seen[model] = err
		}
		x.spaces.mu.Unlock()
		return "", err
	}
	name := m.Space()
	if s := x.spaces.find(name); s == nil {
		if err := x.open(ctx, name, e, true); err != nil {
			return "", err
		}
	}
	for _, old := range x.store.Spaces() {
		if old != name && strings.HasPrefix(old, model+"@") {
			x.spaces.remove(old)
			if err := x.store.DropSpace(ctx, old); err != nil {
				return "", err
			}
		}
	}
	x.spaces.mu.Lock()
	defer x.spaces.mu.Unlock()
	x.spaces.seen[model] = nil
	return name, nil
}

// openSpaces opens the built-in space and those that expected models filled
// before.
func (x *Indexer) openSpaces(ctx context.Context) error {
	m, err := x.opts.Builtin.Model(ctx)
	if err != nil {
		return fmt.Errorf("open built-in model: %w", err)
	}
	if err := x.open(ctx, m.Space(), x.opts.Builtin, false); err != nil {
		return err
	}
	for _, name := range x.store.Spaces() {
		model, _, _ := strings.Cut(name, "@")
		x.spaces.mu.Lock()
		e, expected := x.spaces.models[model]
		if expected {
			x.spaces.seen[model] = embedder.ErrUnavailable // until Attach
		}
		x.spaces.mu.Unlock()
		if expected {
			if err := x.open(ctx, name, e, true); err != nil {
				return err
			}
		}
	}
	return nil
}

func (x *Indexer) open(ctx context.Context, name string, e embedder.Embedder, background bool) error {
	model, dim, err := parseSpace(name)
	if err != nil {
		return err
	}
	vectors, err := vector.NewSpace(vector.Options{Name: model, Dim: dim})
	if err != nil {
		return fmt.Errorf("open space %s: %w", name, err)
	}
	if err := x.store.OpenSpace(ctx, name); err != nil {
		return err
	}
	s := &space{name: name, vectors: vectors, embed: e, background: background, failed: roaring.New()}
	s.retriever = vectors.Retriever(func(ctx context.Context, text string) ([]float32, error) {
		vs, err := e.Embed(ctx, embedder.Query, []string{text})
		if err != nil {
			return nil, err
		}
		return vs[0], nil
	})
	x.spaces.mu.Lock()
	defer x.spaces.mu.Unlock()
	x.spaces.all = append(x.spaces.all, s)
	return nil
}

// parseSpace takes a space's name apart, see embedder.Model.Space.
func parseSpace(name string) (model string, dim int, err error) {
	model, rest, _ := strings.Cut(name, "@")
	width, _, _ := strings.Cut(rest, "-")
	if dim, err = strconv.Atoi(width); err != nil || model == "" {
		return "", 0, memory.Errorf(memory.CodeCorrupt, "space %q has no width in its name", name)
	}
	return model, dim, nil
}

func (s *spaces) find(name string) *space {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, x := range s.all {
		if x.name == name {
			return x
		}
	}
	return nil
}

func (s *spaces) wanted(name string) bool { return s.find(name) != nil }

func (s *spaces) remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = slices.DeleteFunc(s.all, func(x *space) bool { return x.name == name })
}

func (s *spaces) list() []*space {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clone(s.all)
}

func (s *spaces) drop(num uint32) {
	for _, x := range s.list() {
		x.vectors.Delete(num)
		x.mu.Lock()
		x.failed.Remove(num)
		x.mu.Unlock()
	}
}

func (x *Indexer) upsertVector(name string, num uint32, doc memory.DocID, v []float32) {
	s := x.spaces.find(name)
	if s == nil {
		return
	}
	if err := s.vectors.Upsert(num, v); err != nil {
		x.opts.Logger.Error("stored vector is unusable", "part", "indexer", "document", doc, "space", name, "error", err)
	}
}

// Sources returns the retrievers, the lexical one first, with what each lacks.
func (x *Indexer) Sources() []index.Source {
	state, _ := x.State()
	parts := []index.Source{{Name: x.lexical.Name(), Retriever: x.lexical}}
	for _, s := range x.spaces.list() {
		p := index.Source{Name: s.retriever.Name(), Retriever: s.retriever, Space: s.name}
		if s.background {
			p.Degraded = x.lacking(s)
		}
		parts = append(parts, p)
	}
	for model, err := range x.spaces.lost() {
		parts = append(parts, index.Source{Name: "vector/" + model, Degraded: reasonOf(err)})
	}
	if state != Ready {
		for i := range parts {
			parts[i].Retriever, parts[i].Degraded = nil, string(Loading)
		}
	}
	return parts
}

// lost are the models that were there before and have no space now.
func (s *spaces) lost() map[string]error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	lost := map[string]error{}
	for model, err := range s.seen {
		if err != nil && !slices.ContainsFunc(s.all, func(x *space) bool { return x.vectors.Name() == model }) {
			lost[model] = err
		}
	}
	return lost
}

// lacking says what keeps a background space from taking full part.
func (x *Indexer) lacking(s *space) string {
	s.mu.Lock()
	err := s.err
	s.mu.Unlock()
	if err != nil {
		return reasonOf(err)
	}
	if total, held := x.numbers.Len(), s.vectors.Len(); held < total {
		return fmt.Sprintf("partial: %d of %d documents embedded", held, total)
	}
	return ""
}

func reasonOf(err error) string {
	if memory.CodeOf(err) == memory.CodeInternal {
		return "unavailable: " + err.Error()
	}
	return err.Error()
}

// Spaces tells how far every space is.
func (x *Indexer) Spaces() []memory.SpaceState {
	state, _ := x.State()
	total := x.numbers.Len()
	var out []memory.SpaceState
	for _, s := range x.spaces.list() {
		st := memory.SpaceState{
			Name: s.name, Model: s.vectors.Name(), Dim: s.vectors.Dim(),
			Documents: total, Embedded: s.vectors.Len(), State: "ready",
		}
		s.mu.Lock()
		err := s.err
		s.mu.Unlock()
		switch {
		case state != Ready:
			st.State = string(Loading)
		case err != nil:
			st.State, st.Error = "unavailable", err.Error()
		case st.Embedded < total:
			st.State = "filling"
		}
		out = append(out, st)
	}
	for model, err := range x.spaces.lost() {
		out = append(out, memory.SpaceState{Model: model, Documents: total, State: "unavailable", Error: err.Error()})
	}
	return out
}
