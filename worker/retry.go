package worker

import (
	"errors"
	"fmt"
	"time"
)

// LastAttempt says that the job has had all its attempts: if the present one
// fails, the job becomes a dead letter.
func (j Job) LastAttempt() bool { return j.MaxAttempts > 0 && j.Attempt >= j.MaxAttempts }

// Permanent marks an error as one that trying again cannot help: the job
// becomes a dead letter at once. Permanent(nil) is nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

type permanentError struct{ err error }

func (e *permanentError) Error() string { return e.err.Error() }
func (e *permanentError) Unwrap() error { return e.err }

// After marks an error as one after which the job is tried again no sooner than
// d from now, instead of after the pause that is due. The attempt counts.
// After(nil, d) is nil.
func After(err error, d time.Duration) error {
	if err == nil {
		return nil
	}
	return &afterError{err, d}
}

type afterError struct {
	err   error
	pause time.Duration
}

func (e *afterError) Error() string { return e.err.Error() }
func (e *afterError) Unwrap() error { return e.err }

// Backoff chooses the pause before the next attempt: uniformly between Min and
// Min·2^attempt, at most Max. This is the "full jitter" of M. Brooker,
// Exponential Backoff And Jitter, AWS Architecture Blog, 2015, which spreads
// clients that failed together better than a fixed share of jitter does, with
// Min instead of zero as its floor, so that a job which always fails never
// spins.
type Backoff struct {
	Min, Max time.Duration
}

// DefaultBackoff begins within a second or two and ends at ten minutes.
var DefaultBackoff = Backoff{Min: time.Second, Max: 10 * time.Minute}

func (b *Backoff) validate() error {
	if *b == (Backoff{}) {
		*b = DefaultBackoff
	}
	if b.Min <= 0 || b.Max < b.Min {
		return fmt.Errorf("worker: back-off from %v to %v: the pauses must be positive and in order", b.Min, b.Max)
	}
	return nil
}

// Pause returns the pause after the given attempt, counted from 1. random is
// uniform in [0, 1).
func (b Backoff) Pause(attempt int, random float64) time.Duration {
	ceiling := b.Min
	for range attempt {
		if ceiling > b.Max/2 {
			ceiling = b.Max
			break
		}
		ceiling *= 2
	}
	return b.Min + time.Duration(random*float64(ceiling-b.Min))
}

// pauseAfter is the pause that a failure asks for, or that the back-off gives.
func pauseAfter(err error, b Backoff, attempt int, random float64) time.Duration {
	if after, ok := errors.AsType[*afterError](err); ok {
		return after.pause
	}
	return b.Pause(attempt, random)
}

func isPermanent(err error) bool {
	_, ok := errors.AsType[*permanentError](err)
	return ok
}
