package ollama

import (
	"context"
	"sync"
	"time"
)

// pace decides how many requests are in flight and how large they are. After as many
// successes as there are requests it raises the number by one, and it lowers the number
// when the server fails or takes far longer per byte than at its best (AIMD: Chiu and Jain,
// "Analysis of the Increase and Decrease Algorithms for Congestion Avoidance in Computer
// Networks", 1989).
type pace struct {
	mu       sync.Mutex // guards all below
	max      float64
	limit    float64 // requests allowed at a time, at least 1
	inFlight int
	waiting  []chan struct{} // each is closed when its turn has come
	maxBatch int
	batch    int     // inputs allowed in a request, at least 1
	base     float64 // ns per byte at the server's best, rising slowly; 0 is unknown
}

const (
	// slow is the multiple of the best latency that counts as congestion. Below it, a queue
	// at the server only hides network latency.
	slow = 3
	// overhead is added to a request's bytes, for its fixed cost.
	overhead = 512
)

func newPace(maxRequests, maxBatch int) *pace {
	return &pace{max: float64(maxRequests), limit: 1, maxBatch: maxBatch, batch: maxBatch}
}

// acquire waits for a slot. It returns ctx's error if ctx ends first.
func (p *pace) acquire(ctx context.Context) error {
	p.mu.Lock()
	if len(p.waiting) == 0 && p.inFlight < int(p.limit) {
		p.inFlight++
		p.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	p.waiting = append(p.waiting, turn)
	p.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, w := range p.waiting {
		if w == turn {
			p.waiting = append(p.waiting[:i], p.waiting[i+1:]...)
			return ctx.Err()
		}
	}
	// The slot was granted at the same moment: pass it on.
	p.inFlight--
	p.admit()
	return ctx.Err()
}

// outcome is the result of a request, for the pace.
type outcome int

const (
	answered outcome = iota
	overloaded
	timedOut
	neither // the caller gave up, or the text was bad
)

// release returns the slot and learns from the outcome of the request.
func (p *pace) release(o outcome, took time.Duration, bytes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inFlight--
	switch o {
	case answered:
		cost := float64(took) / float64(bytes+overhead)
		if p.base == 0 || cost < p.base {
			p.base = cost
		} else {
			p.base *= 1.01 // so that a permanently slower server is accepted in time
		}
		if cost > slow*p.base {
			p.limit = max(1, p.limit*0.75)
		} else {
			p.limit = min(p.max, p.limit+1/p.limit)
		}
		p.batch = min(p.maxBatch, p.batch+1)
	case timedOut:
		// The next try must be small enough to finish in time.
		p.batch = max(1, p.batch/2)
		p.limit = max(1, p.limit/2)
	case overloaded:
		p.limit = max(1, p.limit/2)
	}
	p.admit()
}

// admit grants free slots to waiting requests. The caller holds mu.
func (p *pace) admit() {
	for len(p.waiting) > 0 && p.inFlight < int(p.limit) {
		p.inFlight++
		close(p.waiting[0])
		p.waiting = p.waiting[1:]
	}
}

// batchSize is the most inputs in a request now.
func (p *pace) batchSize() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.batch
}
