package vector

import (
	"context"
	"errors"
	"fmt"
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

// The one who embeds gives up, those who wait for it do not: one of them takes
// over. And one who only waits can give up alone.
func TestQueryCacheSurvivesTheRunnersEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &counting{gate: make(chan struct{})}
		c := newQueryCache(e.embed, toyDim, 2)
		var wg sync.WaitGroup
		ask := func(limit time.Duration, want error) {
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			wg.Go(func() {
				defer cancel()
				if _, err := c.vector(ctx, "a"); !errors.Is(err, want) {
					t.Errorf("asking with a limit of %v: got error %v, want %v", limit, err, want)
				}
			})
			synctest.Wait()
		}
		ask(2*time.Second, context.DeadlineExceeded) // runs
		ask(1*time.Second, context.DeadlineExceeded) // waits, gives up first
		ask(time.Hour, nil)
		ask(time.Hour, nil)
		time.Sleep(3 * time.Second) // of the fake clock
		synctest.Wait()
		close(e.gate)
		wg.Wait()
		if got := e.count("a"); got != 2 {
			t.Errorf("the text was embedded %d times, want 2: one that was given up and one", got)
		}
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
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		c.vector(t.Context(), "a")
	}()
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
		t.Errorf("mean %v and deviation %v are not those of unrelated words", res.Mean, res.Deviation)
	}
	if e.count("a") != 0 || e.count("word7") != 1 {
		t.Errorf("embedded %v, want only what had to be", e.calls)
	}
}
