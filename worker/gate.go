package worker

import (
	"context"
	"runtime"
	"sync"
	"time"
)

const (
	// linger is how long after a request the next one is expected.
	linger = 50 * time.Millisecond
	// While requests are served, no piece of work starts once those of a period took their
	// share of it: so work continues under any load.
	period = 5 * time.Millisecond
	share  = time.Millisecond
	// holdFor is how long a piece waits before it asks again whether it is held.
	holdFor = 100 * time.Millisecond
	// longest is how long a request counts as one that a client waits for: streams
	// stay open for hours.
	longest = 2 * time.Second
	// pause is how long after a request work may begin that takes long.
	pause = 2 * time.Second
)

// Gate keeps background work out of the way of requests. While there are no requests,
// pieces of work run on all processors. During a request and for 50 ms after it, one
// processor is left free, and pieces start until they took 1 ms of every 5: Go has no
// priorities, and a request that must wait for a processor waits 10 ms for each goroutine
// that it wakes. A piece should not include waiting, such as for a commit.
//
// A nil Gate lets everything pass. A Gate is safe for concurrent use.
type Gate struct {
	// Hold, if set, says that no piece may start now, for want of memory for instance. It
	// is asked again every holdFor. It is set before the gate is used.
	Hold func() bool

	mu      sync.Mutex // guards the fields below
	asking  int        // requests being served
	asked   time.Time  // when the last request ended
	running int        // pieces of work
	// began is when the present period began, and worked is the time of the pieces that
	// ended in it.
	began  time.Time
	worked time.Duration
	// room is closed and replaced when a piece ends.
	room chan struct{}
}

// NewGate returns an open gate.
func NewGate() *Gate { return &Gate{room: make(chan struct{})} }

// Ask notes the start of a request. The caller calls done at its end.
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

// Asked reports whether a request is served, or was in the last two seconds. It is for work
// that takes long once it has begun.
func (g *Gate) Asked() bool {
	if g == nil {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.asking > 0 || time.Since(g.asked) < pause
}

// Do runs a piece of background work when there is room for it. A piece should take
// some milliseconds. Do returns the work's error, or ctx's if that ends first.
func (g *Gate) Do(ctx context.Context, work func() error) error {
	if g == nil {
		return work()
	}
	for {
		room, wait := g.enter()
		if room == nil {
			break
		}
		select {
		case <-room:
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	began := time.Now()
	defer func() { g.leave(time.Since(began)) }()
	return work()
}

// enter lets a piece start, or returns the channel to wait for and the longest wait.
func (g *Gate) enter() (room <-chan struct{}, wait time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.Hold != nil && g.Hold() {
		return g.room, holdFor
	}
	now := time.Now()
	if now.Sub(g.began) >= period {
		g.began, g.worked = now, 0
	}
	most, wait := runtime.GOMAXPROCS(0), time.Duration(0)
	if g.asking > 0 || now.Sub(g.asked) < linger {
		most = max(most-1, 1)
		if g.worked >= share {
			wait = period - now.Sub(g.began)
		}
	}
	if g.running < most && wait == 0 {
		g.running++
		return nil, 0
	}
	return g.room, max(wait, time.Millisecond)
}

// leave notes the end of a piece that took so long.
func (g *Gate) leave(took time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running--
	g.worked += took
	close(g.room)
	g.room = make(chan struct{})
}
