package workertest

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/recalld/recalld/worker"
)

func testOrder(t *testing.T, b *bench) {
	b.named("first", worker.Job{})
	b.named("second", worker.Job{})
	b.named("urgent", worker.Job{Priority: 5})
	b.named("idle", worker.Job{Priority: -1})
	b.named("urgent too", worker.Job{Priority: 5})
	b.wantRun("urgent", "urgent too", "first", "second", "idle")
}

func testKinds(t *testing.T, b *bench) {
	b.named("other", worker.Job{Kind: "other", Priority: 9})
	b.named("work", worker.Job{})
	b.wantRun("work")
	job, err := b.Lease(t.Context(), []string{"work", "other"})
	if err != nil || job.Kind != "other" {
		t.Fatalf("Lease = %+v, %v; want the job of the other kind", job, err)
	}
	if got := b.Stats().ByKind["other"]; got != (worker.KindStats{Running: 1}) {
		t.Errorf("Stats of the other kind = %+v, want one running", got)
	}
	if _, err := b.Lease(t.Context(), nil); !errors.Is(err, worker.ErrNoJob) {
		t.Errorf("Lease of no kinds: %v, want ErrNoJob", err)
	}
}

func testFairness(t *testing.T, b *bench) {
	for _, name := range []string{"a1", "a2", "a3"} {
		b.named(name, worker.Job{Group: "a"})
	}
	b.named("b1", worker.Job{Group: "b"})
	b.named("b2", worker.Job{Group: "b"})
	b.named("c1", worker.Job{Group: "c"})
	b.named("b-urgent", worker.Job{Group: "b", Priority: 1})
	b.wantRun("b-urgent", "a1", "c1", "b1", "a2", "b2", "a3")

	// A group that was empty for a while does not overtake for it.
	b.named("a4", worker.Job{Group: "a"})
	b.named("c2", worker.Job{Group: "c"})
	b.wantRun("c2", "a4")
}

func testPosition(t *testing.T, b *bench) {
	for i, job := range []struct {
		worker.Job
		want int
	}{
		{worker.Job{Key: "a"}, 0},
		{worker.Job{Key: "b"}, 1},
		{worker.Job{Priority: 1, Key: "c"}, 0},
		{worker.Job{Key: "b"}, 2},
		{worker.Job{Priority: -1}, 3},
		{worker.Job{Key: "d"}, 3},
		{worker.Job{Key: "b", Priority: 1}, 0}, // lifted, and older than c
	} {
		if got := b.enqueue(job.Job); got.Position != job.want {
			t.Errorf("job %d: Position = %d, want %d", i, got.Position, job.want)
		}
	}
}

func testCoalescing(t *testing.T, b *bench) {
	first := b.named("old", worker.Job{Key: "k"})
	b.named("other", worker.Job{})
	b.named("other kind", worker.Job{Kind: "other", Key: "k"})
	again := b.named("new", worker.Job{Key: "k"})
	if !again.Coalesced || again.ID != first.ID || again.Position != 0 {
		t.Errorf("Enqueue of a waiting key = %+v, want coalesced into %s at position 0", again, first.ID)
	}
	if first.Coalesced {
		t.Error("the first job says that it was coalesced")
	}
	b.wantRun("new", "other")

	b.named("low", worker.Job{Key: "k"})
	b.named("middle", worker.Job{Priority: 1})
	b.named("raised", worker.Job{Key: "k", Priority: 2})
	b.named("not lowered", worker.Job{Key: "k"})
	b.wantRun("not lowered", "middle")
}

func testCoalesceRunning(t *testing.T, b *bench) {
	b.named("running", worker.Job{Key: "k"})
	lease := b.lease()
	next := b.named("next", worker.Job{Key: "k"})
	if next.Coalesced || next.ID == lease.ID {
		t.Errorf("Enqueue of a running key = %+v, want a job of its own", next)
	}
	if newer := b.named("newer", worker.Job{Key: "k"}); !newer.Coalesced || newer.ID != next.ID {
		t.Errorf("Enqueue of a running and waiting key = %+v, want coalesced into %s", newer, next.ID)
	}
	b.none() // while the first runs
	b.settle(lease, worker.Settlement{Outcome: worker.Done})
	b.wantRun("newer")
}

func testCoalesceRetry(t *testing.T, b *bench) {
	first := b.named("running", worker.Job{Key: "k"})
	lease := b.lease()
	b.named("newer", worker.Job{Key: "k", Priority: 3})
	b.settle(lease, worker.Settlement{Outcome: worker.Retry, Pause: time.Hour, Error: "no luck"})
	b.wantStats(worker.KindStats{Waiting: 1})
	b.none() // a newer payload does not shorten the pause

	b.named("newest", worker.Job{Key: "k"})
	b.none()
	b.clock.Advance(time.Hour)
	lease = b.lease()
	if nameOf(lease) != "newest" || lease.ID != first.ID || lease.Attempt != 2 || lease.Priority != 3 {
		t.Errorf("the job after its pause is %+v, want %s with the newest payload, priority 3, attempt 2", lease, first.ID)
	}
}

func testFull(t *testing.T, b *bench) {
	b.named("firm", worker.Job{})
	for _, name := range []string{"d1", "d2", "d3", "d4", "d5", "d6"} {
		b.named(name, worker.Job{Droppable: true})
	}
	b.named("keyed", worker.Job{Key: "k"})
	if got := b.named("in place", worker.Job{Key: "k"}); !got.Coalesced || got.Dropped != nil {
		t.Errorf("Enqueue of a waiting key into a full queue = %+v, want coalesced, nothing dropped", got)
	}
	for _, want := range []string{"d1", "d2", "d3", "d4", "d5", "d6"} {
		got := b.named("new", worker.Job{})
		if got.Dropped == nil || nameOf(*got.Dropped) != want {
			t.Fatalf("Enqueue into a full queue dropped %+v, want %s", got.Dropped, want)
		}
	}
	if _, err := b.Enqueue(t.Context(), worker.Job{Kind: "work", Droppable: true}); !errors.Is(err, worker.ErrQueueFull) {
		t.Errorf("Enqueue into a queue full of firm jobs: %v, want ErrQueueFull", err)
	}
	b.wantStats(worker.KindStats{Waiting: 8, Dropped: 6})

	// A leased job does not count, and comes back to a full queue.
	lease := b.lease()
	b.named("in its place", worker.Job{})
	b.settle(lease, worker.Settlement{Outcome: worker.Release})
	b.wantStats(worker.KindStats{Waiting: 9, Dropped: 6})
}

func testFullOfPriorities(t *testing.T, b *bench) {
	for _, job := range []struct {
		name     string
		priority int
	}{{"p2", 2}, {"p1-old", 1}, {"p3", 3}, {"p1-new", 1}} {
		b.named(job.name, worker.Job{Priority: job.priority, Droppable: true})
	}
	// A coalesced job may be dropped only if all that went into it may.
	b.named("soft", worker.Job{Key: "k", Droppable: true})
	b.named("hard", worker.Job{Key: "k"})
	for range 3 {
		b.named("firm", worker.Job{Priority: 9})
	}
	if _, err := b.Enqueue(t.Context(), worker.Job{Kind: "work"}); !errors.Is(err, worker.ErrQueueFull) {
		t.Errorf("a job of priority 0 found room among higher ones: %v, want ErrQueueFull", err)
	}
	for _, want := range []string{"p1-old", "p1-new", "p2"} {
		got := b.named("new", worker.Job{Priority: 2})
		if got.Dropped == nil || nameOf(*got.Dropped) != want {
			t.Fatalf("Enqueue dropped %+v, want %s", got.Dropped, want)
		}
	}
	if _, err := b.Enqueue(t.Context(), worker.Job{Kind: "work", Priority: 2}); !errors.Is(err, worker.ErrQueueFull) {
		t.Errorf("a job of priority 2 displaced one of priority 3: %v, want ErrQueueFull", err)
	}
}

func testBadJobs(t *testing.T, b *bench) {
	for name, job := range map[string]worker.Job{
		"no kind":      {Payload: json.RawMessage(`{}`)},
		"torn payload": {Kind: "work", Payload: json.RawMessage(`{"a":`)},
	} {
		if _, err := b.Enqueue(t.Context(), job); err == nil {
			t.Errorf("%s: Enqueue took the job", name)
		}
	}
	b.wantStats(worker.KindStats{})

	// The caller cannot set the queue's fields, and the queue keeps a copy of the
	// payload.
	payload := json.RawMessage(`"mine"`)
	got := b.enqueue(worker.Job{ID: "x", Attempt: 7, LastError: "y", Payload: payload})
	copy(payload, `"your"`)
	job := b.lease()
	if job.ID != got.ID || job.ID == "x" || job.Attempt != 1 || job.LastError != "" || nameOf(job) != "mine" || job.MaxAttempts != 3 {
		t.Errorf("the job leased is %+v, want one with id %s, attempt 1 of 3, and its own payload", job, got.ID)
	}
}

func testCancelled(t *testing.T, b *bench) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Enqueue(ctx, worker.Job{Kind: "work"}); !errors.Is(err, context.Canceled) {
		t.Errorf("Enqueue with a context that has ended: %v, want context.Canceled", err)
	}
	if _, err := b.Lease(ctx, []string{"work"}); !errors.Is(err, context.Canceled) {
		t.Errorf("Lease with a context that has ended: %v, want context.Canceled", err)
	}
	b.wantStats(worker.KindStats{})
}
