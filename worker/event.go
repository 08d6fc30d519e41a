package worker

import "time"

// EventType says what happened to a job in a pool.
type EventType int

// The types of events. Started comes first; one of the others ends it.
const (
	Started EventType = iota
	// Succeeded: the handler returned nil and that was written down.
	Succeeded
	// Retried: it failed and waits until Event.NotBefore.
	Retried
	// Died: it failed and is a dead letter now.
	Died
	// Released: the pool was stopped; the attempt does not count.
	Released
	// Lost: the lease ran out; someone else may have the job.
	Lost
	// Unsettled: the queue could not write down how the job ended. It will be
	// given back when its lease runs out.
	Unsettled
	// LeaseFailed: the queue could not hand out a job. Event.Job is empty.
	LeaseFailed
)

// String returns the type in words, as it stands in logs.
func (t EventType) String() string {
	switch t {
	case Started:
		return "started"
	case Succeeded:
		return "succeeded"
	case Retried:
		return "retried"
	case Died:
		return "died"
	case Released:
		return "released"
	case Lost:
		return "lease lost"
	case Unsettled:
		return "unsettled"
	case LeaseFailed:
		return "lease failed"
	}
	return "unknown"
}

// Event is one thing that happened to a job in a pool.
type Event struct {
	Type EventType
	Job  Job
	At   time.Time
	// Err is what the handler, or the queue, failed with.
	Err error
	// Took is how long the handler ran.
	Took time.Duration
	// NotBefore is when a retried job is tried again.
	NotBefore time.Time
}
