package worker

import (
	"context"
	"runtime"
	"sync"
	"time"
)

const (
	// linger is how long after a request the next one is expected: who asks, asks again.
	linger = 50 * time.Millisecond
	// pause is how far apart pieces of background work begin while somebody asks, so
	// that it goes on however many ask.
	pause = 5 * time.Millisecond
	// longest is how long a request counts as one that somebody waits for: streams stay
	// open for hours.
	longest = 2 * time.Second
)

// Gate keeps background work out of the way of requests. While nobody asks, pieces of
// work run on all processors. While somebody does, and a moment longer, one processor at
// least is left free and one piece begins every 5 ms: Go has no priorities, and a
// request that must wait for a processor waits 10 ms for each goroutine that it wakes.
// What a piece waits for, such as a commit, should not be part of it.
//
// A nil Gate lets everything pass. A Gate is safe for concurrent use.
type Gate struct {
	mu      sync.Mutex // guards what follows
	asking  int        // requests under way
	asked   time.Time  // when the last one ended
	running int        // pieces of work
	began   time.Time  // when the last one did
	// room is closed, and made anew, when a piece ends.
	room chan struct{}
}

// NewGate returns an open gate.
func NewGate() *Gate { return &Gate{room: make(chan struct{})} }

// Ask notes that a request has begun. The caller calls done when it has ended.
func (g *Gate) Ask() (done func()) {
	if g == nil {
		return func() {}
	}
	g.mu.Lock()
	g.asking++
	g.mu.Unlock()
	end := sync.OnceFunc(func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.asking--
		g.asked = time.Now()
	})
	timer := time.AfterFunc(longest, end)
	return func() {
		timer.Stop()
		end()
	}
}

// Do runs a piece of background work, of some milliseconds at best, when there is room
// for it. It returns the work's error, or ctx's when that ends first.
func (g *Gate) Do(ctx context.Context, work func() error) error {
	if g == nil {
		return work()
	}
	for {
		room, wait := g.enter(time.Now())
		if room == nil {
			break
		}
		timer := time.NewTimer(wait)
		select {
		case <-room:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
		timer.Stop()
	}
	defer g.leave()
	return work()
}

// enter lets a piece begin, or returns what to wait for, and how long at most before
// it is worth another look.
func (g *Gate) enter(now time.Time) (room <-chan struct{}, wait time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	most, wait := runtime.GOMAXPROCS(0), time.Duration(0)
	if g.asking > 0 || now.Sub(g.asked) < linger {
		most, wait = max(most-1, 1), pause-now.Sub(g.began)
	}
	if g.running < most && wait <= 0 {
		g.running++
		g.began = now
		return nil, 0
	}
	return g.room, max(wait, time.Millisecond)
}

func (g *Gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running--
	close(g.room)
	g.room = make(chan struct{})
}
