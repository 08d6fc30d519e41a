package ollama

import (
	"context"
	"sync"
	"time"
)

// pace decides how many requests are in flight and how large they are. It
// raises the number by one in as many successes as there are requests, and
// cuts it when the server fails or takes far longer for a byte than it can
// (AIMD: Chiu and Jain, "Analysis of the Increase and Decrease Algorithms for
// Congestion Avoidance in Computer Networks", 1989).
type pace struct {
	mu       sync.Mutex // guards all below
	max      float64
	limit    float64 // requests allowed at a time, at least 1
	inFlight int
	waiting  []chan struct{} // each is closed when its turn has come
	maxBatch int
	batch    int     // inputs allowed in a request, at least 1
	base     float64 // ns a byte at the server's best, rising slowly; 0 is unknown
}

const (
	// slow is how many times the best latency is taken for congestion. Up to
	// it, a queue at the server only hides the way there.
	slow = 3
	// overhead is added to a request's bytes, for what it costs by itself.
	overhead = 512
)

func newPace(maxRequests, maxBatch int) *pace {
	return &pace{max: float64(maxRequests), limit: 1, maxBatch: maxBatch, batch: maxBatch}
}

// acquire waits for a place. It returns ctx's error when that ends first.
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
	// The turn came in the same moment: it is the next one's.
	p.inFlight--
	p.admit()
	return ctx.Err()
}

// outcome of a request, for the pace.
type outcome int

const (
	answered outcome = iota
	overloaded
	timedOut
	neither // the caller went, or the text was bad
)

// release gives the place back and learns from how the request went.
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
			p.base *= 1.01 // a server that got slower for good is believed in time
		}
		if cost > slow*p.base {
			p.limit = max(1, p.limit*0.75)
		} else {
			p.limit = min(p.max, p.limit+1/p.limit)
		}
		p.batch = min(p.maxBatch, p.batch+1)
	case timedOut:
		// The next try is to be one that can be done in time.
		p.batch = max(1, p.batch/2)
		p.limit = max(1, p.limit/2)
	case overloaded:
		p.limit = max(1, p.limit/2)
	}
	p.admit()
}

// admit lets those in that there is room for. The caller holds mu.
func (p *pace) admit() {
	for len(p.waiting) > 0 && p.inFlight < int(p.limit) {
		p.inFlight++
		close(p.waiting[0])
		p.waiting = p.waiting[1:]
	}
}

// batchSize is how many inputs a request may have now.
func (p *pace) batchSize() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.batch
}
