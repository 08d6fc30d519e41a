package vector

import (
	"container/list"
	"context"
	"crypto/sha256"
	"sync"
)

// EmbedFunc turns a query into its vector. It returns ctx's error when that
// ends first.
type EmbedFunc func(ctx context.Context, text string) ([]float32, error)

// queryCache remembers the vectors of the queries asked last, and embeds a query
// once however many ask it at the same time. Agents ask in bursts: the same
// words for lessons, steps and code, and again at the next turn.
type queryCache struct {
	embed EmbedFunc
	dim   int
	size  int

	mu sync.Mutex // guards all below
	// recent holds *cached, the last used first.
	recent *list.List
	places map[queryKey]*list.Element
	// running are the embeddings that somebody is waiting for.
	running map[queryKey]*flight
}

// queryKey is a hash of the text, so that long queries take no room.
type queryKey = [sha256.Size]byte

type cached struct {
	key queryKey
	vec []float32
}

// flight is one embedding under way. It is run by the first who asked.
type flight struct {
	done chan struct{} // closed when the fields below are set
	vec  []float32
	err  error
	// abandoned is set when the runner's own context ended, which says nothing
	// to the others.
	abandoned bool
}

func newQueryCache(embed EmbedFunc, dim, size int) *queryCache {
	return &queryCache{
		embed:   embed,
		dim:     dim,
		size:    size,
		recent:  list.New(),
		places:  make(map[queryKey]*list.Element),
		running: make(map[queryKey]*flight),
	}
}

// vector returns the vector of text, which the caller must not write to.
// Failures are not remembered.
func (c *queryCache) vector(ctx context.Context, text string) ([]float32, error) {
	key := sha256.Sum256([]byte(text))
	for {
		c.mu.Lock()
		if place, ok := c.places[key]; ok {
			c.recent.MoveToFront(place)
			c.mu.Unlock()
			return place.Value.(*cached).vec, nil
		}
		f, joined := c.running[key]
		if !joined {
			f = &flight{done: make(chan struct{})}
			c.running[key] = f
		}
		c.mu.Unlock()

		if !joined {
			c.run(ctx, key, text, f)
			return f.vec, f.err
		}
		select {
		case <-f.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if !f.abandoned {
			return f.vec, f.err
		}
		// Whoever ran it gave up: ask again, running it ourselves if need be.
	}
}

// run embeds text and ends the flight, whatever happens to the embedder.
func (c *queryCache) run(ctx context.Context, key queryKey, text string, f *flight) {
	f.abandoned = true // unless we get as far as an answer
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.running, key)
		if f.vec != nil {
			c.remember(key, f.vec)
		}
		close(f.done)
	}()
	vec, err := c.embed(ctx, text)
	if err == nil {
		err = Check(vec, c.dim)
	}
	f.abandoned = err != nil && ctx.Err() != nil
	if f.err = err; err == nil {
		f.vec = vec
	}
}

// remember must be called with c.mu held.
func (c *queryCache) remember(key queryKey, vec []float32) {
	c.places[key] = c.recent.PushFront(&cached{key, vec})
	if c.recent.Len() > c.size {
		oldest := c.recent.Remove(c.recent.Back()).(*cached)
		delete(c.places, oldest.key)
	}
}
