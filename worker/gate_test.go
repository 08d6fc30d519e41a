package worker

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestGateYields: during requests, work starts until it took a millisecond of five; soon
// after the last request it runs freely.
func TestGateYields(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate()
		var begun atomic.Int32
		work := func() {
			for range 4_000 {
				err := g.Do(t.Context(), func() error {
					begun.Add(1)
					time.Sleep(300 * time.Microsecond)
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		}
		time.Sleep(time.Second)
		done := g.Ask()
		var workers sync.WaitGroup
		workers.Go(work)
		time.Sleep(time.Second - time.Millisecond)
		if n := begun.Load(); n < 780 || n > 800 {
			t.Errorf("%d pieces of .3 ms began in a second with a request, want four in 5 ms: 800", n)
		}
		for range 3 {
			workers.Go(work)
		}
		done()
		time.Sleep(linger)
		before := begun.Load()
		time.Sleep(100 * time.Millisecond)
		if n := int(begun.Load() - before); n < 300*min(runtime.GOMAXPROCS(0), 4) {
			t.Errorf("%d pieces of .3 ms began in 100 ms without requests, want 333 on each of %d processors", n, runtime.GOMAXPROCS(0))
		}
		workers.Wait()
	})
}

// TestGateLeavesOneFree: during requests, one processor has no piece of work.
func TestGateLeavesOneFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate()
		defer g.Ask()()
		var running, most atomic.Int32
		var workers sync.WaitGroup
		for range 2 * runtime.GOMAXPROCS(0) {
			workers.Go(func() {
				err := g.Do(t.Context(), func() error {
					for n := running.Add(1); n > most.Load(); n = running.Load() {
						most.Store(n)
					}
					time.Sleep(time.Microsecond)
					running.Add(-1)
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		workers.Wait()
		if want := max(runtime.GOMAXPROCS(0)-1, 1); int(most.Load()) != want {
			t.Errorf("%d pieces ran at once during a request, want %d", most.Load(), want)
		}
	})
}

// TestGateAsked: a request counts while it is served and for two seconds more.
func TestGateAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate()
		check := func(when string, want bool) {
			t.Helper()
			if g.Asked() != want {
				t.Errorf("%s Asked is %v, want %v", when, !want, want)
			}
		}
		check("before the first request", false)
		done := g.Ask()
		check("during a request", true)
		time.Sleep(time.Second)
		done()
		time.Sleep(pause - time.Millisecond)
		check("soon after a request", true)
		time.Sleep(time.Millisecond)
		check("two seconds after a request", false)
	})
}

// TestGateForgetsStreams: a request that does not end holds work up for 2 s only.
func TestGateForgetsStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate()
		done := g.Ask()
		time.Sleep(longest + linger)
		start := time.Now()
		for range 10 {
			if err := g.Do(t.Context(), func() error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(start); took > 0 {
			t.Errorf("work waited %v for a stream, want not at all", took)
		}
		done()
		done()
		if g.asking != 0 {
			t.Errorf("%d requests are under way, want none", g.asking)
		}
	})
}

// TestGateEnds: waiting for room ends with its context.
func TestGateEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate()
		defer g.Ask()()
		stop := make(chan struct{})
		go g.Do(context.Background(), func() error { <-stop; return nil })
		synctest.Wait()
		g.running = runtime.GOMAXPROCS(0)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := g.Do(ctx, func() error { return nil }); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("waiting for room ended with %v, want the deadline", err)
		}
		close(stop)
		synctest.Wait()
		var open *Gate
		if err := open.Do(t.Context(), func() error { return nil }); err != nil {
			t.Errorf("no gate at all: %v", err)
		}
	})
}
