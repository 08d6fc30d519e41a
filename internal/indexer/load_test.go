package indexer

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/recalld/recalld/embedder/embeddertest"
	"github.com/recalld/recalld/internal/memory"
)

// meddled is a store in which something happens while it is being loaded.
type meddled struct {
	Store
	meddle func()
}

func (s meddled) Load(ctx context.Context, l memory.Loader) (uint64, error) {
	record := l.Record
	l.Record = func(r memory.Record) error {
		s.meddle()
		return record(r)
	}
	return s.Store.Load(ctx, l)
}

func TestChangesWhileLoading(t *testing.T) {
	r := newRig(t, nil)
	r.commit(memory.Batch{Sandboxes: []memory.Sandbox{{ID: "s-1", Project: "p-1", Root: "/s-1"}}})
	rememberMany(r, 10)
	r.putFile("p-1", "s-1", "a.go", "first chunk", "shared chunk")
	r.putFile("p-1", "s-1", "b.go", "shared chunk")
	must(t, r.store.Close())
	r.start()
	err := r.index.Load(t.Context(), meddled{r.store, sync.OnceFunc(func() {
		if r.index.Held(memory.Document{ID: memory.DocumentID("first chunk")}) {
			t.Error("a document is held while loading: its analysis would be left out")
		}
		r.remember(lesson("l-new", "p-1", "written meanwhile"))
		r.remember(lesson("l-3", "p-1", "another text"), lesson("l-9", "p-1", wordOf(0)+" lesson"))
		r.commit(memory.Batch{DropRecords: []string{"l-0", "l-7"}, DropFiles: []memory.FileKey{{Sandbox: "s-1", Path: "a.go"}}})
		r.putFile("p-1", "s-1", "c.go", "third chunk", "shared chunk")
	})})
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	for query, want := range map[string][]string{
		"meanwhile": {"l-new"}, "another": {"l-3"}, wordOf(3): nil, wordOf(0): {"l-9"}, wordOf(7): nil, wordOf(5): {"l-5"},
		"first": nil, "third": {"s-1/c.go"}, "shared": {"s-1/b.go", "s-1/c.go"},
	} {
		if got := r.found(query, memory.Selection{}); !slices.Equal(got, want) {
			t.Errorf("%q finds %v, want %v", query, got, want)
		}
	}
}

func TestFailedLoadIsReported(t *testing.T) {
	r := newRig(t, nil)
	rememberMany(r, 3)
	must(t, r.store.Close())
	r.start()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.index.Load(ctx, r.store); err == nil {
		t.Error("Load of a cancelled context succeeded")
	}
	if r.index.Held(memory.Document{ID: memory.DocumentID(wordOf(0) + " lesson")}) {
		t.Error("a document is held after a failed Load")
	}
	must(t, r.store.Close())
	r.open()
}

// TestConcurrentUse searches, writes, fills and asks for states at once. What
// it shows, it shows under the race detector and by the check at its end.
func TestConcurrentUse(t *testing.T) {
	r := newRig(t, &embeddertest.Fake{})
	r.commit(memory.Batch{Sandboxes: []memory.Sandbox{{ID: "s-1", Project: "p-1", Root: "/s-1"}}})
	r.attach()
	const writers, writes = 4, 40
	var writing, looking sync.WaitGroup
	done := make(chan struct{})
	for w := range writers {
		rng := rand.New(rand.NewPCG(uint64(w), 0))
		writing.Go(func() {
			for range writes {
				switch rng.IntN(6) {
				case 0: // one writer's files are its own: a sandbox has one run at a time
					r.putFile("p-1", "s-1", fmt.Sprintf("f%d-%d.go", w, rng.IntN(6)), textOf(rng.IntN(textCount)), textOf(rng.IntN(textCount)))
				case 1:
					r.commit(memory.Batch{DropRecords: []string{fmt.Sprintf("l-%d", rng.IntN(20))}})
				case 2:
					if err := r.fill(); err != nil {
						t.Errorf("fill: %v", err)
					}
				case 3: // one writer's steps are its own: no other moves or ends them
					id := fmt.Sprintf("x-%d", w)
					r.commit(memory.Batch{Sessions: []memory.Session{session(id, rng.IntN(9))}})
					r.remember(stepAt(fmt.Sprintf("t-%d-%d", w, rng.IntN(20)), id, rng.IntN(99), onScreen("home")))
				case 4:
					r.commit(memory.Batch{DropRecords: []string{fmt.Sprintf("t-%d-%d", w, rng.IntN(20))}})
				default:
					r.remember(lesson(fmt.Sprintf("l-%d", rng.IntN(20)), "p-1", textOf(rng.IntN(textCount))))
				}
			}
		})
	}
	for range 2 {
		looking.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				for _, s := range r.index.Sources() {
					allow, universe := r.index.Select(memory.Selection{Project: "p-1", Path: "**"})
					q := query("words in common")
					q.Allow, q.Universe = allow, universe
					res, _ := s.Retriever.Retrieve(t.Context(), q)
					for _, h := range res.Hits {
						for _, c := range r.index.Candidates(h.Doc, memory.Selection{}) {
							if at, err := r.index.Location(c); err == nil && at.Chunk.Doc != c.Doc {
								t.Errorf("the chunk of document %s is said to be at %+v", c.Doc, at)
							}
						}
					}
				}
				home := memory.SessionFilter{Screen: "home"}
				for _, s := range r.index.Sessions("p-1", home) {
					r.index.Session("p-1", s.ID)
					r.index.SessionSteps("p-1", s.ID)
				}
				r.index.LastSteps("p-1", nil, "home", 5)
				r.index.Fingerprinted([]string{"e-1"}, memory.Selection{Project: "p-1", Steps: home})
				allow, _ := r.index.Select(memory.Selection{Project: "p-1", Steps: home, Since: testTime})
				for it := allow.Iterator(); it.HasNext(); {
					r.index.Candidates(it.Next(), memory.Selection{Steps: home})
				}
				r.index.Collections()
				r.index.Loaded()
			}
		})
	}
	writing.Wait()
	close(done)
	looking.Wait()
	r.mustFill()
	if s := r.collection(); s.State != "ready" || s.Embedded != r.index.Documents() {
		t.Errorf("after all: %+v, want all %d documents embedded", s, r.index.Documents())
	}
}
