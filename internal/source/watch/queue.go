package watch

import (
	"sync"

	"github.com/fsnotify/fsnotify"
)

// maxQueued bounds the waiting events, about 200 bytes each. With more it is quicker to
// look at everything.
const maxQueued = 50_000

// queue holds events until they are taken. Adding one never waits.
type queue struct {
	// ready receives when there is something to take.
	ready chan struct{}

	mu     sync.Mutex // guards what follows
	events []fsnotify.Event
	lost   bool
	ended  bool
}

func newQueue() *queue { return &queue{ready: make(chan struct{}, 1)} }

func (q *queue) put(e fsnotify.Event) {
	q.change(func() {
		if q.lost = q.lost || len(q.events) == maxQueued; !q.lost {
			q.events = append(q.events, e)
		}
	})
}

// lose records that events are missing.
func (q *queue) lose() { q.change(func() { q.lost = true }) }

func (q *queue) close() { q.change(func() { q.ended = true }) }

func (q *queue) change(do func()) {
	q.mu.Lock()
	do()
	q.mu.Unlock()
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// take returns all waiting events, and whether events were lost after them.
func (q *queue) take() (events []fsnotify.Event, lost bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	events, lost = q.events, q.lost
	q.events, q.lost = nil, false
	return events, lost
}

// wait waits for events and takes them; open is false after the queue was closed.
func (q *queue) wait() (events []fsnotify.Event, lost, open bool) {
	<-q.ready
	events, lost = q.take()
	q.mu.Lock()
	defer q.mu.Unlock()
	return events, lost, !q.ended
}
