package workertest

import (
	"slices"
	"sync"
	"time"

	"github.com/recalld/recalld/worker"
)

// Clock stands still until it is told to move.
type Clock struct {
	mu     sync.Mutex // guards the fields below
	now    time.Time
	alarms []alarm
}

type alarm struct {
	at time.Time
	ch chan time.Time
}

var _ worker.Clock = (*Clock)(nil)

// NewClock returns a clock that stands at noon of some day.
func NewClock() *Clock {
	return &Clock{now: time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)}
}

// Now returns the time at which the clock stands.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// After returns a channel that receives once the clock was moved by d.
func (c *Clock) After(d time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := alarm{at: c.now.Add(d), ch: make(chan time.Time, 1)}
	if d <= 0 {
		a.ch <- c.now
		return a.ch
	}
	c.alarms = append(c.alarms, a)
	return a.ch
}

// Advance moves the clock and rings the alarms that are due.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	c.alarms = slices.DeleteFunc(c.alarms, func(a alarm) bool {
		if a.at.After(c.now) {
			return false
		}
		a.ch <- c.now
		return true
	})
}
