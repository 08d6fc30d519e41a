package workertest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/worker"
)

// Setup is what a queue under test is opened with.
type Setup struct {
	Clock *Clock
	worker.ScheduleOptions
}

// Opened is a queue under test.
type Opened struct {
	Queue worker.Queue
	// Reopen abandons the queue as a kill does and opens it again. Nil for a queue
	// that does not outlive its process.
	Reopen func(t *testing.T) worker.Queue
}

// Run runs the suite over the queues that open returns, each of them empty.
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
		"ClockSetBack":     testClockSetBack,
		"ReopenLeased":     testReopenLeased,
		"ReopenPoison":     testReopenPoison,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			setup := Setup{Clock: NewClock(), ScheduleOptions: worker.ScheduleOptions{Depth: 8, MaxAttempts: 3}}
			if name == "Stress" || name == "Drain" {
				setup.Depth, setup.MaxAttempts = 10_000, 1_000
			}
			opened := open(t, setup)
			test(t, &bench{Queue: opened.Queue, t: t, clock: setup.Clock, reopen: opened.Reopen})
		})
	}
}

// bench is a queue under test with the steps that tests take.
type bench struct {
	worker.Queue
	t      *testing.T
	clock  *Clock
	reopen func(t *testing.T) worker.Queue
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
func (b *bench) lease() worker.Job {
	b.t.Helper()
	job, err := b.Lease(b.t.Context(), []string{"work"})
	if err != nil {
		b.t.Fatalf("Lease: %v, want a job", err)
	}
	return job
}

// none checks that no job is due.
func (b *bench) none() {
	b.t.Helper()
	if job, err := b.Lease(b.t.Context(), []string{"work"}); !errors.Is(err, worker.ErrNoJob) {
		b.t.Fatalf("Lease = job %q of key %q, %v; want ErrNoJob", nameOf(job), job.Key, err)
	}
}

func (b *bench) settle(job worker.Job, s worker.Settlement) {
	b.t.Helper()
	if err := b.Settle(b.t.Context(), job.ID, s); err != nil {
		b.t.Fatalf("Settle(%q, %+v): %v", nameOf(job), s, err)
	}
}

// notLeased checks that a lease is over.
func (b *bench) notLeased(job worker.Job) {
	b.t.Helper()
	if err := b.Settle(b.t.Context(), job.ID, worker.Settlement{}); !errors.Is(err, worker.ErrNotLeased) {
		b.t.Errorf("Settle of a lease that is over: %v, want ErrNotLeased", err)
	}
}

// wantRun leases and finishes everything that is due and compares the names.
func (b *bench) wantRun(want ...string) {
	b.t.Helper()
	var got []string
	for {
		job, err := b.Lease(b.t.Context(), []string{"work"})
		if errors.Is(err, worker.ErrNoJob) {
			break
		}
		if err != nil {
			b.t.Fatalf("Lease: %v", err)
		}
		got = append(got, nameOf(job))
		b.settle(job, worker.Settlement{Outcome: worker.Done})
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

// restart continues with what a killed process left behind.
func (b *bench) restart() {
	b.t.Helper()
	if b.reopen == nil {
		b.t.Skip("the queue does not outlive its process")
	}
	b.Queue = b.reopen(b.t)
}
