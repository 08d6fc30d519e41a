package workertest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/recalld/recalld/worker"
)

func testExclusive(t *testing.T, b *bench) {
	b.enqueue(worker.Job{})
	lease := b.lease()
	b.none()
	b.wantStats(worker.KindStats{Running: 1})
	b.settle(lease, worker.Settlement{Outcome: worker.Done})
	b.wantStats(worker.KindStats{})
	b.notLeased(lease)
	b.none()
	b.notLeased(worker.Job{ID: "no such job"})
}

func testRelease(t *testing.T, b *bench) {
	b.named("a", worker.Job{})
	b.named("b", worker.Job{})
	for range 5 { // more often than it may be tried
		lease := b.lease()
		if nameOf(lease) != "a" || lease.Attempt != 1 {
			t.Fatalf("leased %+v, want a at attempt 1: released jobs keep their place and their attempts", lease)
		}
		b.settle(lease, worker.Settlement{Outcome: worker.Release})
		b.notLeased(lease)
	}
	b.wantRun("a", "b")
}

func testRetryTimes(t *testing.T, b *bench) {
	b.named("retried", worker.Job{})
	lease := b.lease()
	b.settle(lease, worker.Settlement{Outcome: worker.Retry, Pause: 10 * time.Second, Error: "no luck"})
	if _, next := b.Changed(); next != 10*time.Second {
		t.Errorf("the next job is due in %v, want 10s", next)
	}
	b.named("later", worker.Job{})
	b.settle(b.lease(), worker.Settlement{Outcome: worker.Retry, Pause: 11 * time.Second})
	b.named("now", worker.Job{NotBefore: b.clock.Now().Add(time.Hour)}) // not the caller's to set
	b.wantRun("now")
	b.clock.Advance(10*time.Second - time.Nanosecond)
	b.none()
	b.clock.Advance(time.Nanosecond)
	lease = b.lease()
	if nameOf(lease) != "retried" || lease.Attempt != 2 || lease.LastError != "no luck" {
		t.Errorf("the job tried again is %+v, want retried at attempt 2 with its error", lease)
	}
	b.settle(lease, worker.Settlement{Outcome: worker.Done})
	b.none()
	b.clock.Advance(time.Second)
	b.wantRun("later")
	if _, next := b.Changed(); next >= 0 {
		t.Errorf("an empty queue says that a job is due in %v", next)
	}
}

func testAttempts(t *testing.T, b *bench) {
	b.named("one", worker.Job{})
	b.named("two", worker.Job{MaxAttempts: 1}) // not the caller's to set
	tried := map[string]int{}
	for {
		lease, err := b.Lease(t.Context(), []string{"work"})
		if errors.Is(err, worker.ErrNoJob) {
			break
		}
		if err != nil {
			t.Fatalf("Lease: %v", err)
		}
		name := nameOf(lease)
		tried[name]++
		if lease.Attempt != tried[name] {
			t.Errorf("%s is at attempt %d, want %d", name, lease.Attempt, tried[name])
		}
		b.settle(lease, worker.Settlement{Outcome: worker.Retry, Error: fmt.Sprintf("failure %d", tried[name])})
	}
	if tried["one"] != 3 || tried["two"] != 3 {
		t.Errorf("the jobs were tried %v times, want 3 each", tried)
	}
	for _, job := range b.wantDead("one", "two") {
		if want := fmt.Sprintf("failure %d", job.Attempt); job.LastError != want {
			t.Errorf("the dead letter %s says %q, want %q", nameOf(job), job.LastError, want)
		}
	}
}

func testDeadLetters(t *testing.T, b *bench) {
	b.named("a", worker.Job{Key: "a"})
	b.named("b", worker.Job{Key: "b"})
	for range 2 {
		b.settle(b.lease(), worker.Settlement{Outcome: worker.Dead, Error: strings.Repeat("ä", 5000)})
	}
	jobs := b.wantDead("a", "b")
	if text := jobs[0].LastError; !utf8.ValidString(text) || utf8.RuneCountInString(text) > 1000 || text == "" {
		t.Errorf("the error kept has %d characters (valid: %v), want 1 to 1000", utf8.RuneCountInString(text), utf8.ValidString(text))
	}
	b.wantStats(worker.KindStats{Dead: 2})
	if err := b.Requeue(t.Context(), "no such job"); !errors.Is(err, worker.ErrUnknownJob) {
		t.Errorf("Requeue of an unknown job: %v, want ErrUnknownJob", err)
	}
	if err := b.Requeue(t.Context(), jobs[1].ID); err != nil {
		t.Fatalf("Requeue: %v", err)
	}
	b.wantDead("a")
	if err := b.Requeue(t.Context(), jobs[1].ID); !errors.Is(err, worker.ErrUnknownJob) {
		t.Errorf("Requeue of a job that waits: %v, want ErrUnknownJob", err)
	}
	lease := b.lease()
	if lease.ID != jobs[1].ID || lease.Attempt != 1 {
		t.Errorf("the requeued job is %+v, want %s at attempt 1", lease, jobs[1].ID)
	}
}

func testRequeueCoalesces(t *testing.T, b *bench) {
	die := func(name string) {
		t.Helper()
		b.named(name, worker.Job{Key: "k"})
		b.settle(b.lease(), worker.Settlement{Outcome: worker.Dead, Error: "no use"})
	}
	die("first")
	die("second")
	letter := b.wantDead("second")[0] // one letter per key, the newer
	b.named("third", worker.Job{Key: "k"})
	if err := b.Requeue(t.Context(), letter.ID); err != nil {
		t.Fatalf("Requeue beside a waiting job: %v", err)
	}
	b.wantDead()
	b.wantRun("third")

	die("fourth")
	letter = b.wantDead("fourth")[0]
	b.named("fifth", worker.Job{Key: "k"})
	lease := b.lease()
	if err := b.Requeue(t.Context(), letter.ID); err != nil {
		t.Fatalf("Requeue beside a running job: %v", err)
	}
	b.settle(lease, worker.Settlement{Outcome: worker.Done})
	b.wantRun()
	b.wantStats(worker.KindStats{})
}

func testChanged(t *testing.T, b *bench) {
	changed := func() bool {
		ch, _ := b.Changed()
		select {
		case <-ch:
			return true
		default:
			return false
		}
	}
	changed() // whatever opening it said
	b.none()
	if changed() {
		t.Error("a lease that found nothing signals a change: a pool would never rest")
	}
	b.enqueue(worker.Job{Key: "k"})
	b.enqueue(worker.Job{})
	if !changed() {
		t.Error("two new jobs signal no change")
	}
	if changed() {
		t.Error("two jobs signal two changes though the channel was not read between them")
	}
	lease := b.lease()
	other := b.lease()
	b.enqueue(worker.Job{Key: "k"})
	changed()
	b.settle(lease, worker.Settlement{Outcome: worker.Done})
	if !changed() {
		t.Error("a job that may run now that the other of its key is done signals no change")
	}
	b.settle(other, worker.Settlement{Outcome: worker.Release})
	if !changed() {
		t.Error("a released job signals no change")
	}
}

func testDrain(t *testing.T, b *bench) {
	const jobs = 300
	ids := map[string]bool{}
	for i := range jobs {
		ids[b.enqueue(worker.Job{Group: fmt.Sprint(i % 7), Priority: i % 3}).ID] = true
	}
	if len(ids) != jobs {
		t.Fatalf("%d jobs share %d ids", jobs, len(ids))
	}
	for range jobs {
		lease := b.lease()
		if !ids[lease.ID] {
			t.Fatalf("job %s came out twice", lease.ID)
		}
		delete(ids, lease.ID)
		b.settle(lease, worker.Settlement{Outcome: worker.Done})
	}
	b.none()
	b.wantStats(worker.KindStats{})
}

// testStress has producers and consumers at work together: every job is done
// once, none by two at a time, none is lost.
func testStress(t *testing.T, b *bench) {
	const producers, consumers, each = 4, 4, 60
	var (
		mu   sync.Mutex // guards done and held
		done = map[string]int{}
		held = map[string]bool{}
		wg   sync.WaitGroup
	)
	for p := range producers {
		wg.Go(func() {
			for i := range each {
				job := worker.Job{Kind: "work", Group: fmt.Sprint(p), Payload: fmt.Appendf(nil, `"%d/%d"`, p, i)}
				if _, err := b.Enqueue(t.Context(), job); err != nil {
					t.Errorf("Enqueue: %v", err)
				}
			}
		})
	}
	handle := func(lease worker.Job, n int) {
		name := nameOf(lease)
		mu.Lock()
		if held[name] {
			t.Errorf("job %s is held by two", name)
		}
		held[name] = true
		mu.Unlock()
		end := worker.Settlement{Outcome: worker.Done}
		switch n % 5 {
		case 1:
			end.Outcome = worker.Retry
		case 2:
			end.Outcome = worker.Release
		}
		mu.Lock()
		held[name] = false // before it can be leased again
		if end.Outcome == worker.Done {
			done[name]++
		}
		mu.Unlock()
		if err := b.Settle(t.Context(), lease.ID, end); err != nil {
			t.Errorf("Settle: %v", err)
		}
	}
	finished := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(done) == producers*each
	}
	for range consumers {
		wg.Go(func() {
			for n := 0; !finished() && !t.Failed(); n++ {
				lease, err := b.Lease(t.Context(), []string{"work"})
				switch {
				case err == nil:
					handle(lease, n)
				case !errors.Is(err, worker.ErrNoJob):
					t.Errorf("Lease: %v", err)
				}
			}
		})
	}
	wg.Wait()
	for name, n := range done {
		if n != 1 {
			t.Errorf("job %s was done %d times", name, n)
		}
	}
	b.none()
	b.wantStats(worker.KindStats{})
}
