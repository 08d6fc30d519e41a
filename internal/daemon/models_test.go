package daemon

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/embedder/embeddertest"
	"github.com/recalld/recalld/internal/indexer"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/models"
	"github.com/recalld/recalld/internal/service"
)

// local is a model in this process.
type local struct{ fake *embeddertest.Fake }

func (m local) Name() string                { return m.fake.Name }
func (m local) Embedder() embedder.Embedder { return m.fake }
func (m local) Close() error                { return nil }

func (m local) Attach(ctx context.Context, x *indexer.Indexer) error {
	_, err := x.Attach(ctx, m.fake.Name)
	return err
}

// TestAnotherEmbedder: an embedder that is only listed takes part. Its collection is
// filled by jobs, queries use it, and it can go and come back while another stays.
func TestAnotherEmbedder(t *testing.T) {
	var away atomic.Bool
	gone := &embeddertest.Fake{Name: "toy/gone", Before: func(context.Context, []string) error {
		if away.Load() {
			return errors.New("it is away")
		}
		return nil
	}}
	away.Store(true)
	s := serve(t, newConfig(t), impatient, func(o *Options) {
		o.models = []models.Model{local{&embeddertest.Fake{Name: "toy/words"}}, local{gone}}
	})
	dir := shop(t)
	kept := s.keep(dir, "Delete the database of the tests before the release")
	full := func(name string) func(*memory.Status) bool {
		return func(st *memory.Status) bool {
			c, ok := collectionOf(st, name)
			return ok && c.State == memory.CollectionReady && c.Embedded == st.Documents
		}
	}
	st := s.until("filled", full("toy/words"))
	if _, ok := collectionOf(st, "toy/gone"); ok || st.Queue.Dead != 0 {
		t.Errorf("while a model is away there are %+v, %d dead jobs", st.Collections, st.Queue.Dead)
	}
	if a := s.ask(dir, "delete the database"); len(a.Items) == 0 || a.Items[0].ID != kept.ID {
		t.Errorf("with two models the lesson is not found: %+v", a.Items)
	}
	list, err := service.Models.Do(t.Context(), s, service.None{})
	must(t, err)
	if found := list.Models; len(found) != 2 || found[1].Name != "toy/words" || found[1].Note != "" {
		t.Errorf("models %+v, want the built-in one and toy/words", found)
	}
	away.Store(false)
	s.until("filled by the one that came back", full("toy/gone"))
}
