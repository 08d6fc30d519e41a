package worker_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/recalld/recalld/worker"
	"github.com/recalld/recalld/worker/workertest"
)

func TestStopDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		r := newRig(t, worker.Options{Handlers: handlers(g.handle)})
		r.enqueue(worker.Job{}, worker.Job{})
		r.wantStats(worker.KindStats{Waiting: 1, Running: 1})
		stopped := make(chan error, 1)
		go func() { stopped <- r.Stop(t.Context()) }()
		synctest.Wait()
		g.let <- nil
		if err := <-stopped; err != nil {
			t.Errorf("Stop: %v, want nil after all is done", err)
		}
		r.wantStats(worker.KindStats{Waiting: 1}) // the second was not begun
	})
}

func TestStopCancelsAtTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, worker.Options{
			Concurrency: map[string]int{"work": 2},
			Handlers: handlers(func(ctx context.Context, job worker.Job) error {
				<-ctx.Done()
				time.Sleep(10 * time.Minute) // winding up
				if job.Key == "finishes" {
					return nil
				}
				return worker.Permanent(ctx.Err()) // wrong, and not to be believed
			}),
		})
		r.enqueue(worker.Job{Key: "gives up"}, worker.Job{Key: "finishes"})
		r.wantStats(worker.KindStats{Running: 2})
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		start := time.Now()
		if err := r.Stop(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Stop: %v, want its context's error", err)
		}
		if took := time.Since(start); took != 30*time.Second+10*time.Minute {
			t.Errorf("Stop took %v, want the deadline and the time to wind up", took)
		}
		r.wantStats(worker.KindStats{Waiting: 1})
		r.wantFailed(0)
		job, err := r.queue.Lease(t.Context(), []string{"work"})
		if err != nil || job.Key != "gives up" || job.Attempt != 1 {
			t.Errorf("the job given back is %+v, %v; want it at its first attempt again", job, err)
		}
	})
}

// TestStopDuringALease stops the pool while the queue is handing out a job.
func TestStopDuringALease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &slowQueue{
			Queue: newQueue(),
			asked: make(chan struct{}, 1), answer: make(chan struct{}),
		}
		if _, err := q.Enqueue(t.Context(), worker.Job{Kind: "work"}); err != nil {
			t.Fatal(err)
		}
		r := newRig(t, worker.Options{Queue: q, Handlers: handlers(func(context.Context, worker.Job) error {
			t.Error("a job was begun after Stop")
			return nil
		})})
		<-q.asked
		stopped := make(chan error, 1)
		go func() { stopped <- r.Stop(t.Context()) }()
		synctest.Wait()
		close(q.answer)
		if err := <-stopped; err != nil {
			t.Errorf("Stop: %v", err)
		}
		if got := q.Stats().KindStats; got != (worker.KindStats{Waiting: 1}) {
			t.Errorf("Stats = %+v, want the job waiting", got)
		}
	})
}

// slowQueue holds its leases until it may answer.
type slowQueue struct {
	*workertest.Queue
	asked, answer chan struct{}
}

func (q *slowQueue) Lease(ctx context.Context, kinds []string) (worker.Job, error) {
	q.asked <- struct{}{}
	<-q.answer
	return q.Queue.Lease(ctx, kinds)
}

func TestStopInAnyOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := newQueue()
		ran := make(chan struct{}, 1)
		pool, err := worker.NewPool(worker.Options{Queue: queue, Handlers: handlers(func(context.Context, worker.Job) error {
			ran <- struct{}{}
			return nil
		})})
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range []string{"stop", "start", "start", "stop", "stop", "start"} {
			if step == "start" {
				pool.Start()
			} else if err := pool.Stop(t.Context()); err != nil {
				t.Fatalf("Stop: %v", err)
			}
		}
		if _, err := queue.Enqueue(t.Context(), worker.Job{Kind: "work"}); err != nil {
			t.Fatal(err)
		}
		<-ran
		if err := pool.Stop(t.Context()); err != nil {
			t.Fatalf("Stop: %v", err)
		}
	})
}

// TestStartStopStress starts and stops one pool from many goroutines while
// jobs run: every job is done once, and nothing is left running in the end.
func TestStartStopStress(t *testing.T) {
	const jobs = 200
	queue := newQueue()
	var (
		mu   sync.Mutex // guards done
		done = map[string]int{}
		all  = make(chan struct{})
	)
	pool, err := worker.NewPool(worker.Options{
		Queue:       queue,
		Concurrency: map[string]int{"work": 4},
		Handlers: handlers(func(ctx context.Context, job worker.Job) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			done[job.ID]++
			if len(done) == jobs {
				close(all)
			}
			return nil
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	for range jobs {
		if _, err := queue.Enqueue(t.Context(), worker.Job{Kind: "work"}); err != nil {
			t.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 50 {
				switch (i + n) % 4 {
				case 0:
					if err := pool.Stop(t.Context()); err != nil {
						t.Errorf("Stop: %v", err)
					}
				case 1:
					if err := pool.Stop(ended()); err != nil && !errors.Is(err, context.Canceled) {
						t.Errorf("Stop: %v", err)
					}
				default:
					pool.Start()
				}
			}
		})
	}
	wg.Wait()
	pool.Start()
	<-all
	if err := pool.Stop(t.Context()); err != nil {
		t.Errorf("Stop: %v", err)
	}
	for id, n := range done {
		if n != 1 {
			t.Errorf("job %s was done %d times", id, n)
		}
	}
	if got := queue.Stats().KindStats; got != (worker.KindStats{}) {
		t.Errorf("Stats = %+v after everything is done", got)
	}
}
