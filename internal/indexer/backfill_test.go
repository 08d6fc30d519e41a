package indexer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/embedder/embeddertest"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/worker"
)

// rememberMany writes n lessons with texts of their own.
func rememberMany(r *rig, n int) {
	r.t.Helper()
	for i := range n {
		r.remember(lesson(fmt.Sprintf("l-%d", i), "p-1", fmt.Sprintf("%s lesson", wordOf(i))))
	}
}

func TestFillEmbedsAllKindsLessonsFirst(t *testing.T) {
	var order []string
	fake := &embeddertest.Fake{Before: func(_ context.Context, texts []string) error {
		order = append(order, texts...)
		return nil
	}}
	r := newRig(t, fake)
	r.attach()
	r.commit(memory.Batch{Sandboxes: []memory.Sandbox{{ID: "s-0", Project: "p-1", Root: "/s-0"}}})
	r.putFile("p-1", "s-0", "a.go", "code one", "code two")
	step := lesson("t-1", "p-1", "a step")
	step.Kind, step.Event, step.Session = memory.Step, nil, "sess"
	r.commit(memory.Batch{Sessions: []memory.Session{{ID: "sess", Project: "p-1", CreatedAt: testTime}}})
	r.remember(step)
	r.remember(listing(memory.Rule, "u-1", 0, 0))
	r.remember(lesson("l-1", "p-1", "a lesson"))
	if got := r.degraded(); got != "partial: 0 % embedded, 0 of 5 documents" {
		t.Errorf("degraded before filling = %q", got)
	}
	r.mustFill()
	if got, want := strings.Join(order, ", "), "a lesson, a step, listed u-1, code one, code two"; got != want {
		t.Errorf("embedded in the order %q, want %q", got, want)
	}
	if s := r.collection(); s.Embedded != 5 || s.State != "ready" || r.degraded() != "" {
		t.Errorf("after filling: %+v, degraded %q; want 5 embedded and ready", s, r.degraded())
	}
	if _, texts := fake.Calls(); texts != 5 {
		t.Errorf("%d texts were embedded, want 5", texts)
	}
	r.mustFill()
	r.reopen()
	r.attach()
	r.mustFill()
	if _, texts := fake.Calls(); texts != 5 {
		t.Errorf("%d texts were embedded after reopening, want the stored 5 to do", texts)
	}
}

// TestUnavailableModelCatchesUp has the model fail in the middle of a fill.
func TestUnavailableModelCatchesUp(t *testing.T) {
	down := false
	fake := &embeddertest.Fake{}
	fake.Before = func(_ context.Context, texts []string) error {
		if calls, _ := fake.Calls(); texts != nil && calls > 1 && down {
			return fmt.Errorf("connect: %w", embedder.ErrUnavailable)
		}
		return nil
	}
	r := newRig(t, fake)
	r.attach()
	rememberMany(r, 10) // in batches of 4
	down = true
	if err := r.fill(); !errors.Is(err, embedder.ErrUnavailable) {
		t.Fatalf("fill = %v, want %v", err, embedder.ErrUnavailable)
	}
	if s := r.collection(); s.Embedded != 4 || s.State != "unavailable" || s.Error == "" {
		t.Errorf("after a failure: %+v, want the first batch of 4 kept and unavailable", s)
	}
	if got := r.degraded(); !strings.HasPrefix(got, "unavailable") {
		t.Errorf("degraded = %q, want it unavailable", got)
	}
	down = false
	r.mustFill()
	if s := r.collection(); s.Embedded != 10 || s.State != "ready" || r.degraded() != "" {
		t.Errorf("after it came back: %+v, degraded %q; want all 10", s, r.degraded())
	}
}

// TestAnsweredQuestionEndsUnavailability: a question that the model answers
// tells that it is back before the next job does.
func TestAnsweredQuestionEndsUnavailability(t *testing.T) {
	down := false
	fake := &embeddertest.Fake{Before: func(_ context.Context, texts []string) error {
		if down {
			return embedder.ErrUnavailable
		}
		return nil
	}}
	r := newRig(t, fake)
	r.attach()
	rememberMany(r, 2)
	r.mustFill()
	rememberMany(r, 3)
	down = true
	if err := r.fill(); err == nil {
		t.Fatal("fill succeeded without a model")
	}
	down = false
	for _, s := range r.index.Sources() {
		if s.Name == "vector/fake/words" {
			if _, err := s.Retriever.Retrieve(t.Context(), query("lesson")); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := r.degraded(); got != "partial: 66 % embedded, 2 of 3 documents" {
		t.Errorf("degraded = %q, want it partial", got)
	}
}

func TestHalfFailingBatchLosesNothing(t *testing.T) {
	for name, test := range map[string]struct {
		err       error
		first     int // embedded by the first fill
		firstErr  bool
		second    int // and after the second, when nothing fails any more
		secondNow string
	}{
		"refused for good":     {errors.New("the text is no good"), 5, false, 5, "ready"},
		"out of reach":         {fmt.Errorf("reset: %w", embedder.ErrUnavailable), 2, true, 6, "ready"},
		"slow":                 {context.DeadlineExceeded, 2, true, 6, "ready"},
		"wrapped cancellation": {fmt.Errorf("read: %w", context.Canceled), 2, true, 6, "ready"},
	} {
		t.Run(name, func(t *testing.T) {
			bad := true
			fake := &embeddertest.Fake{Refuse: func(text string) error {
				if bad && (strings.HasPrefix(text, wordOf(1)) || test.firstErr && strings.HasPrefix(text, wordOf(2))) {
					return test.err
				}
				return nil
			}}
			r := newRig(t, fake)
			r.attach()
			rememberMany(r, 6)
			if err := r.fill(); (err != nil) != test.firstErr {
				t.Errorf("the first fill = %v, want an error: %v", err, test.firstErr)
			}
			if got := r.collection().Embedded; got != test.first {
				t.Errorf("%d documents embedded at first, want %d", got, test.first)
			}
			bad = false
			r.mustFill()
			if s := r.collection(); s.Embedded != test.second || s.State != test.secondNow {
				t.Errorf("then %+v, want %d embedded and %s", s, test.second, test.secondNow)
			}
		})
	}
}

// TestPassedDocumentIsTriedAgain: what cannot be had from disk is passed over
// without an error, and tried again once its file was written again.
func TestPassedDocumentIsTriedAgain(t *testing.T) {
	r := newRig(t, &embeddertest.Fake{})
	r.attach()
	r.commit(memory.Batch{Sandboxes: []memory.Sandbox{{ID: "s-0", Project: "p-1", Root: "/s-0"}}})
	r.putFile("p-1", "s-0", "a.go", "stays", "changes")
	key := memory.FileKey{Sandbox: "s-0", Path: "a.go"}
	r.disk.set(key, "staysCHANGED")
	r.mustFill()
	if s := r.collection(); s.Embedded != 1 || s.State != "ready" || r.degraded() != "" {
		t.Errorf("with a changed chunk: %+v, degraded %q; want the other embedded and nothing waiting", s, r.degraded())
	}
	// The same text turns up in another file: no document is new, and yet there
	// is something to do.
	f, _ := r.disk.write("p-1", "s-0", "b.go", "changes")
	change := memory.Change{Files: []memory.FileChange{{New: &f}}}
	if jobs := r.index.Follow(change); len(jobs) != 1 {
		t.Errorf("Follow names %d jobs for a file that holds a passed document, want 1", len(jobs))
	}
	r.commit(memory.Batch{Files: []memory.File{f}})
	if got := r.degraded(); got != "partial: 50 % embedded, 1 of 2 documents" {
		t.Errorf("degraded = %q, want one waiting", got)
	}
	r.mustFill()
	if s := r.collection(); s.Embedded != 2 {
		t.Errorf("then %+v, want both embedded", s)
	}
}

// TestCancelledFillPassesNothingOver: a job that is stopped while it reads
// leaves what it could not read for the next.
func TestCancelledFillPassesNothingOver(t *testing.T) {
	r := newRig(t, &embeddertest.Fake{})
	r.attach()
	r.commit(memory.Batch{Sandboxes: []memory.Sandbox{{ID: "s-0", Project: "p-1", Root: "/s-0"}}})
	r.putFile("p-1", "s-0", "a.go", "one", "two", "three")
	ctx, cancel := context.WithCancel(t.Context())
	read := r.index.opts.ChunkText
	r.index.opts.ChunkText = func(context.Context, memory.Location) (string, error) {
		cancel()
		return "", ctx.Err()
	}
	if err := r.index.Embed(ctx, r.index.BackfillJobs()[0]); !errors.Is(err, context.Canceled) {
		t.Fatalf("a cancelled fill = %v, want %v", err, context.Canceled)
	}
	if s := r.collection(); s.State != "filling" {
		t.Errorf("the collection is %+v, want it to be filling still", s)
	}
	r.index.opts.ChunkText = read
	r.mustFill()
	if s := r.collection(); s.Embedded != 3 {
		t.Errorf("%d embedded by the next job, want 3", s.Embedded)
	}
}

func TestEmbedJobs(t *testing.T) {
	r := newRig(t, &embeddertest.Fake{})
	if jobs := r.index.BackfillJobs(); len(jobs) != 0 {
		t.Errorf("%d jobs without a background collection, want none: %+v", len(jobs), jobs)
	}
	name := r.attach()
	if jobs := r.index.BackfillJobs(); len(jobs) != 0 {
		t.Errorf("%d jobs for a collection that nothing waits for, want none: %+v", len(jobs), jobs)
	}
	rememberMany(r, 2)
	jobs := r.index.BackfillJobs()
	if len(jobs) != 1 || jobs[0].Kind != EmbedJob || jobs[0].Key != name {
		t.Fatalf("jobs = %+v, want one of kind %s and key %s", jobs, EmbedJob, name)
	}
	if err := r.index.Embed(t.Context(), worker.Job{Kind: EmbedJob, Payload: []byte("{")}); err == nil {
		t.Error("a job that cannot be read is no error")
	}
	gone := worker.Job{Kind: EmbedJob, Payload: []byte(`{"space":"gone@4-00"}`)}
	if err := r.index.Embed(t.Context(), gone); err != nil {
		t.Errorf("a job of a collection that is gone = %v, want nothing to do", err)
	}
	for name, test := range map[string]struct {
		change memory.Change
		jobs   int
	}{
		"new document": {memory.Change{Docs: []memory.Doc{{Terms: []byte{1}}}}, 1},
		"vectors only": {memory.Change{Docs: []memory.Doc{{Vectors: map[string][]float32{}}}}, 0},
		"dropped":      {memory.Change{Swept: []memory.DocID{{1}}}, 0},
	} {
		if got := len(r.index.Follow(test.change)); got != test.jobs {
			t.Errorf("%s: %d jobs follow, want %d", name, got, test.jobs)
		}
	}
}

// TestEmbedWaitsForLoad: before the indexes are loaded nothing is missing for
// certain.
func TestEmbedWaitsForLoad(t *testing.T) {
	fake := &embeddertest.Fake{}
	r := newRig(t, fake)
	rememberMany(r, 3)
	job := embedJob(r.index.collections.find(r.attach()))
	r.mustFill()
	must(t, r.store.Close())
	r.start()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.index.Embed(ctx, job); !errors.Is(err, context.Canceled) {
		t.Errorf("Embed before Load = %v, want it to wait until its context ends", err)
	}
	must(t, r.index.Load(t.Context(), r.store))
	must(t, r.index.Embed(t.Context(), job))
	if _, texts := fake.Calls(); texts != 3 {
		t.Errorf("%d texts embedded, want the 3 of before and no more", texts)
	}
}

// TestAttachOpensASpaceOnce has many callers reach for one model at once.
func TestAttachOpensASpaceOnce(t *testing.T) {
	r := newRig(t, &embeddertest.Fake{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := r.index.Attach(t.Context(), "fake/words"); err != nil {
				t.Errorf("attach: %v", err)
			}
		})
	}
	wg.Wait()
	if got := len(r.index.Collections()); got != 2 {
		t.Errorf("%d collections, want the built-in one and one of the model", got)
	}
}

// TestWrittenWhileItIsRead: a text that cannot be had where it was, since its file is
// being written anew, is not passed over: it may be had where it is now.
func TestWrittenWhileItIsRead(t *testing.T) {
	r := newRig(t, &embeddertest.Fake{})
	r.attach()
	r.commit(memory.Batch{Sandboxes: []memory.Sandbox{{ID: "s-1", Project: "p-1", Root: "/s-1"}}})
	r.putFile("p-1", "s-1", "a.go", "package a")
	read, written := r.index.opts.ChunkText, false
	r.index.opts.ChunkText = func(ctx context.Context, at memory.Location) (string, error) {
		if written {
			return read(ctx, at)
		}
		written = true
		r.putFile("p-1", "s-1", "b.go", "package a")
		return "", memory.Errorf(memory.CodeNotFound, "it has moved")
	}
	r.mustFill()
	if s := r.collection(); s.Embedded != 1 {
		t.Errorf("the text has moved and is %d times embedded, want once: %+v", s.Embedded, s)
	}
}
