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
	if want := b.clock.Now().Add(ttl); !lease.Until.Equal(want) {
		t.Errorf("the lease runs until %v, want %v", lease.Until, want)
	}
	b.none()
	b.wantStats(worker.KindStats{Running: 1})
	b.settle(lease, worker.Settlement{Outcome: worker.Done})
	b.wantStats(worker.KindStats{})
	b.lost(lease)
	b.none()
	if err := b.Settle(t.Context(), "no such token", worker.Settlement{}); !errors.Is(err, worker.ErrLeaseLost) {
		t.Errorf("Settle of an unknown token: %v, want ErrLeaseLost", err)
	}
}

func testExpiry(t *testing.T, b *bench) {
	b.named("slow", worker.Job{})
	b.named("other", worker.Job{})
	slow := b.lease()
	b.clock.Advance(ttl - time.Nanosecond)
	other := b.lease()
	b.none()
	b.clock.Advance(time.Nanosecond)
	again := b.lease()
	if nameOf(again.Job) != "slow" || again.Job.Attempt != 2 || again.Job.LastError == "" || again.Token == slow.Token {
		t.Errorf("after its lease ran out the job is %+v, want slow at attempt 2 with an error and another token", again.Job)
	}
	b.lost(slow)
	b.settle(other, worker.Settlement{Outcome: worker.Done})

	b.clock.Advance(ttl)
	last := b.lease()
	b.clock.Advance(ttl)
	b.none()
	b.lost(last)
	b.wantDead("slow")
}

func testExtend(t *testing.T, b *bench) {
	b.enqueue(worker.Job{})
	lease := b.lease()
	for range 3 {
		b.clock.Advance(ttl - time.Second)
		if err := b.Extend(t.Context(), lease.Token, ttl); err != nil {
			t.Fatalf("Extend: %v", err)
		}
		b.none()
	}
	b.clock.Advance(ttl)
	b.lost(lease)
	if again := b.lease(); again.Job.Attempt != 2 {
		t.Errorf("the job is at attempt %d, want 2: extending is no attempt", again.Job.Attempt)
	}
}

func testRelease(t *testing.T, b *bench) {
	b.named("a", worker.Job{})
	b.named("b", worker.Job{})
	for range 5 { // more often than it may be tried
		lease := b.lease()
		if nameOf(lease.Job) != "a" || lease.Job.Attempt != 1 {
			t.Fatalf("leased %+v, want a at attempt 1: released jobs keep their place and their attempts", lease.Job)
		}
		b.settle(lease, worker.Settlement{Outcome: worker.Release})
		b.lost(lease)
	}
	b.wantRun("a", "b")
}

func testRetryTimes(t *testing.T, b *bench) {
	b.named("retried", worker.Job{})
	lease := b.lease()
	due := b.clock.Now().Add(10 * time.Second)
	b.settle(lease, worker.Settlement{Outcome: worker.Retry, NotBefore: due, Error: "no luck"})
	if _, next := b.Changed(); !next.Equal(due) {
		t.Errorf("the next job is due at %v, want %v", next, due)
	}
	b.named("later", worker.Job{NotBefore: due.Add(time.Second)})
	b.named("now", worker.Job{NotBefore: b.clock.Now()})
	b.wantRun("now")
	b.clock.Advance(10*time.Second - time.Nanosecond)
	b.none()
	b.clock.Advance(time.Nanosecond)
	lease = b.lease()
	if nameOf(lease.Job) != "retried" || lease.Job.Attempt != 2 || lease.Job.LastError != "no luck" {
		t.Errorf("the job tried again is %+v, want retried at attempt 2 with its error", lease.Job)
	}
	b.settle(lease, worker.Settlement{Outcome: worker.Done})
	b.none()
	b.clock.Advance(time.Second)
	b.wantRun("later")
	if _, next := b.Changed(); !next.IsZero() {
		t.Errorf("an empty queue says that a job is due at %v", next)
	}

	// Coalescing into a job that waits for a time, without having failed.
	b.named("far", worker.Job{Key: "k", NotBefore: b.clock.Now().Add(time.Hour)})
	b.named("near", worker.Job{Key: "k"})
	b.wantRun("near")
}

func testAttempts(t *testing.T, b *bench) {
	b.named("default", worker.Job{})
	b.named("once", worker.Job{MaxAttempts: 1})
	tried := map[string]int{}
	for {
		lease, err := b.Lease(t.Context(), []string{"work"}, ttl)
		if errors.Is(err, worker.ErrNoJob) {
			break
		}
		if err != nil {
			t.Fatalf("Lease: %v", err)
		}
		name := nameOf(lease.Job)
		tried[name]++
		if lease.Job.Attempt != tried[name] {
			t.Errorf("%s is at attempt %d, want %d", name, lease.Job.Attempt, tried[name])
		}
		b.settle(lease, worker.Settlement{Outcome: worker.Retry, Error: fmt.Sprintf("failure %d", tried[name])})
	}
	if tried["default"] != 3 || tried["once"] != 1 {
		t.Errorf("the jobs were tried %v times, want default 3, once 1", tried)
	}
	for _, job := range b.wantDead("default", "once") {
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
	if lease.Job.ID != jobs[1].ID || lease.Job.Attempt != 1 {
		t.Errorf("the requeued job is %+v, want %s at attempt 1", lease.Job, jobs[1].ID)
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
	told := func() bool {
		ch, _ := b.Changed()
		select {
		case <-ch:
			return true
		default:
			return false
		}
	}
	told() // whatever opening it said
	b.none()
	if told() {
		t.Error("a lease that found nothing is told of as a change: a pool would never rest")
	}
	b.enqueue(worker.Job{Key: "k"})
	b.enqueue(worker.Job{})
	if !told() {
		t.Error("two new jobs are not told of")
	}
	if told() {
		t.Error("two jobs are told of twice though nobody looked between them")
	}
	lease := b.lease()
	other := b.lease()
	b.enqueue(worker.Job{Key: "k"})
	told()
	b.settle(lease, worker.Settlement{Outcome: worker.Done})
	if !told() {
		t.Error("a job that may run now that the other of its key is done is not told of")
	}
	b.settle(other, worker.Settlement{Outcome: worker.Release})
	if !told() {
		t.Error("a released job is not told of")
	}
	lease = b.lease()
	if _, next := b.Changed(); !next.Equal(lease.Until) {
		t.Errorf("with a job leased the next is due at %v, want the lease's end %v", next, lease.Until)
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
		if !ids[lease.Job.ID] {
			t.Fatalf("job %s came out twice", lease.Job.ID)
		}
		delete(ids, lease.Job.ID)
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
				job := worker.Job{Kind: "work", Group: fmt.Sprint(p), Payload: fmt.Appendf(nil, `"%d/%d"`, p, i), MaxAttempts: 1000}
				if _, err := b.Enqueue(t.Context(), job); err != nil {
					t.Errorf("Enqueue: %v", err)
				}
			}
		})
	}
	handle := func(lease worker.Lease, n int) {
		name := nameOf(lease.Job)
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
		if err := b.Settle(t.Context(), lease.Token, end); err != nil {
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
				lease, err := b.Lease(t.Context(), []string{"work"}, ttl)
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
