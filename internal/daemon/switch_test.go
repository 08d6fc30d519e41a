package daemon

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/embedder/embeddertest"
	"github.com/recalld/recalld/embedder/ollama/ollamatest"
	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/testlong"
)

// Two built-in models of one width, so that no mistake is noticed by it.
const (
	formerModel = "builtin/a"
	newModel    = "builtin/b"
)

// builtinModel is one of them. Once it has embedded as many batches as it may, none if
// that is negative, it hangs until the end of the process.
func builtinModel(name string, batches int) *embeddertest.Fake {
	var left atomic.Int64
	left.Store(int64(batches))
	fake := &embeddertest.Fake{Name: name, Salt: name}
	if batches >= 0 {
		fake.Before = func(ctx context.Context, texts []string) error {
			if len(texts) > 1 && left.Add(-1) < 0 {
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		}
	}
	return fake
}

// servedBuiltinEnv gives a daemon in a process of its own a built-in model: its name,
// and after a space how many batches it embeds before it hangs.
const servedBuiltinEnv = "RECALLD_TEST_SERVE_BUILTIN"

func servedBuiltin(t *testing.T) embedder.Embedder {
	t.Helper()
	name, batches, _ := strings.Cut(os.Getenv(servedBuiltinEnv), " ")
	if name == "" {
		return nil
	}
	n, err := strconv.Atoi(batches)
	must(t, err)
	return builtinModel(name, n)
}

func withBuiltin(e embedder.Embedder) func(*Options) {
	return func(o *Options) { o.builtin = e }
}

// switched says that the new model has all documents and is alone.
func switched(st *memory.Status) bool {
	return st.State == stateReady && len(st.Collections) == 1 && st.Collections[0].Model == newModel &&
		st.Collections[0].State == memory.CollectionReady && st.Collections[0].Embedded == st.Documents
}

// TestBuiltinSwitch: a program with another built-in model answers at once, by words
// and by what it has embedded, tells how far it is, and has the former's collection dropped
// at the end.
func TestBuiltinSwitch(t *testing.T) {
	cfg, dir := newConfig(t), large(t, 300)
	patient := func(o *Options) { o.pauses.query = patience } // so that nothing is missing for lack of time
	s := serve(t, cfg, patient, withBuiltin(builtinModel(formerModel, -1)))
	old := s.keep(dir, "Rotate the signing key of the plugins before the release")
	s.indexed(s.index(dir))
	s.end()
	must(t, s.wait())

	release, started := make(chan struct{}), make(chan struct{})
	begin := sync.OnceFunc(func() { close(started) })
	model := builtinModel(newModel, -1)
	var batches atomic.Int64
	model.Before = func(ctx context.Context, texts []string) error {
		if len(texts) < 2 || batches.Add(1) != 3 { // single ones are written or asked
			return nil
		}
		begin()
		select {
		case <-release:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s = serve(t, cfg, withBuiltin(model))
	<-started
	st, err := service.Status.Do(t.Context(), s, service.None{})
	must(t, err)
	former, _ := collectionOf(st, formerModel)
	now, _ := collectionOf(st, newModel)
	if len(st.Collections) != 2 || former.State != memory.CollectionReplaced || former.ReplacedBy != newModel || former.Embedded != st.Documents {
		t.Errorf("in the midst the former collection is %+v of %+v", former, st.Collections)
	}
	if now.State != memory.CollectionBackfilling || now.Embedded != 1+2*embedBatch || st.Queue.ByKind["embed-builtin"] != 1 {
		t.Errorf("in the midst the new collection is %+v, the queue %+v", now, st.Queue)
	}
	if models, err := service.Models.Do(t.Context(), s, service.None{}); err != nil || len(models.Models) != 1 || models.Models[0].Name != newModel {
		t.Errorf("in the midst the models are %+v, %v", models, err)
	}
	// Lessons are embedded first, code is not yet.
	kept := s.keep(dir, "Written while the other model is filled")
	if a := s.ask(dir, "rotate the signing key", memory.Lesson); len(a.Items) == 0 || a.Items[0].ID != old.ID || degraded(a) != "" {
		t.Errorf("in the midst the old lesson is found as %+v, lacking %q", a.Items, degraded(a))
	}
	req := memory.RecallRequest{Query: "written while the other model", Kinds: []memory.Kind{memory.Lesson}, Caller: memory.Caller{Dir: dir}, Explain: true}
	if a, err := service.Recall.Do(t.Context(), s, req); err != nil || len(a.Items) == 0 || a.Items[0].ID != kept.ID ||
		a.Items[0].RankFactors.Retrievers["vector/"+newModel].Score < .4 {
		t.Errorf("in the midst what was written since is found as %+v, %v", a, err)
	}
	a := s.ask(dir, "answers request 299 of round 0", memory.Chunk)
	if want := fmt.Sprintf("vector/%s: partial: ", newModel); !strings.HasPrefix(degraded(a), want) || len(a.Items) == 0 {
		t.Errorf("in the midst the answer has %d items and lacks %q, want it to begin with %q", len(a.Items), degraded(a), want)
	}
	receipt, err := service.Receipt.Do(t.Context(), s, memory.ReceiptRequest{ID: a.Receipt})
	must(t, err)
	if len(receipt.Spaces) != 1 || receipt.Spaces[0] != now.Name {
		t.Errorf("in the midst it was asked of %v, want %s alone", receipt.Spaces, now.Name)
	}
	close(release)
	s.until("switched", switched)
	if a := s.ask(dir, "answers request 299 of round 0", memory.Chunk); degraded(a) != "" || len(a.Items) == 0 {
		t.Errorf("after the switch the answer lacks %q", degraded(a))
	}
	if n := s.until("idle", func(st *memory.Status) bool { return st.Queue.Waiting+st.Queue.Running == 0 }).Queue.Dead; n != 0 {
		t.Errorf("%d jobs are dead", n)
	}
}

// TestBuiltinSwitchIsHeld: filling is work in the background, which a pause holds.
func TestBuiltinSwitchIsHeld(t *testing.T) {
	cfg, dir := newConfig(t), t.TempDir()
	s := serve(t, cfg, withBuiltin(builtinModel(formerModel, -1)))
	s.keep(dir, "Freeze the clock before the coupon expires")
	_, err := service.Pause.Do(t.Context(), s, memory.PauseRequest{})
	must(t, err)
	s.close()
	s = serve(t, cfg, withBuiltin(builtinModel(newModel, -1)))
	st := s.until("loaded", func(st *memory.Status) bool { return st.State == stateReady })
	if now, _ := collectionOf(st, newModel); now.Embedded != 0 || now.State != memory.CollectionBackfilling || len(st.Collections) < 2 {
		t.Errorf("paused: %+v", st.Collections)
	}
	_, err = service.Pause.Do(t.Context(), s, memory.PauseRequest{Resume: true})
	must(t, err)
	s.until("switched", switched)
}

// TestBuiltinSwitchKilled kills daemons in the middle of a switch. The store is then as
// if the new model had embedded everything from the beginning, and what one process had
// done no other did again.
func TestBuiltinSwitchKilled(t *testing.T) {
	testlong.Only(t)
	const lessons, files, perLife = 5, 400, 2
	cfg, dir := newConfig(t), large(t, files)
	lesson := func(i int) string { return fmt.Sprintf("Lesson %d is about %s", i, strings.Repeat("switching ", i)) }
	write := func(s *served) {
		for i := range lessons {
			s.keep(dir, lesson(i))
		}
		s.indexed(s.index(dir))
		s.end()
		must(t, s.wait())
	}
	write(serve(t, cfg, withBuiltin(builtinModel(formerModel, -1))))
	for life := range 3 {
		want := lessons + ((life+1)*perLife-1)*embedBatch // the first batch is of the lessons
		t.Setenv(servedBuiltinEnv, fmt.Sprintf("%s %d", newModel, perLife))
		child := startChild(t, cfg)
		st := child.until("in the midst", func(st *memory.Status) bool {
			now, _ := collectionOf(st, newModel)
			return st.State == stateReady && now.Embedded >= want
		})
		if former, ok := collectionOf(st, formerModel); !ok || former.State != memory.CollectionReplaced {
			t.Errorf("in life %d the former collection is %+v of %+v", life, former, st.Collections)
		}
		if now, _ := collectionOf(st, newModel); now.Embedded != want {
			t.Errorf("in life %d %d documents are embedded, want %d: two batches more than before", life, now.Embedded, want)
		}
		must(t, child.cmd.Process.Kill())
		_ = child.cmd.Wait() // it was killed
		found, err := CheckStore(t.Context(), cfg, "test")
		must(t, err)
		if found != nil {
			t.Fatalf("after kill %d the store is not sound: %v", life, found)
		}
	}
	s := serve(t, cfg, withBuiltin(builtinModel(newModel, -1)))
	s.until("switched", switched)
	s.close()
	clean := newConfig(t)
	c := serve(t, clean, withBuiltin(builtinModel(newModel, -1)))
	write(c)
	if diff := dumpStore(t, cfg).compare(dumpStore(t, clean)); diff != "" {
		t.Errorf("the store differs from one that never had another model:\n%s", diff)
	}
}

// TestOllamaModelIsSwitched: another model in the settings takes the place of the one
// before, whose collection is dropped when its own is filled; the built-in one has no part
// in it.
func TestOllamaModelIsSwitched(t *testing.T) {
	const other = "other-embed"
	fake, dir := startFake(t), large(t, 200)
	fake.SetModel(other, ollamatest.FakeModel{Arch: "bert", Dim: ollamatest.Dim, Context: ollamatest.Context, Salt: "other"})
	cfg := ollamaConfig(t, "http://"+fake.addr)
	s := serve(t, cfg, impatient)
	s.indexed(s.index(dir))
	s.until("filled", filled)
	s.end()
	must(t, s.wait())

	fake.Stop()
	cfg.Embedding.Ollama.Model = other
	s = serve(t, cfg, impatient)
	st := s.until("loaded", func(st *memory.Status) bool { return st.State == stateReady })
	if former, _ := collectionOf(st, modelName); former.State != memory.CollectionReplaced || former.ReplacedBy != "ollama/"+other {
		t.Errorf("while the server is away the former collection is %+v", former)
	}
	fake.Restart()
	st = s.until("switched", func(st *memory.Status) bool {
		now, ok := collectionOf(st, "ollama/"+other)
		_, former := collectionOf(st, modelName)
		if ok && !former && now.Embedded < st.Documents {
			t.Fatalf("the former collection is gone before the new one is filled: %+v", st.Collections)
		}
		return ok && !former && now.State == memory.CollectionReady
	})
	if len(st.Collections) != 2 || st.Collections[0].State != memory.CollectionReady {
		t.Errorf("switched: %+v, want the built-in collection and the new one", st.Collections)
	}

	// Switched off it stays.
	s.end()
	must(t, s.wait())
	cfg.Embedding.Ollama.Enabled = config.OllamaOff
	st = serve(t, cfg).until("loaded", func(st *memory.Status) bool { return st.State == stateReady })
	if !slices.ContainsFunc(st.Collections, func(s memory.CollectionState) bool {
		return s.Model == "ollama/"+other && s.State == memory.CollectionUnused && s.Embedded == st.Documents
	}) {
		t.Errorf("switched off: %+v", st.Collections)
	}
}
