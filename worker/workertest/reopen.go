package workertest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/worker"
)

func testReopen(t *testing.T, b *bench) {
	b.named("done", worker.Job{})
	b.settle(b.lease(), worker.Settlement{Outcome: worker.Done})
	b.named("dead", worker.Job{Key: "dead"})
	b.settle(b.lease(), worker.Settlement{Outcome: worker.Dead, Error: "no use"})
	b.named("paused", worker.Job{})
	b.settle(b.lease(), worker.Settlement{Outcome: worker.Retry, Pause: time.Hour, Error: "no luck"})
	b.named("b", worker.Job{Key: "k"})
	b.named("a", worker.Job{Priority: 1})
	b.named("dropped", worker.Job{Droppable: true})
	for range 4 {
		b.enqueue(worker.Job{Kind: "filler"})
	}
	last := b.named("c", worker.Job{Group: "g"})
	if last.Dropped == nil {
		t.Fatal("the queue was not full as intended")
	}
	b.named("b2", worker.Job{Key: "k"})
	letters := b.wantDead("dead")

	b.restart()
	b.wantStats(worker.KindStats{Waiting: 8, Dead: 1})
	if diff := cmp.Diff(letters, b.wantDead("dead")); diff != "" {
		t.Errorf("the dead letter has changed (-before +after):\n%s", diff)
	}
	b.wantRun("a", "c", "b2") // the group of c was not served yet
	b.clock.Advance(time.Hour)
	lease := b.lease()
	if nameOf(lease) != "paused" || lease.Attempt != 2 || lease.LastError != "no luck" {
		t.Errorf("the paused job is now %+v, want attempt 2 with its error", lease)
	}
	if got := b.named("new", worker.Job{}); got.ID <= last.ID {
		t.Errorf("a new job has the id %s, want one after %s", got.ID, last.ID)
	}
	if err := b.Requeue(t.Context(), letters[0].ID); err != nil {
		t.Errorf("Requeue after reopening: %v", err)
	}
	b.restart()
	b.wantDead()
}

// testReopenIDs has a queue forget all its jobs: their ids may stand in logs.
func testReopenIDs(t *testing.T, b *bench) {
	first := b.enqueue(worker.Job{})
	b.settle(b.lease(), worker.Settlement{Outcome: worker.Done})
	b.clock.Advance(time.Second)
	b.restart()
	if again := b.enqueue(worker.Job{}); again.ID <= first.ID {
		t.Errorf("after reopening a job has the id %s, want one after %s", again.ID, first.ID)
	}
}

func testReopenLeased(t *testing.T, b *bench) {
	b.named("leased", worker.Job{Key: "k"})
	lease := b.lease()
	b.named("next", worker.Job{Key: "k", Priority: 2})
	b.restart()
	b.notLeased(lease)
	again := b.lease()
	if nameOf(again) != "next" || again.ID != lease.ID || again.Attempt != 2 || again.Priority != 2 {
		t.Errorf("the leased job came back as %+v, want %s at attempt 2 with the newer payload and priority 2", again, lease.ID)
	}
	b.none()
	b.settle(again, worker.Settlement{Outcome: worker.Release})
	b.restart()
	if again = b.lease(); again.Attempt != 2 {
		t.Errorf("a released job came back at attempt %d, want 2", again.Attempt)
	}
}

// testReopenPoison has a job that kills the process whenever it runs.
func testReopenPoison(t *testing.T, b *bench) {
	b.named("poison", worker.Job{})
	for range 3 {
		b.lease()
		b.restart()
	}
	b.none()
	if letter := b.wantDead("poison")[0]; letter.LastError == "" {
		t.Error("the dead letter does not say why")
	}
	b.restart()
	b.wantDead("poison")
	b.wantStats(worker.KindStats{Dead: 1})
}

// testClockSetBack: a pause that seems to last for days was written before the clock was set
// back, and has ended.
func testClockSetBack(t *testing.T, b *bench) {
	b.named("paused", worker.Job{})
	b.settle(b.lease(), worker.Settlement{Outcome: worker.Retry, Pause: time.Hour, Error: "no luck"})
	b.none()
	b.clock.Advance(-48 * time.Hour)
	b.wantRun("paused")
}
