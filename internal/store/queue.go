package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/recalld/recalld/worker"
)

// Queue is the durable job queue. worker.Schedule has its rules; its changes are
// written in the store's commits, beside the records that caused them.
type Queue struct {
	store *Store
	// mu guards schedule. A commit that changes the schedule holds mu until its
	// outcome is certain: no caller sees a change that may be reverted.
	mu       sync.Mutex
	schedule *worker.Schedule
	changed  chan struct{}
}

var _ worker.Queue = (*Queue)(nil)

func openQueue(s *Store) (*Queue, error) {
	schedule, err := worker.NewSchedule(s.opts.Queue)
	if err != nil {
		return nil, fmt.Errorf("open queue: %w", err)
	}
	q := &Queue{store: s, schedule: schedule, changed: make(chan struct{}, 1)}
	var jobs, dead []worker.Job
	err = s.View(func(v View) error {
		jobs = slices.Collect(sound(s, scan(v, prefixJob, decodeValue[worker.Job])))
		dead = slices.Collect(sound(s, scan(v, prefixDead, decodeValue[worker.Job])))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("open queue: %w", err)
	}
	if err := schedule.Restore(jobs, dead); err != nil {
		return nil, fmt.Errorf("restore queue: %w", err)
	}
	return q, nil // the next commit writes what Restore changed
}

// plan applies an update's changes to the schedule, adds the jobs that follow from
// the update, and adds what must be written to it. The committer calls it. Its
// changes cannot be reverted for one update alone, so it never fails.
func (q *Queue) plan(g *group, tx *Tx) {
	var follow []worker.Job
	if len(tx.change.Docs)+len(tx.change.Records)+len(tx.change.Files) > 0 {
		follow = q.store.opts.Follow(tx.change)
	}
	if len(tx.jobs)+len(follow) == 0 {
		return
	}
	if !g.planned {
		g.planned = true
		q.mu.Lock()
	}
	for _, fn := range tx.jobs {
		fn(q.schedule)
	}
	for _, job := range follow {
		// A full queue never fails a write: the job that follows is derived again
		// when the queue has room.
		_, err := q.schedule.Enqueue(q.store.opts.Clock(), job)
		if err != nil && !errors.Is(err, worker.ErrQueueFull) {
			q.store.opts.Logger.Error("job was not enqueued", "part", "store", "kind", job.Kind, "error", err)
		}
	}
	for _, c := range q.schedule.Pending() {
		switch k := key(prefixJob, c.Job.ID); c.Op {
		case worker.PutJob:
			q.put(tx, k, c.Job)
		case worker.DeleteJob:
			tx.del(k)
		case worker.PutDead:
			q.put(tx, key(prefixDead, c.Job.ID), c.Job)
		case worker.DeleteDead:
			tx.del(key(prefixDead, c.Job.ID))
		}
	}
}

// put writes a job. A job that cannot be encoded lasts until the process ends.
func (q *Queue) put(tx *Tx, key []byte, job worker.Job) {
	if err := tx.putValue(key, job); err != nil {
		q.store.opts.Logger.Error("job was not written", "part", "store", "job", job.ID, "error", err)
	}
}

// settle accepts or reverts what plan changed for a group.
func (q *Queue) settle(g *group, committed bool) {
	if !g.planned {
		return
	}
	if committed {
		q.schedule.Accept()
	} else {
		q.schedule.Revert()
	}
	news := q.schedule.News()
	q.mu.Unlock()
	if news {
		q.wake()
	}
}

// wake makes the pool look for a job again.
func (q *Queue) wake() {
	select {
	case q.changed <- struct{}{}:
	default:
	}
}

// change runs fn on the schedule in a commit of its own.
func (q *Queue) change(ctx context.Context, fn func(*worker.Schedule) error) error {
	var failed error
	_, err := q.store.Update(ctx, func(tx *Tx) error {
		tx.Schedule(func(s *worker.Schedule) { failed = fn(s) })
		return nil
	})
	return errors.Join(err, failed)
}

// Enqueue adds a job or coalesces it into a waiting one.
func (q *Queue) Enqueue(ctx context.Context, job worker.Job) (out worker.Enqueued, err error) {
	err = q.change(ctx, func(s *worker.Schedule) (err error) {
		out, err = s.Enqueue(q.store.opts.Clock(), job)
		return err
	})
	return out, err
}

// Lease hands out the next job that is due. There is none while the store is
// read-only.
func (q *Queue) Lease(ctx context.Context, kinds []string) (out worker.Job, err error) {
	if q.store.readOnly() {
		return out, worker.ErrNoJob
	}
	err = q.change(ctx, func(s *worker.Schedule) (err error) {
		out, err = s.Lease(q.store.opts.Clock(), kinds)
		return err
	})
	return out, err
}

// Settle ends a lease.
func (q *Queue) Settle(ctx context.Context, id string, end worker.Settlement) error {
	return q.change(ctx, func(s *worker.Schedule) error {
		return s.Settle(q.store.opts.Clock(), id, end)
	})
}

// Changed says when to look again.
func (q *Queue) Changed() (<-chan struct{}, time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.store.readOnly() {
		return q.changed, -1 // see wake
	}
	return q.changed, q.schedule.Wait(q.store.opts.Clock())
}

// Dead returns the dead letters, oldest first.
func (q *Queue) Dead(context.Context) ([]worker.Job, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.schedule.Dead(), nil
}

// Requeue gives a dead letter another try.
func (q *Queue) Requeue(ctx context.Context, id string) error {
	return q.change(ctx, func(s *worker.Schedule) error { return s.Requeue(id) })
}

// Stats counts the jobs.
func (q *Queue) Stats() worker.Stats {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.schedule.Stats()
}
