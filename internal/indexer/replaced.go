package indexer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// A model takes the place of another of its provider, which is what stands before the
// slash of its name: "builtin", "ollama". The replaced space is kept, searched by
// nobody, until the one in its place holds all that can be embedded, so that whoever
// goes back to the former model before has its vectors. The space of a provider that
// is not used at all is kept as it is.

func provider(model string) string {
	name, _, _ := strings.Cut(model, "/")
	return name
}

// unusedCollections are the stored spaces that no model in use fills.
func (x *Indexer) unusedCollections() []string {
	return slices.DeleteFunc(x.store.Collections(), x.collections.wanted)
}

// replaced are the spaces whose place a space has taken. Those of other weights of an
// expected model are none: Attach drops them.
func (x *Indexer) replaced(s *collection) []string {
	return slices.DeleteFunc(x.unusedCollections(), func(name string) bool {
		model, _, _ := strings.Cut(name, "@")
		return provider(model) != provider(s.vectors.Name()) || x.collections.expects(model)
	})
}

// dropReplaced drops the spaces whose place a space has taken, which holds all that
// can be embedded.
func (x *Indexer) dropReplaced(ctx context.Context, s *collection) error {
	for _, name := range x.replaced(s) {
		if err := x.store.DropCollection(ctx, name); err != nil {
			return fmt.Errorf("drop replaced space: %w", err)
		}
		x.opts.Logger.Info("replaced space dropped", "part", "indexer", "space", name, "by", s.name)
	}
	return nil
}

// countUnused counts the vectors of the spaces that no model in use fills.
func (x *Indexer) countUnused() error {
	left := map[string]int{}
	for _, name := range x.unusedCollections() {
		n, err := x.store.CountVectors(name)
		if err != nil {
			return err
		}
		left[name] = n
	}
	x.collections.mu.Lock()
	defer x.collections.mu.Unlock()
	x.collections.unused = left
	return nil
}

// Collections tells how far every space is, those in use first.
func (x *Indexer) Collections() []memory.CollectionState {
	documents, waitable := x.numbers.Len(), x.attrs.Len()
	var out []memory.CollectionState
	for _, s := range x.collections.list() {
		embedded, waiting, err := s.progress(waitable)
		st := memory.CollectionState{
			Name: s.name, Model: s.vectors.Name(), Dim: s.vectors.Dim(),
			Documents: documents, Embedded: embedded, State: memory.CollectionReady,
		}
		switch {
		case !x.ready():
			st.State = memory.CollectionLoading
		case err != nil:
			st.State, st.Error = memory.CollectionUnavailable, err.Error()
		case waiting > 0:
			st.State = memory.CollectionBackfilling
		}
		out = append(out, st)
	}
	if !x.ready() {
		return out // which are left over is not known yet
	}
	for _, name := range x.unusedCollections() {
		model, dim, err := parseCollection(name)
		if err != nil {
			continue // nobody ever used it
		}
		st := memory.CollectionState{Name: name, Model: model, Dim: dim, Embedded: x.collections.unusedVectors(name), State: memory.CollectionUnused}
		st.Documents = st.Embedded // it is to hold no more
		if st.ReplacedBy = x.successor(model); st.ReplacedBy != "" {
			st.State = memory.CollectionReplaced
		}
		out = append(out, st)
	}
	return out
}

// successor is the model in use that has taken the place of another; empty for none.
func (x *Indexer) successor(model string) string {
	for _, s := range x.collections.list() {
		if provider(s.vectors.Name()) == provider(model) {
			return s.vectors.Name()
		}
	}
	x.collections.mu.RLock()
	defer x.collections.mu.RUnlock()
	for expected := range x.collections.models {
		if provider(expected) == provider(model) {
			return expected // its server was not reached yet
		}
	}
	return ""
}

func (s *collections) unusedVectors(name string) int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.unused[name]
}

// expects says that a background model is expected.
func (s *collections) expects(model string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	_, ok := s.models[model]
	return ok
}
