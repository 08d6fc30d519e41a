package ollama

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestPaceRisesAndFalls(t *testing.T) {
	p := newPace(8, 32)
	enter := func() {
		t.Helper()
		if err := p.acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for range 100 {
		enter()
		p.release(answered, time.Millisecond, 1000)
	}
	if p.limit != 8 {
		t.Errorf("after successes %v are allowed, want 8, the most", p.limit)
	}
	enter()
	p.release(overloaded, time.Millisecond, 1000)
	if p.limit != 4 || p.batch != 32 {
		t.Errorf("after an overload %v requests of %d are allowed, want 4 of 32", p.limit, p.batch)
	}
	enter()
	p.release(timedOut, time.Minute, 1000)
	if p.limit != 2 || p.batch != 16 {
		t.Errorf("after a time-out %v requests of %d are allowed, want 2 of 16", p.limit, p.batch)
	}
	for range 20 {
		enter()
		p.release(answered, 10*time.Millisecond, 1000) // ten times the best
	}
	if p.limit != 1 {
		t.Errorf("with a slow server %v are allowed, want 1", p.limit)
	}
	before := p.limit
	enter()
	p.release(neither, time.Hour, 1)
	if p.limit != before {
		t.Errorf("what says nothing about the server changed the limit to %v", p.limit)
	}
}

func TestPaceWaitsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPace(1, 1)
		if err := p.acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		order := make(chan int, 3)
		ctx, cancel := context.WithCancel(t.Context())
		for i := range 3 {
			go func() {
				c := t.Context()
				if i == 1 {
					c = ctx
				}
				if err := p.acquire(c); err != nil {
					if i != 1 || !errors.Is(err, context.Canceled) {
						t.Errorf("waiter %d: %v", i, err)
					}
					return
				}
				order <- i
				p.release(answered, time.Millisecond, 1)
			}()
			synctest.Wait() // until it is in the queue
		}
		cancel()
		synctest.Wait()
		p.release(answered, time.Millisecond, 1)
		synctest.Wait()
		if a, b := <-order, <-order; a != 0 || b != 2 {
			t.Errorf("waiters %d and %d went in this order, want 0 and 2", a, b)
		}
		if p.inFlight != 0 {
			t.Errorf("%d are in flight after all have left", p.inFlight)
		}
	})
}
