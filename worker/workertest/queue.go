// Package workertest holds the conformance suite for worker.Queue, a volatile queue
// and a clock for tests.
package workertest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/recalld/recalld/worker"
)

// Queue is a queue whose disk is a map. It is the fake for tests; Reopen returns
// what a restarted process would find.
type Queue struct {
	clock   func() time.Time
	opts    worker.ScheduleOptions
	changed chan struct{}

	mu       sync.Mutex // guards the fields below
	schedule *worker.Schedule
	jobs     map[string]worker.Job
	dead     map[string]worker.Job
	failing  error
}

var _ worker.Queue = (*Queue)(nil)

// NewQueue returns an empty queue. It panics on invalid options.
func NewQueue(clock func() time.Time, opts worker.ScheduleOptions) *Queue {
	return open(clock, opts, map[string]worker.Job{}, map[string]worker.Job{})
}

func open(clock func() time.Time, opts worker.ScheduleOptions, jobs, dead map[string]worker.Job) *Queue {
	schedule, err := worker.NewSchedule(opts)
	if err == nil {
		err = schedule.Restore(slices.Collect(maps.Values(jobs)), slices.Collect(maps.Values(dead)))
	}
	if err != nil {
		panic(err)
	}
	q := &Queue{clock: clock, opts: opts, schedule: schedule, jobs: jobs, dead: dead, changed: make(chan struct{}, 1)}
	q.write()
	return q
}

// Reopen abandons the queue, as a killed process does, and opens a new one over
// what was written. The old one fails from then on.
func (q *Queue) Reopen() *Queue {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.failing = errors.New("workertest: the queue was closed")
	return open(q.clock, q.opts, maps.Clone(q.jobs), maps.Clone(q.dead))
}

// Fail lets every write fail with err from now on; nil ends that.
func (q *Queue) Fail(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.failing = err
}

// do runs an operation on the schedule and writes what it changed.
func (q *Queue) do(ctx context.Context, op func(now time.Time) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.failing != nil {
		return q.failing
	}
	err := op(q.clock())
	q.write()
	return err
}

func (q *Queue) write() {
	for _, c := range q.schedule.Pending() {
		switch c.Op {
		case worker.PutJob:
			q.jobs[c.Job.ID] = c.Job
		case worker.DeleteJob:
			delete(q.jobs, c.Job.ID)
		case worker.PutDead:
			q.dead[c.Job.ID] = c.Job
		case worker.DeleteDead:
			delete(q.dead, c.Job.ID)
		}
	}
	q.schedule.Accept()
	if q.schedule.News() {
		select {
		case q.changed <- struct{}{}:
		default:
		}
	}
}

// Enqueue adds a job, or coalesces it into a waiting one.
func (q *Queue) Enqueue(ctx context.Context, job worker.Job) (out worker.Enqueued, err error) {
	err = q.do(ctx, func(now time.Time) (err error) {
		out, err = q.schedule.Enqueue(now, job)
		return err
	})
	return out, err
}

// Lease hands out the first due job of the kinds.
func (q *Queue) Lease(ctx context.Context, kinds []string) (out worker.Job, err error) {
	err = q.do(ctx, func(now time.Time) (err error) {
		out, err = q.schedule.Lease(now, kinds)
		return err
	})
	return out, err
}

// Settle ends a lease.
func (q *Queue) Settle(ctx context.Context, id string, s worker.Settlement) error {
	return q.do(ctx, func(now time.Time) error { return q.schedule.Settle(now, id, s) })
}

// Changed says when to look again.
func (q *Queue) Changed() (<-chan struct{}, time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.changed, q.schedule.Wait(q.clock())
}

// Dead returns the dead letters, oldest first.
func (q *Queue) Dead(ctx context.Context) (jobs []worker.Job, err error) {
	err = q.do(ctx, func(time.Time) error {
		jobs = q.schedule.Dead()
		return nil
	})
	return jobs, err
}

// Requeue gives a dead letter another try.
func (q *Queue) Requeue(ctx context.Context, id string) error {
	return q.do(ctx, func(time.Time) error { return q.schedule.Requeue(id) })
}

// Stats counts the jobs.
func (q *Queue) Stats() worker.Stats {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.schedule.Stats()
}
