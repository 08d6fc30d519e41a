package indexer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// A model replaces another model of the same provider: the part of its name before the
// slash, such as "builtin" or "ollama". The replaced collection is kept, but not searched,
// until the new one is complete. A user who switches back before then still has the old
// vectors. The collection of a provider that is not in use at all is kept.

func provider(model string) string {
	name, _, _ := strings.Cut(model, "/")
	return name
}

// unusedCollections returns the stored collections without a model in use.
func (x *Indexer) unusedCollections() []string {
	return slices.DeleteFunc(x.store.Collections(), x.collections.wanted)
}

// replaced returns the collections that one replaces. Attach has already dropped the
// collections of an expected model's other weights.
func (x *Indexer) replaced(s *collection) []string {
	return slices.DeleteFunc(x.unusedCollections(), func(name string) bool {
		model, _, _ := strings.Cut(name, "@")
		return provider(model) != provider(s.vectors.Name()) || x.collections.expected(model) != nil
	})
}

// dropReplaced drops the collections that a complete one replaces.
func (x *Indexer) dropReplaced(ctx context.Context, s *collection) error {
	for _, name := range x.replaced(s) {
		if err := x.store.DropCollection(ctx, name); err != nil {
			return fmt.Errorf("drop replaced collection: %w", err)
		}
		x.opts.Logger.Info("replaced collection dropped", "part", "indexer", "collection", name, "by", s.name)
	}
	return nil
}

// countUnused counts the vectors of the unused collections.
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

// Collections returns the state of every collection, those in use first.
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
		case !x.Loaded():
			st.State = memory.CollectionLoading
		case err != nil:
			st.State, st.Error = memory.CollectionUnavailable, err.Error()
		case waiting > 0:
			st.State = memory.CollectionBackfilling
		}
		out = append(out, st)
	}
	if !x.Loaded() {
		return out // the unused ones are counted at the end of Load
	}
	for _, name := range x.unusedCollections() {
		model, dim, err := parseCollection(name)
		if err != nil {
			continue // no model ever used it
		}
		st := memory.CollectionState{Name: name, Model: model, Dim: dim, Embedded: x.collections.unusedVectors(name), State: memory.CollectionUnused}
		st.Documents = st.Embedded // it will get no more
		if st.ReplacedBy = x.successor(model); st.ReplacedBy != "" {
			st.State = memory.CollectionReplaced
		}
		out = append(out, st)
	}
	return out
}

// successor returns the model in use that replaces another, empty if none does.
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
			return expected // its server has not answered yet
		}
	}
	return ""
}

func (s *collections) unusedVectors(name string) int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.unused[name]
}
