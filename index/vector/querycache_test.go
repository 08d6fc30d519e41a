package vector

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/recalld/recalld/index"
)

// counting is an embedder that counts its calls and, while gate is not nil,
// waits for it.
type counting struct {
	mu    sync.Mutex // guards calls
	calls map[string]int
	gate  chan struct{}
	err   error
}

func (c *counting) embed(ctx context.Context, text string) ([]float32, error) {
	c.mu.Lock()
	if c.calls == nil {
		c.calls = map[string]int{}
	}
	c.calls[text]++
	c.mu.Unlock()
	if c.gate != nil {
		select {
		case <-c.gate:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if c.err != nil {
		return nil, c.err
	}
	return toyEmbed(ctx, text)
}

func (c *counting) count(text string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls[text]
}

func TestQueryCacheForgetsTheLeastUsed(t *testing.T) {
	e := &counting{}
	c := newQueryCache(e.embed, toyDim, 2)
	for _, text := range []string{"a", "b", "a", "c", "a", "b"} {
		if _, err := c.vector(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	// c drove b out, a was in use; b came back for c.
	for text, want := range map[string]int{"a": 1, "b": 2, "c": 1} {
		if got := e.count(text); got != want {
			t.Errorf("%q was embedded %d times, want %d", text, got, want)
		}
	}
	if len(c.places) != 2 || c.recent.Len() != 2 {
		t.Errorf("%d places and %d vectors are kept, want 2", len(c.places), c.recent.Len())
	}
}

func TestQueryCacheDoesNotRememberFailures(t *testing.T) {
	failure := errors.New("out of order")
	e := &counting{err: failure}
	c := newQueryCache(e.embed, toyDim, 2)
	if _, err := c.vector(t.Context(), "a"); !errors.Is(err, failure) {
		t.Errorf("got error %v, want %v", err, failure)
	}
	e.err = nil
	if _, err := c.vector(t.Context(), "a"); err != nil {
		t.Errorf("once the embedder works again: got error %v", err)
	}
	narrow := newQueryCache(e.embed, toyDim+1, 2)
	for range 2 {
		_, err := narrow.vector(t.Context(), "a")
		if refused, ok := errors.AsType[*RefusedError](err); !ok || refused.Reason != WrongWidth {
			t.Errorf("a vector of the wrong width: got error %v, want it refused", err)
		}
	}
}

func TestQueryCacheEmbedsOnceForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &counting{gate: make(chan struct{})}
		c := newQueryCache(e.embed, toyDim, 2)
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				if vec, err := c.vector(t.Context(), "a"); err != nil || len(vec) != toyDim {
					t.Errorf("got %d numbers, error %v", len(vec), err)
				}
			})
		}
		synctest.Wait()
		close(e.gate)
		wg.Wait()
		if got := e.count("a"); got != 1 {
			t.Errorf("the text was embedded %d times, want once", got)
		}
	})
}

// A model that takes half a minute to load is asked with a quarter of a second of
// patience: it completes, for the first query after that.
func TestQueryCacheOutlivesThoseWhoAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &counting{gate: make(chan struct{})}
		c := newQueryCache(e.embed, toyDim, 2)
		for range 5 {
			ctx, cancel := context.WithTimeout(t.Context(), 250*time.Millisecond)
			if _, err := c.vector(ctx, "a"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("while the model loads: got error %v, want %v", err, context.DeadlineExceeded)
			}
			cancel()
		}
		close(e.gate)
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if vec, err := c.vector(ctx, "a"); err != nil || len(vec) != toyDim {
			t.Errorf("once it is loaded: got %d numbers, error %v", len(vec), err)
		}
		if got := e.count("a"); got != 1 {
			t.Errorf("the text was embedded %d times, want once", got)
		}
	})
}

func TestQueryCacheGivesUpAtLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &counting{gate: make(chan struct{})}
		c := newQueryCache(e.embed, toyDim, 2)
		began := time.Now()
		if _, err := c.vector(t.Context(), "a"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got error %v, want %v", err, context.DeadlineExceeded)
		}
		if took := time.Since(began); took != flightLimit {
			t.Errorf("it took %v, want %v", took, flightLimit)
		}
	})
}

func TestQueryCacheIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &counting{gate: make(chan struct{})}
		c := newQueryCache(e.embed, toyDim, 2)
		var wg sync.WaitGroup
		for i := range maxFlights {
			wg.Go(func() {
				if _, err := c.vector(t.Context(), fmt.Sprint(i)); err != nil {
					t.Errorf("query %d: %v", i, err)
				}
			})
		}
		synctest.Wait()
		if _, err := c.vector(t.Context(), "one more"); !errors.Is(err, errBusy) {
			t.Errorf("beyond the bound: got error %v, want %v", err, errBusy)
		}
		close(e.gate)
		wg.Wait()
		if _, err := c.vector(t.Context(), "one more"); err != nil {
			t.Errorf("afterwards: got error %v", err)
		}
	})
}

// Closing a space ends what its retrievers wait for; the bubble fails the test if
// a goroutine is left.
func TestSpaceCloseEndsEmbeddings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openSpace(t, Options{Name: "toy", Dim: toyDim})
		e := &counting{gate: make(chan struct{})}
		s.Retriever(e.embed)
		c := s.caches[0]
		failed := make(chan error, 1)
		go func() {
			_, err := c.vector(t.Context(), "a")
			failed <- err
		}()
		synctest.Wait()
		s.Close()
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Errorf("the one who waited: got error %v, want %v", err, context.Canceled)
		}
		if _, err := c.vector(t.Context(), "b"); !errors.Is(err, errClosed) {
			t.Errorf("after Close: got error %v, want %v", err, errClosed)
		}
		s.Close()
	})
}

func TestQueryCacheSurvivesAPanic(t *testing.T) {
	broken := true
	c := newQueryCache(func(ctx context.Context, text string) ([]float32, error) {
		if broken {
			panic("broken embedder")
		}
		return toyEmbed(ctx, text)
	}, toyDim, 2)
	if _, err := c.vector(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "broken embedder") {
		t.Errorf("a panic of the embedder: got error %v, want one that mentions it", err)
	}
	broken = false
	if _, err := c.vector(t.Context(), "a"); err != nil {
		t.Errorf("after a panic: got error %v", err)
	}
}

func TestRetrieverAnswer(t *testing.T) {
	s := openSpace(t, Options{Name: "toy", Dim: toyDim})
	e := &counting{}
	r := s.Retriever(e.embed)
	if r.Name() != "vector/toy" {
		t.Errorf("the name is %q, want vector/toy", r.Name())
	}
	if _, err := r.Retrieve(t.Context(), index.Query{Text: "a", Limit: 5}); !errors.Is(err, index.ErrNotReady) {
		t.Errorf("an empty space: got error %v, want ErrNotReady", err)
	}
	for doc := range uint32(50) {
		vec, _ := toyEmbed(t.Context(), fmt.Sprint("word", doc))
		if err := s.Upsert(doc, vec); err != nil {
			t.Fatal(err)
		}
	}
	res, err := r.Retrieve(t.Context(), index.Query{Text: "word7", Limit: 5})
	if err != nil {
		t.Fatal(err)
	}
	if res.Hits[0].Doc != 7 || res.Hits[0].Score < .999 || res.Best != 1 || res.Searched != 50 {
		t.Errorf("got %+v, want document 7 with a cosine of 1, Best 1 and 50 searched", res)
	}
	if res.Mean < -.2 || res.Mean > .2 || res.Deviation < .1 || res.Deviation > .3 {
		t.Errorf("mean %v and deviation %v are not typical of unrelated words", res.Mean, res.Deviation)
	}
	if e.count("a") != 0 || e.count("word7") != 1 {
		t.Errorf("embedded %v, want only what had to be", e.calls)
	}
}
