package worker_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/recalld/recalld/worker"
	"github.com/recalld/recalld/worker/workertest"
)

// rig is a pool over the fake queue, inside a synctest bubble, where time
// passes only when everything waits.
type rig struct {
	*worker.Pool
	t     *testing.T
	queue *workertest.Queue

	mu     sync.Mutex // guards failed
	failed []error
}

// newQueue returns an empty queue.
func newQueue() *workertest.Queue {
	return workertest.NewQueue(time.Now, worker.ScheduleOptions{MaxAttempts: 3})
}

// newRig starts a pool that stops with the test. The back-off has no jitter.
func newRig(t *testing.T, opts worker.Options) *rig {
	t.Helper()
	r := &rig{t: t, queue: newQueue()}
	if opts.Queue == nil {
		opts.Queue = r.queue
	}
	opts.Logger = slog.New(slog.DiscardHandler)
	opts.Rand = func() float64 { return 0 }
	opts.Failed = func(_ worker.Job, err error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.failed = append(r.failed, err)
	}
	pool, err := worker.NewPool(opts)
	if err != nil {
		t.Fatalf("NewPool: %v", err)
	}
	r.Pool = pool
	pool.Start()
	t.Cleanup(func() {
		if err := pool.Stop(ended()); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("Stop: %v", err)
		}
	})
	return r
}

// ended is a context that leaves no time to drain.
func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func (r *rig) enqueue(jobs ...worker.Job) {
	r.t.Helper()
	for _, job := range jobs {
		if job.Kind == "" {
			job.Kind = "work"
		}
		if _, err := r.queue.Enqueue(r.t.Context(), job); err != nil {
			r.t.Fatalf("Enqueue: %v", err)
		}
	}
}

// wantFailed compares the number of failures since the last call and returns them.
func (r *rig) wantFailed(want int) []error {
	r.t.Helper()
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	failed := r.failed
	r.failed = nil
	if len(failed) != want {
		r.t.Fatalf("the pool reported the failures %v, want %d", failed, want)
	}
	return failed
}

func (r *rig) wantStats(want worker.KindStats) {
	r.t.Helper()
	synctest.Wait()
	if got := r.queue.Stats().KindStats; got != want {
		r.t.Errorf("Stats = %+v, want %+v", got, want)
	}
}

func handlers(h worker.Handler) map[string]worker.Handler {
	return map[string]worker.Handler{"work": h}
}

// gate is a handler that holds its jobs until they are let go.
type gate struct {
	begun chan worker.Job
	let   chan error
}

func newGate() *gate { return &gate{begun: make(chan worker.Job, 100), let: make(chan error)} }

func (g *gate) handle(ctx context.Context, job worker.Job) error {
	g.begun <- job
	select {
	case err := <-g.let:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func TestPoolRunsJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		r := newRig(t, worker.Options{Handlers: handlers(func(_ context.Context, job worker.Job) error {
			got = append(got, string(job.Payload))
			time.Sleep(time.Second) // passes at once in the bubble
			return nil
		})})
		r.enqueue(worker.Job{Payload: []byte("1")}, worker.Job{Payload: []byte("2")}, worker.Job{Kind: "unknown"})
		time.Sleep(3 * time.Second)
		r.wantFailed(0)
		if want := []string{"1", "2"}; !slices.Equal(got, want) {
			t.Errorf("handled %v, want %v", got, want)
		}
		r.wantStats(worker.KindStats{Waiting: 1}) // of the kind without a handler
	})
}

func TestPoolRetries(t *testing.T) {
	errLuck := errors.New("no luck")
	tests := []struct {
		name    string
		handler worker.Handler
		fails   int
		dead    bool
		at      []time.Duration // of the attempts, since the start
	}{
		{
			"until the last attempt", func(context.Context, worker.Job) error { return errLuck },
			3, true,
			[]time.Duration{0, time.Second, 2 * time.Second},
		},
		{
			"until it works", func(_ context.Context, job worker.Job) error {
				if job.Attempt == 2 {
					return nil
				}
				return errLuck
			},
			1, false,
			[]time.Duration{0, time.Second},
		},
		{
			"never when permanent", func(context.Context, worker.Job) error {
				return fmt.Errorf("read job: %w", worker.Permanent(errLuck))
			},
			1, true,
			[]time.Duration{0},
		},
		{
			"after a panic", func(_ context.Context, job worker.Job) error {
				if job.Attempt == 1 {
					panic("oh")
				}
				return nil
			},
			1, false,
			[]time.Duration{0, time.Second},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				var at []time.Duration
				r := newRig(t, worker.Options{Handlers: handlers(func(ctx context.Context, job worker.Job) error {
					at = append(at, time.Since(start))
					return test.handler(ctx, job)
				})})
				r.enqueue(worker.Job{})
				time.Sleep(2 * time.Hour)
				failed := r.wantFailed(test.fails)
				if !slices.Equal(at, test.at) {
					t.Errorf("attempts at %v, want %v", at, test.at)
				}
				letters, err := r.queue.Dead(t.Context())
				if err != nil || len(letters) > 0 != test.dead {
					t.Fatalf("dead letters = %+v, %v; want one: %v", letters, err, test.dead)
				}
				if !test.dead {
					return
				}
				last := failed[len(failed)-1]
				if letters[0].LastError != last.Error() {
					t.Errorf("the dead letter has the error %q, want %q", letters[0].LastError, last)
				}
				if !errors.Is(last, errLuck) {
					t.Errorf("the error %v does not wrap the handler's", last)
				}
			})
		})
	}
}

func TestPoolBackPressure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow, fast := newGate(), newGate()
		r := newRig(t, worker.Options{
			Handlers:    map[string]worker.Handler{"slow": slow.handle, "fast": fast.handle},
			Concurrency: map[string]int{"slow": 2},
		})
		for range 5 {
			r.enqueue(worker.Job{Kind: "slow", Priority: 9}, worker.Job{Kind: "fast"})
		}
		r.wantStats(worker.KindStats{Waiting: 7, Running: 3})
		fast.let <- nil
		slow.let <- nil
		r.wantStats(worker.KindStats{Waiting: 5, Running: 3})
		if len(slow.begun) != 3 || len(fast.begun) != 2 {
			t.Errorf("%d slow and %d fast jobs were begun, want 3 and 2", len(slow.begun), len(fast.begun))
		}
	})
}

func TestPoolPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		r := newRig(t, worker.Options{Handlers: handlers(g.handle)})
		r.enqueue(worker.Job{}, worker.Job{})
		r.wantStats(worker.KindStats{Waiting: 1, Running: 1})
		r.Pause("work")
		r.Pause("work")
		g.let <- nil
		r.wantStats(worker.KindStats{Waiting: 1})
		if err := r.Stop(t.Context()); err != nil {
			t.Fatalf("Stop: %v", err)
		}
		r.Start()
		r.wantStats(worker.KindStats{Waiting: 1}) // still paused
		r.Resume("work")
		r.wantStats(worker.KindStats{Running: 1})
		g.let <- nil
		r.wantStats(worker.KindStats{})
	})
}

// TestPoolOutlivesAFailingQueue: while nothing can be written, a job that has ended
// stays leased and no other is leased; afterwards the pool continues.
func TestPoolOutlivesAFailingQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		r := newRig(t, worker.Options{Handlers: handlers(g.handle), Concurrency: map[string]int{"work": 2}})
		r.enqueue(worker.Job{}, worker.Job{}, worker.Job{})
		r.wantStats(worker.KindStats{Waiting: 1, Running: 2})
		r.queue.Fail(errors.New("disk full"))
		g.let <- nil
		time.Sleep(time.Minute)
		r.wantStats(worker.KindStats{Waiting: 1, Running: 2})
		r.queue.Fail(nil)
		time.Sleep(2 * time.Second)
		r.wantStats(worker.KindStats{Running: 2})
		g.let <- nil
		g.let <- nil
		r.wantStats(worker.KindStats{})
		r.wantFailed(0)
		if len(g.begun) != 3 {
			t.Errorf("%d jobs were begun, want 3: one that is done must not run again", len(g.begun))
		}
	})
}

// TestStopWhileTheQueueFails: Stop does not wait for a disk that is full.
func TestStopWhileTheQueueFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		r := newRig(t, worker.Options{Handlers: handlers(g.handle)})
		r.enqueue(worker.Job{Key: "k"})
		r.wantStats(worker.KindStats{Running: 1})
		r.queue.Fail(errors.New("disk full"))
		g.let <- nil
		synctest.Wait()
		if err := r.Stop(t.Context()); err != nil {
			t.Errorf("Stop: %v", err)
		}
		job, err := r.queue.Reopen().Lease(t.Context(), []string{"work"})
		if err != nil || job.Attempt != 2 {
			t.Errorf("after a restart Lease = %+v, %v; want the job at attempt 2", job, err)
		}
	})
}

func TestPoolDoesNotPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &countingQueue{Queue: newQueue()}
		ran := 0
		newRig(t, worker.Options{Queue: q, Handlers: handlers(func(context.Context, worker.Job) error { ran++; return nil })})
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		if n := q.count(); n > 2 {
			t.Errorf("an idle pool asked %d times in a day, want at most 2", n)
		}
		if _, err := q.Enqueue(t.Context(), worker.Job{Kind: "work"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if ran != 1 {
			t.Errorf("%d jobs ran, want the one that came", ran)
		}
	})
}

// countingQueue counts leases.
type countingQueue struct {
	*workertest.Queue
	mu sync.Mutex // guards n
	n  int
}

func (q *countingQueue) count() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.n
}

func (q *countingQueue) Lease(ctx context.Context, kinds []string) (worker.Job, error) {
	q.mu.Lock()
	q.n++
	q.mu.Unlock()
	return q.Queue.Lease(ctx, kinds)
}

func TestNewPoolRefuses(t *testing.T) {
	queue := newQueue()
	work := handlers(func(context.Context, worker.Job) error { return nil })
	for name, opts := range map[string]worker.Options{
		"no queue":              {Handlers: work},
		"no handlers":           {Queue: queue},
		"nil handler":           {Queue: queue, Handlers: handlers(nil)},
		"concurrency 0":         {Queue: queue, Handlers: work, Concurrency: map[string]int{"work": 0}},
		"concurrency of none":   {Queue: queue, Handlers: work, Concurrency: map[string]int{"other": 1}},
		"back-off out of order": {Queue: queue, Handlers: work, Backoff: worker.Backoff{Min: 2, Max: 1}},
	} {
		if _, err := worker.NewPool(opts); err == nil {
			t.Errorf("%s: NewPool made one", name)
		}
	}
}
