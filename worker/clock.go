package worker

import "time"

// Clock tells the time and waits for it.
type Clock interface {
	Now() time.Time
	// After returns a channel that receives once d has passed.
	After(d time.Duration) <-chan time.Time
}

// SystemClock is the machine's clock.
type SystemClock struct{}

var _ Clock = SystemClock{}

// Now returns the present time.
func (SystemClock) Now() time.Time { return time.Now() }

// After waits for d.
func (SystemClock) After(d time.Duration) <-chan time.Time { return time.After(d) }
