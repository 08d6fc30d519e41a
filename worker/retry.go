package worker

import (
	"errors"
	"fmt"
	"time"
)

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

func isPermanent(err error) bool {
	_, ok := errors.AsType[*permanentError](err)
	return ok
}
