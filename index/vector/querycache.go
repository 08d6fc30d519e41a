package vector

import (
	"container/list"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"
)

// EmbedFunc turns a query into its vector. It returns ctx's error if ctx ends first.
type EmbedFunc func(ctx context.Context, text string) ([]float32, error)

const (
	// flightLimit is how long one embedding may take. It is enough for a server to load a
	// model of some gigabytes from a slow disk.
	flightLimit = 2 * time.Minute
	// maxFlights is how many texts are embedded at once, while all of them wait for such a
	// load.
	maxFlights = 64
)

var (
	errClosed = errors.New("the collection is closed")
	errBusy   = fmt.Errorf("%d other queries are being embedded", maxFlights)
)

// queryCache remembers the vectors of the most recent queries, and embeds concurrent equal
// queries once. Agents query in bursts: the same words for lessons, steps and code, and
// again at the next turn.
//
// An embedding continues when its callers have given up. Otherwise every query would cancel
// the loading of a model, and the model would never become available.
type queryCache struct {
	embed EmbedFunc
	dim   int
	size  int

	// ctx ends with close; flights are the goroutines that embed.
	ctx     context.Context
	cancel  context.CancelFunc
	flights sync.WaitGroup

	mu sync.Mutex // guards all below
	// recent holds *cached, the last used first.
	recent *list.List
	places map[queryKey]*list.Element
	// running are the embeddings in progress.
	running map[queryKey]*flight
}

// queryKey is a hash of the text, so that long queries take no memory.
type queryKey = [sha256.Size]byte

type cached struct {
	key queryKey
	vec []float32
}

// flight is one embedding in progress.
type flight struct {
	done chan struct{} // closed when the fields below are set
	vec  []float32
	err  error
}

func newQueryCache(embed EmbedFunc, dim, size int) *queryCache {
	c := &queryCache{
		embed:   embed,
		dim:     dim,
		size:    size,
		recent:  list.New(),
		places:  make(map[queryKey]*list.Element),
		running: make(map[queryKey]*flight),
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// close cancels the embeddings in progress and waits for them.
func (c *queryCache) close() {
	c.mu.Lock() // no flight begins afterwards
	c.cancel()
	c.mu.Unlock()
	c.flights.Wait()
}

// vector returns the vector of text, which the caller must not write to. Errors are not
// cached.
func (c *queryCache) vector(ctx context.Context, text string) ([]float32, error) {
	vec, f, err := c.flight(text)
	if f == nil {
		return vec, err
	}
	select {
	case <-f.done:
		return f.vec, f.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// flight returns the cached vector of text, or else the embedding in progress or a new one.
func (c *queryCache) flight(text string) ([]float32, *flight, error) {
	key := sha256.Sum256([]byte(text))
	c.mu.Lock()
	defer c.mu.Unlock()
	if place, ok := c.places[key]; ok {
		c.recent.MoveToFront(place)
		return place.Value.(*cached).vec, nil, nil
	}
	if f, ok := c.running[key]; ok {
		return nil, f, nil
	}
	switch {
	case c.ctx.Err() != nil:
		return nil, nil, errClosed
	case len(c.running) == maxFlights:
		return nil, nil, errBusy
	}
	f := &flight{done: make(chan struct{})}
	c.running[key] = f
	c.flights.Go(func() { c.run(key, text, f) })
	return nil, f, nil
}

// run embeds text and ends the flight, even if the embedder panics.
func (c *queryCache) run(key queryKey, text string, f *flight) {
	f.vec, f.err = c.embedOne(text)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.running, key)
	if f.err == nil {
		c.remember(key, f.vec)
	}
	close(f.done)
}

func (c *queryCache) embedOne(text string) (vec []float32, err error) {
	ctx, cancel := context.WithTimeout(c.ctx, flightLimit)
	defer cancel()
	defer func() {
		// This goroutine has no caller that could recover for those who wait.
		if broken := recover(); broken != nil {
			vec, err = nil, fmt.Errorf("the embedder panicked: %v", broken)
		}
	}()
	if vec, err = c.embed(ctx, text); err != nil {
		return nil, err
	}
	if err := Check(vec, c.dim); err != nil {
		return nil, err
	}
	return vec, nil
}

// remember must be called with c.mu held.
func (c *queryCache) remember(key queryKey, vec []float32) {
	c.places[key] = c.recent.PushFront(&cached{key, vec})
	if c.recent.Len() > c.size {
		oldest := c.recent.Remove(c.recent.Back()).(*cached)
		delete(c.places, oldest.key)
	}
}
