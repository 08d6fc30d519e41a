// Package worker runs jobs from a durable queue.
//
// Vocabulary. A job is an event to be handled once: index this sandbox, embed
// what is missing. Jobs with the same kind and key coalesce while they wait. A
// job is leased to one handler at a time; a lease that runs out, or a process
// that dies, gives the job back. A handler that fails is retried after a
// jittered, growing pause; after its last attempt the job becomes a dead
// letter, which can be seen and requeued. Handlers must be idempotent: a job
// may run again after it succeeded but before that was written down.
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
	// ErrLeaseLost is returned by Settle and Extend when the lease ran out and
	// the job is, or may be, someone else's.
	ErrLeaseLost = errors.New("worker: the lease was lost")
	// ErrQueueFull is returned by Enqueue when the queue is at its depth limit
	// and nothing in it may be dropped.
	ErrQueueFull = errors.New("worker: the queue is full")
	// ErrUnknownJob is returned when no dead letter has the id.
	ErrUnknownJob = errors.New("worker: no such job")
)

// Job is one unit of work.
type Job struct {
	ID string `json:"id"`
	// Kind chooses the handler.
	Kind string `json:"kind"`
	// Key coalesces: at most one waiting job exists per kind and key; a newer
	// one replaces its payload, or is joined to it (ScheduleOptions.Merge), and
	// keeps its place. Empty never coalesces.
	Key string `json:"key,omitempty"`
	// Group is what fairness is kept between, a project as a rule.
	Group string `json:"group,omitempty"`
	// Priority orders waiting jobs, higher first, older first within one.
	Priority int `json:"priority,omitempty"`
	// Droppable jobs give way, oldest first, when the queue is full.
	Droppable bool `json:"droppable,omitempty"`
	// Payload belongs to the handler.
	Payload json.RawMessage `json:"payload,omitempty"`
	// MaxAttempts is how often the job is tried; 0 is the queue's default.
	MaxAttempts int `json:"max_attempts,omitempty"`

	EnqueuedAt time.Time `json:"enqueued_at"`
	// NotBefore is when the job is due; zero is at once.
	NotBefore time.Time `json:"not_before,omitzero"`
	// Attempt counts the leases given so far.
	Attempt int `json:"attempt,omitempty"`
	// LastError is what the latest attempt failed with.
	LastError string `json:"last_error,omitempty"`
}

// Enqueued is the answer to Enqueue.
type Enqueued struct {
	ID string `json:"id"`
	// Position is the number of waiting jobs ahead of this one.
	Position int `json:"position"`
	// Coalesced says that a waiting job took this one's payload.
	Coalesced bool `json:"coalesced,omitempty"`
	// Dropped is the job that gave way, if one did.
	Dropped *Job `json:"dropped,omitempty"`
}

// Lease is a job handed to a handler until a time.
type Lease struct {
	Job   Job
	Token string
	Until time.Time
}

// Outcome is how a leased job ended.
type Outcome int

const (
	// Done removes the job.
	Done Outcome = iota
	// Retry makes it wait until Settlement.NotBefore.
	Retry
	// Dead makes it a dead letter.
	Dead
	// Release gives it back untried: the attempt does not count.
	Release
)

// Settlement ends a lease.
type Settlement struct {
	Outcome   Outcome
	NotBefore time.Time
	Error     string
}

// Queue is a durable queue. An acknowledged Enqueue survives the process.
// Implementations are safe for concurrent use and pass workertest.
type Queue interface {
	// Enqueue adds a job, or coalesces it into a waiting one. ErrQueueFull.
	Enqueue(ctx context.Context, job Job) (Enqueued, error)
	// Lease hands out the first due job of the kinds, fair between groups of
	// the same priority (the group served longest ago goes first). ErrNoJob.
	Lease(ctx context.Context, kinds []string, ttl time.Duration) (Lease, error)
	// Extend prolongs a lease. ErrLeaseLost.
	Extend(ctx context.Context, token string, ttl time.Duration) error
	// Settle ends a lease. ErrLeaseLost.
	Settle(ctx context.Context, token string, s Settlement) error
	// Changed returns a channel that receives after a job was added or became
	// available again, and the time at which the next waiting job is due or
	// the next lease runs out (zero: neither will). It may be past. Receives
	// may be coalesced, and are for one waiter: a queue feeds one pool.
	Changed() (<-chan struct{}, time.Time)
}

// Handler does the work of one kind of job. It returns nil when the job is
// done, an error made by Permanent when trying again cannot help, an error made
// by After to choose the pause, and any other error to be retried. It must
// return soon after ctx ends.
type Handler func(ctx context.Context, job Job) error
