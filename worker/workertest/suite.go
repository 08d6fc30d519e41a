package workertest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/worker"
)

// Inspected is what the suite tests.
type Inspected interface {
	worker.Queue
	worker.DeadLetters
}

// Setup is what a queue under test is opened with.
type Setup struct {
	Clock *Clock
	worker.ScheduleOptions
}

// Opened is a queue under test.
type Opened struct {
	Queue Inspected
	// Reopen ends the queue as abruptly as can be and opens what it left
	// behind. Nil for a queue that does not outlive its process.
	Reopen func(t *testing.T) Inspected
}

// Run puts the queues that open gives, each of them empty, through the suite.
func Run(t *testing.T, open func(t *testing.T, setup Setup) Opened) {
	tests := map[string]func(t *testing.T, q *bench){
		"Order":            testOrder,
		"Kinds":            testKinds,
		"Fairness":         testFairness,
		"Position":         testPosition,
		"Coalescing":       testCoalescing,
		"CoalesceRunning":  testCoalesceRunning,
		"CoalesceRetry":    testCoalesceRetry,
		"Full":             testFull,
		"FullOfPriorities": testFullOfPriorities,
		"BadJobs":          testBadJobs,
		"Exclusive":        testExclusive,
		"Expiry":           testExpiry,
		"Extend":           testExtend,
		"Release":          testRelease,
		"RetryTimes":       testRetryTimes,
		"Attempts":         testAttempts,
		"DeadLetters":      testDeadLetters,
		"RequeueCoalesces": testRequeueCoalesces,
		"Changed":          testChanged,
		"Drain":            testDrain,
		"Cancelled":        testCancelled,
		"Stress":           testStress,
		"Reopen":           testReopen,
		"ReopenIDs":        testReopenIDs,
		"ReopenLeased":     testReopenLeased,
		"ReopenPoison":     testReopenPoison,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			setup := Setup{Clock: NewClock(), ScheduleOptions: worker.ScheduleOptions{Depth: 8, MaxAttempts: 3}}
			if name == "Stress" || name == "Drain" {
				setup.Depth = 10_000
			}
			opened := open(t, setup)
			test(t, &bench{Inspected: opened.Queue, t: t, clock: setup.Clock, reopen: opened.Reopen})
		})
	}
}

// ttl is the leases' of all tests.
const ttl = time.Minute

// bench is a queue under test with the steps that tests take.
type bench struct {
	Inspected
	t      *testing.T
	clock  *Clock
	reopen func(t *testing.T) Inspected
}

// enqueue adds a job that must be taken.
func (b *bench) enqueue(job worker.Job) worker.Enqueued {
	b.t.Helper()
	if job.Kind == "" {
		job.Kind = "work"
	}
	got, err := b.Enqueue(b.t.Context(), job)
	if err != nil {
		b.t.Fatalf("Enqueue(%+v): %v", job, err)
	}
	return got
}

// named adds a job whose payload is its name.
func (b *bench) named(name string, job worker.Job) worker.Enqueued {
	b.t.Helper()
	job.Payload = fmt.Appendf(nil, "%q", name)
	return b.enqueue(job)
}

func nameOf(job worker.Job) string { return strings.Trim(string(job.Payload), `"`) }

// lease takes a job, which must be there.
func (b *bench) lease() worker.Lease {
	b.t.Helper()
	lease, err := b.Lease(b.t.Context(), []string{"work"}, ttl)
	if err != nil {
		b.t.Fatalf("Lease: %v, want a job", err)
	}
	return lease
}

// none checks that no job is due.
func (b *bench) none() {
	b.t.Helper()
	if lease, err := b.Lease(b.t.Context(), []string{"work"}, ttl); !errors.Is(err, worker.ErrNoJob) {
		b.t.Fatalf("Lease = job %q of key %q, %v; want ErrNoJob", nameOf(lease.Job), lease.Job.Key, err)
	}
}

func (b *bench) settle(lease worker.Lease, s worker.Settlement) {
	b.t.Helper()
	if err := b.Settle(b.t.Context(), lease.Token, s); err != nil {
		b.t.Fatalf("Settle(%q, %+v): %v", nameOf(lease.Job), s, err)
	}
}

// lost checks that a lease is over.
func (b *bench) lost(lease worker.Lease) {
	b.t.Helper()
	if err := b.Settle(b.t.Context(), lease.Token, worker.Settlement{}); !errors.Is(err, worker.ErrLeaseLost) {
		b.t.Errorf("Settle of a lease that is over: %v, want ErrLeaseLost", err)
	}
	if err := b.Extend(b.t.Context(), lease.Token, ttl); !errors.Is(err, worker.ErrLeaseLost) {
		b.t.Errorf("Extend of a lease that is over: %v, want ErrLeaseLost", err)
	}
}

// wantRun leases and finishes everything that is due and compares the names.
func (b *bench) wantRun(want ...string) {
	b.t.Helper()
	var got []string
	for {
		lease, err := b.Lease(b.t.Context(), []string{"work"}, ttl)
		if errors.Is(err, worker.ErrNoJob) {
			break
		}
		if err != nil {
			b.t.Fatalf("Lease: %v", err)
		}
		got = append(got, nameOf(lease.Job))
		b.settle(lease, worker.Settlement{Outcome: worker.Done})
	}
	if !slices.Equal(got, want) {
		b.t.Errorf("the jobs ran in the order %v, want %v", got, want)
	}
}

func (b *bench) wantStats(want worker.KindStats) {
	b.t.Helper()
	if got := b.Stats(); got.KindStats != want {
		b.t.Errorf("Stats = %+v, want %+v", got.KindStats, want)
	}
}

// wantDead compares the names of the dead letters and returns them.
func (b *bench) wantDead(want ...string) []worker.Job {
	b.t.Helper()
	jobs, err := b.Dead(b.t.Context())
	if err != nil {
		b.t.Fatalf("Dead: %v", err)
	}
	var got []string
	for _, job := range jobs {
		got = append(got, nameOf(job))
	}
	if !slices.Equal(got, want) {
		b.t.Fatalf("the dead letters are %v, want %v", got, want)
	}
	return jobs
}

// restart goes on with what a killed process left behind.
func (b *bench) restart() {
	b.t.Helper()
	if b.reopen == nil {
		b.t.Skip("the queue does not outlive its process")
	}
	b.Inspected = b.reopen(b.t)
}
