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

	mu     sync.Mutex // guards events
	events []worker.Event
}

// newRig starts a pool that stops with the test. The back-off has no jitter.
func newRig(t *testing.T, opts worker.Options) *rig {
	t.Helper()
	r := &rig{t: t, queue: workertest.NewQueue(worker.SystemClock{}, worker.ScheduleOptions{MaxAttempts: 3})}
	if opts.Queue == nil {
		opts.Queue = r.queue
	}
	opts.Logger = slog.New(slog.DiscardHandler)
	opts.Rand = func() float64 { return 0 }
	opts.Observer = func(e worker.Event) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, e)
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

// wantEvents compares the types of the events seen since the last call.
func (r *rig) wantEvents(want ...worker.EventType) []worker.Event {
	r.t.Helper()
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	events := r.events
	r.events = nil
	var got []worker.EventType
	for _, e := range events {
		got = append(got, e.Type)
	}
	if !slices.Equal(got, want) {
		r.t.Fatalf("events = %v, want %v", got, want)
	}
	return events
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
		r.wantEvents()
		r.enqueue(worker.Job{Payload: []byte("1")}, worker.Job{Payload: []byte("2")}, worker.Job{Kind: "unknown"})
		time.Sleep(3 * time.Second)
		events := r.wantEvents(worker.Started, worker.Succeeded, worker.Started, worker.Succeeded)
		if events[1].Took != time.Second {
			t.Errorf("the job took %v, want 1s", events[1].Took)
		}
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
		events  []worker.EventType
		at      []time.Duration // of the attempts, since the start
	}{
		{
			"until the last attempt", func(context.Context, worker.Job) error { return errLuck },
			[]worker.EventType{worker.Started, worker.Retried, worker.Started, worker.Retried, worker.Started, worker.Died},
			[]time.Duration{0, time.Second, 2 * time.Second},
		},
		{
			"until it works", func(_ context.Context, job worker.Job) error {
				if job.Attempt == 2 {
					return nil
				}
				return errLuck
			},
			[]worker.EventType{worker.Started, worker.Retried, worker.Started, worker.Succeeded},
			[]time.Duration{0, time.Second},
		},
		{
			"never when permanent", func(context.Context, worker.Job) error {
				return fmt.Errorf("read job: %w", worker.Permanent(errLuck))
			},
			[]worker.EventType{worker.Started, worker.Died},
			[]time.Duration{0},
		},
		{
			"when the handler says", func(_ context.Context, job worker.Job) error {
				if job.Attempt == 2 {
					return nil
				}
				return fmt.Errorf("ask server: %w", worker.After(errLuck, time.Hour))
			},
			[]worker.EventType{worker.Started, worker.Retried, worker.Started, worker.Succeeded},
			[]time.Duration{0, time.Hour},
		},
		{
			"after a panic", func(_ context.Context, job worker.Job) error {
				if job.Attempt == 1 {
					panic("oh")
				}
				return nil
			},
			[]worker.EventType{worker.Started, worker.Retried, worker.Started, worker.Succeeded},
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
				events := r.wantEvents(test.events...)
				if !slices.Equal(at, test.at) {
					t.Errorf("attempts at %v, want %v", at, test.at)
				}
				last := events[len(events)-1]
				if last.Type == worker.Died {
					letters, err := r.queue.Dead(t.Context())
					if err != nil || len(letters) != 1 || letters[0].LastError != last.Err.Error() {
						t.Errorf("dead letters = %+v, %v; want one that says %q", letters, err, last.Err)
					}
					if !errors.Is(last.Err, errLuck) {
						t.Errorf("the event's error %v does not wrap the handler's", last.Err)
					}
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

func TestPoolHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		r := newRig(t, worker.Options{Handlers: handlers(g.handle), Concurrency: map[string]int{"work": 2}, LeaseTTL: time.Minute})
		r.enqueue(worker.Job{})
		time.Sleep(time.Hour)
		r.wantEvents(worker.Started)
		g.let <- nil
		r.wantEvents(worker.Succeeded)
	})
}

func TestPoolLosesLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var causes []error
		r := newRig(t, worker.Options{LeaseTTL: time.Minute, Handlers: handlers(func(ctx context.Context, job worker.Job) error {
			if job.Attempt > 1 {
				return nil
			}
			<-ctx.Done()
			causes = append(causes, context.Cause(ctx))
			return ctx.Err()
		})})
		r.enqueue(worker.Job{})
		r.wantEvents(worker.Started)
		r.queue.Fail(errors.New("disk full")) // so that no heartbeat is heard
		time.Sleep(2 * time.Minute)
		r.wantEvents()
		r.queue.Fail(nil)
		time.Sleep(time.Minute)
		r.wantEvents(worker.Lost, worker.Started, worker.Succeeded)
		if len(causes) != 1 || !errors.Is(causes[0], worker.ErrLeaseLost) {
			t.Errorf("the handler was cancelled because of %v, want ErrLeaseLost", causes)
		}
	})
}

func TestPoolOutlivesAFailingQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		r := newRig(t, worker.Options{Handlers: handlers(g.handle), LeaseTTL: time.Minute})
		r.enqueue(worker.Job{}, worker.Job{})
		r.wantEvents(worker.Started)
		r.queue.Fail(errors.New("disk full"))
		g.let <- nil
		events := r.wantEvents(worker.Unsettled, worker.LeaseFailed)
		for _, e := range events {
			if e.Err == nil {
				t.Errorf("the event %v has no error", e.Type)
			}
		}
		time.Sleep(5500 * time.Millisecond)
		r.wantEvents(slices.Repeat([]worker.EventType{worker.LeaseFailed}, 5)...)
		r.queue.Fail(nil)
		time.Sleep(time.Second)
		r.wantEvents(worker.Started)
		g.let <- nil
		time.Sleep(time.Minute) // the unsettled job's lease runs out
		r.wantEvents(worker.Succeeded, worker.Started)
	})
}

func TestPoolDoesNotPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &countingQueue{Queue: workertest.NewQueue(worker.SystemClock{}, worker.ScheduleOptions{})}
		r := newRig(t, worker.Options{Queue: q, Handlers: handlers(func(context.Context, worker.Job) error { return nil })})
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		if n := q.count(); n > 2 {
			t.Errorf("an idle pool asked %d times in a day, want at most 2", n)
		}
		if _, err := q.Enqueue(t.Context(), worker.Job{Kind: "work"}); err != nil {
			t.Fatal(err)
		}
		r.wantEvents(worker.Started, worker.Succeeded)
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

func (q *countingQueue) Lease(ctx context.Context, kinds []string, ttl time.Duration) (worker.Lease, error) {
	q.mu.Lock()
	q.n++
	q.mu.Unlock()
	return q.Queue.Lease(ctx, kinds, ttl)
}

func TestNewPoolRefuses(t *testing.T) {
	queue := workertest.NewQueue(worker.SystemClock{}, worker.ScheduleOptions{})
	work := handlers(func(context.Context, worker.Job) error { return nil })
	for name, opts := range map[string]worker.Options{
		"no queue":              {Handlers: work},
		"no handlers":           {Queue: queue},
		"nil handler":           {Queue: queue, Handlers: handlers(nil)},
		"concurrency 0":         {Queue: queue, Handlers: work, Concurrency: map[string]int{"work": 0}},
		"concurrency of none":   {Queue: queue, Handlers: work, Concurrency: map[string]int{"other": 1}},
		"negative lease":        {Queue: queue, Handlers: work, LeaseTTL: -time.Second},
		"back-off out of order": {Queue: queue, Handlers: work, Backoff: worker.Backoff{Min: 2, Max: 1}},
	} {
		if _, err := worker.NewPool(opts); err == nil {
			t.Errorf("%s: NewPool made one", name)
		}
	}
}
