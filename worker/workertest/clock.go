package workertest

import (
	"sync"
	"time"
)

// Clock stands still until Advance moves it.
type Clock struct {
	mu  sync.Mutex // guards now
	now time.Time
}

// NewClock returns a clock that stands at a fixed noon.
func NewClock() *Clock {
	return &Clock{now: time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)}
}

// Now returns the time at which the clock stands.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
