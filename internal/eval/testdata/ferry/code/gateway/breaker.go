package gateway

import (
	"errors"
	"sync"
	"time"
)

// ErrOpen is returned while calls are refused.
var ErrOpen = errors.New("payment provider is down, not asked")

// Breaker stops calling a provider that fails again and again.
type Breaker struct {
	mu       sync.Mutex
	failures int
	until    time.Time
}

// Allow says whether a call may be made now. After the pause one trial call is let through.
func (b *Breaker) Allow(now time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures < 5 || now.After(b.until) {
		b.until = now.Add(20 * time.Second)
		return nil
	}
	return ErrOpen
}

// Report notes how a call ended.
func (b *Breaker) Report(ok bool, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if ok {
		b.failures = 0
		return
	}
	if b.failures++; b.failures == 5 {
		b.until = now.Add(20 * time.Second)
	}
}
