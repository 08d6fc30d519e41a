package indexer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/embedder/builtin"
	"github.com/recalld/recalld/embedder/embeddertest"
	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/internal/memory"
)

func query(text string) index.Query { return index.Query{Text: text, Limit: 10} }

// TestOtherWeightsReplaceTheSpace: another width under the same name is another
// model, whose collection replaces the former one.
func TestOtherWeightsReplaceTheSpace(t *testing.T) {
	fake := &embeddertest.Fake{}
	r := newRig(t, fake)
	old := r.attach()
	rememberMany(r, 5)
	r.mustFill()

	*fake = embeddertest.Fake{Dim: 32}
	must(t, r.store.Close())
	r.open()
	rememberMany(r, 6)
	if err := r.fill(); err == nil || r.collection().Embedded != 5 {
		t.Errorf("fill with another width = %v with %d embedded, want an error and the 5 of before", err, r.collection().Embedded)
	}
	name := r.attach()
	if name == old {
		t.Fatalf("the collection is still %s", old)
	}
	if names := r.store.Collections(); slices.Contains(names, old) || !slices.Contains(names, name) {
		t.Errorf("the store has %v, want %s in place of %s", names, name, old)
	}
	r.mustFill()
	if s := r.collection(); s.Dim != 32 || s.Embedded != 6 || s.State != "ready" {
		t.Errorf("the collection is %+v, want all 6 at width 32", s)
	}
}

// TestTheSameWeightsKeepTheirSpace: what another processor rounds otherwise must
// not cost the vectors of a whole store, though the model's name for them changes.
func TestTheSameWeightsKeepTheirSpace(t *testing.T) {
	fake := &embeddertest.Fake{}
	r := newRig(t, fake)
	old := r.attach()
	rememberMany(r, 5)
	r.mustFill()
	fake.Drift = .004
	m, err := fake.Model(t.Context())
	must(t, err)
	if m.Collection() == old {
		t.Fatal("the model has the name of before: this tests nothing")
	}
	if got := r.attach(); got != old {
		t.Errorf("attached to %s, want the collection of before, %s", got, old)
	}
	r.reopen()
	if got := r.attach(); got != old || r.collection().Embedded != 5 {
		t.Errorf("after reopening: attached to %s with %d vectors, want %s with 5", got, r.collection().Embedded, old)
	}
}

// TestModelThatLoadsSlowlyComesByBeingAsked: no question waits for it, and none
// tells it to stop.
func TestModelThatLoadsSlowlyComesByBeingAsked(t *testing.T) {
	loaded := make(chan struct{})
	asked := make(chan struct{}, 1)
	var cold atomic.Bool
	fake := &embeddertest.Fake{Before: func(ctx context.Context, texts []string) error {
		if texts == nil || !cold.Load() {
			return nil
		}
		asked <- struct{}{}
		select {
		case <-loaded:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}}
	r := newRig(t, fake)
	t.Cleanup(func() { r.index.Close() })
	r.attach()
	rememberMany(r, 3)
	r.mustFill()
	cold.Store(true)
	vectors := r.vectors()[1].Retriever
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel() // the question's time is over
	}()
	if _, err := vectors.Retrieve(ctx, query("lesson")); !errors.Is(err, context.Canceled) {
		t.Fatalf("while the model loads: %v, want %v", err, context.Canceled)
	}
	close(loaded)
	if _, err := vectors.Retrieve(t.Context(), query("lesson")); err != nil {
		t.Errorf("once it is loaded: %v", err)
	}
	if len(asked) > 0 {
		t.Error("the model was asked again")
	}
}

// TestUnreachableModelOfBefore: a model that has vectors from before takes part,
// named as degraded, though it cannot be reached; one that was never there is
// not missed.
func TestUnreachableModelOfBefore(t *testing.T) {
	down := false
	fake := &embeddertest.Fake{Before: func(context.Context, []string) error {
		if down {
			return embedder.ErrUnavailable
		}
		return nil
	}}
	r := newRig(t, fake)
	down = true
	if _, err := r.index.Attach(t.Context(), "fake/words"); !errors.Is(err, embedder.ErrUnavailable) {
		t.Errorf("Attach = %v, want %v", err, embedder.ErrUnavailable)
	}
	if got := len(r.index.Sources()); got != 2 {
		t.Errorf("%d sources with a model that was never there, want words and built-in", got)
	}
	down = false
	r.attach()
	rememberMany(r, 3)
	r.mustFill()
	down = true
	r.reopen()
	if _, err := r.index.Attach(t.Context(), "fake/words"); !errors.Is(err, embedder.ErrUnavailable) {
		t.Errorf("Attach after reopening = %v, want %v", err, embedder.ErrUnavailable)
	}
	sources := r.index.Sources()
	if got := sources[2].Degraded; !strings.HasPrefix(got, "unavailable") {
		t.Errorf("degraded = %q, want it unavailable", got)
	}
	if got := r.degraded(); got != "" {
		t.Errorf("it lacks %q, though it has all vectors", got)
	}
	if _, err := sources[2].Retriever.Retrieve(t.Context(), query("lesson")); !errors.Is(err, embedder.ErrUnavailable) {
		t.Errorf("a question to it = %v, want %v", err, embedder.ErrUnavailable)
	}
	down = false
	r.attach()
	if got := r.degraded(); got != "" {
		t.Errorf("degraded = %q after it came back", got)
	}
	if _, err := r.index.Attach(t.Context(), "fake/other"); memory.CodeOf(err) != memory.CodeNotFound {
		t.Errorf("Attach of an unexpected model = %v, want not found", err)
	}
}

func TestSourcesWhileLoading(t *testing.T) {
	r := newRig(t, nil)
	rememberMany(r, 2)
	must(t, r.store.Close())
	r.start()
	for _, s := range r.index.Sources() {
		if s.Retriever != nil || s.Degraded != string(Loading) {
			t.Errorf("before Load the source %s is %+v, want none because of loading", s.Name, s)
		}
	}
	if r.index.Held(memory.Document{ID: memory.DocumentID(wordOf(0) + " lesson")}) {
		t.Error("a document is held before Load")
	}
	if r.index.Loaded() {
		t.Error("the indexes are loaded before Load")
	}
	must(t, r.index.Load(t.Context(), r.store))
	if !r.index.Held(memory.Document{ID: memory.DocumentID(wordOf(0) + " lesson")}) {
		t.Error("a stored document is not held after Load")
	}
	if loaded, seq := r.index.Loaded(), r.index.Seq(); !loaded || seq != r.store.Seq() {
		t.Errorf("loaded is %v at %d, want true at %d", loaded, seq, r.store.Seq())
	}
	if err := r.index.Load(t.Context(), r.store); memory.CodeOf(err) != memory.CodeConflict {
		t.Errorf("a second Load = %v, want a conflict", err)
	}
}

func TestParseSpace(t *testing.T) {
	for name, want := range map[string]struct {
		model string
		dim   int
		bad   bool
	}{
		"builtin/static-v1@256-0a1b2c3d": {model: "builtin/static-v1", dim: 256},
		"ollama/a:latest@8-00":           {model: "ollama/a:latest", dim: 8},
		"noname":                         {bad: true},
		"@8-00":                          {bad: true},
		"x@-00":                          {bad: true},
		"":                               {bad: true},
	} {
		model, dim, err := parseCollection(name)
		if (err != nil) != want.bad || model != want.model || dim != want.dim {
			t.Errorf("parseSpace(%q) = %q, %d, %v; want %+v", name, model, dim, err, want)
		}
	}
}

func TestOptions(t *testing.T) {
	if _, err := New(Options{}); memory.CodeOf(err) != memory.CodeInvalidInput {
		t.Errorf("New without a built-in model = %v, want invalid input", err)
	}
}

// weighing is a built-in model that keeps what the words of a question counted last.
type weighing struct {
	embedder.Weigher
	weights map[string]float64
}

func (w *weighing) EmbedWeighted(ctx context.Context, text string, weight func([]byte) float64) ([]float32, error) {
	w.weights = map[string]float64{}
	return w.Weigher.EmbedWeighted(ctx, text, func(word []byte) float64 {
		w.weights[string(word)] = weight(word)
		return w.weights[string(word)]
	})
}

// TestQuestionIsWeighedWhereItIsAsked: a project's own name tells none of its records
// from the others, and says much in another project.
func TestQuestionIsWeighedWhereItIsAsked(t *testing.T) {
	own := &weighing{Weigher: builtin.New()}
	r := newRig(t, nil)
	r.switchTo(own)
	for i := range 100 {
		r.remember(
			lesson(fmt.Sprintf("a-%d", i), "p-1", fmt.Sprintf("nightjar schedules job number %d", i)),
			lesson(fmt.Sprintf("b-%d", i), "p-2", fmt.Sprintf("the ferry leaves from quay %d", i)),
		)
	}
	counts := map[string]float64{}
	for _, project := range []string{"p-1", "p-2"} {
		allow, universe := r.index.Select(memory.Selection{Project: project})
		for _, s := range r.index.Sources() {
			if s.Collection == "" {
				continue
			}
			q := index.Query{Text: "when does nightjar start", Allow: allow, Universe: universe, Limit: 5}
			if _, err := s.Retriever.Retrieve(t.Context(), q); err != nil {
				t.Fatalf("ask %s in %s: %v", s.Name, project, err)
			}
		}
		counts[project] = own.weights["nightjar"]
	}
	if counts["p-1"] > .6 || counts["p-2"] != 1 {
		t.Errorf("the name counts %.2f in its own project and %.2f in another, want .6 at most and 1", counts["p-1"], counts["p-2"])
	}
}
