// Package worker runs jobs from a durable queue, and has what other background work is
// regulated with: Gate and Ahead.
//
// Vocabulary. A job is an event to be handled once: index this sandbox, embed
// what is missing. Jobs with the same kind and key coalesce while they wait. A
// job is leased to one handler at a time. A lease lasts until the job is settled
// or the process ends: a queue has one process and one pool, so there is no other
// to take the job over. A handler that fails is retried after a jittered, growing
// pause. After its last attempt the job becomes a dead letter, which can be listed
// and requeued. Handlers must be idempotent: a process that dies gives its leased
// jobs back, and one of them may have succeeded before that was written.
package worker

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

var (
	// ErrNoJob is returned by Lease when no job is due.
	ErrNoJob = errors.New("worker: no job is due")
	// ErrNotLeased is returned by Settle when no job with the id is leased.
	ErrNotLeased = errors.New("worker: the job is not leased")
	// ErrQueueFull is returned by Enqueue when the queue is at its depth limit
	// and holds no job that may be dropped.
	ErrQueueFull = errors.New("worker: the queue is full")
	// ErrUnknownJob is returned by Requeue when no dead letter has the id.
	ErrUnknownJob = errors.New("worker: no such job")
)

// Job is one unit of work. Its JSON names are those in which queues store it.
type Job struct {
	ID string `json:"id"`
	// Kind chooses the handler.
	Kind string `json:"kind"`
	// Key coalesces: at most one waiting job exists per kind and key. A newer one
	// replaces its payload, or is joined to it (ScheduleOptions.Merge), and the
	// job keeps its place. Jobs with an empty key never coalesce.
	Key string `json:"key,omitempty"`
	// Group is what fairness is kept between, usually a project.
	Group string `json:"group,omitempty"`
	// Priority orders waiting jobs, higher first.
	Priority int `json:"priority,omitempty"`
	// Droppable jobs are dropped, oldest first, when the queue is full.
	Droppable bool `json:"droppable,omitempty"`
	// Payload belongs to the handler.
	Payload json.RawMessage `json:"payload,omitempty"`

	// The queue sets ID and what follows.

	EnqueuedAt time.Time `json:"enqueued_at"`
	// NotBefore ends the pause after a failure; zero means that the job is due.
	NotBefore time.Time `json:"not_before,omitzero"`
	// Attempt counts the leases given so far.
	Attempt int `json:"attempt,omitempty"`
	// MaxAttempts is how often the job is tried.
	MaxAttempts int `json:"max_attempts,omitempty"`
	// LastError is what the latest attempt failed with.
	LastError string `json:"last_error,omitempty"`
}

// LastAttempt reports whether the job has had all its attempts: if the present
// one fails, the job becomes a dead letter.
func (j Job) LastAttempt() bool { return j.Attempt >= j.MaxAttempts }

// Enqueued is the answer to Enqueue.
type Enqueued struct {
	ID string
	// Position is the number of waiting jobs ahead of this one.
	Position int
	// Coalesced is set when a waiting job took this one's payload.
	Coalesced bool
	// Dropped is the job that was dropped to make room, if any.
	Dropped *Job
}

// Outcome is how a leased job ended.
type Outcome int

const (
	// Done removes the job.
	Done Outcome = iota
	// Retry makes it wait for Settlement.Pause. After the last attempt it makes
	// a dead letter.
	Retry
	// Dead makes it a dead letter.
	Dead
	// Release gives it back untried: the attempt does not count.
	Release
)

// Settlement ends a lease.
type Settlement struct {
	Outcome Outcome
	Pause   time.Duration // at most two hours
	Error   string
}

// Stats counts the jobs of a queue.
type Stats struct {
	KindStats
	ByKind map[string]KindStats
}

// KindStats counts the jobs of one kind.
type KindStats struct {
	Waiting int
	Running int
	Dead    int
	// Dropped counts the jobs dropped since the queue was opened.
	Dropped int
}

// Queue is a durable queue. An acknowledged Enqueue survives the process.
// Implementations are safe for concurrent use and pass workertest.
type Queue interface {
	// Enqueue adds a job, or coalesces it into a waiting one. ErrQueueFull.
	Enqueue(ctx context.Context, job Job) (Enqueued, error)
	// Lease hands out the first due job of the kinds: of the highest priority,
	// of the group served longest ago, the oldest. ErrNoJob.
	Lease(ctx context.Context, kinds []string) (Job, error)
	// Settle ends the lease of the job with the id. ErrNotLeased.
	Settle(ctx context.Context, id string, s Settlement) error
	// Changed returns a channel that receives after a job was added or became
	// available again, and the time until the next pause ends (negative: no job
	// pauses). Receives may be coalesced. A queue feeds one pool: the channel is
	// for one receiver.
	Changed() (<-chan struct{}, time.Duration)
	// Dead returns the dead letters, oldest first.
	Dead(ctx context.Context) ([]Job, error)
	// Requeue lets a dead letter wait again with all its attempts. If a job of its
	// kind and key waits or runs, the letter is removed: the newer job stands for
	// both. ErrUnknownJob.
	Requeue(ctx context.Context, id string) error
	// Stats counts the jobs.
	Stats() Stats
}

// Handler does the work of one kind of job. It returns nil when the job is
// done, an error made by Permanent when trying again cannot help, and any other
// error to be retried. It must return soon after ctx ends.
type Handler func(ctx context.Context, job Job) error
