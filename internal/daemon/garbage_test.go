package daemon

import (
	"errors"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestGarbage: work that takes long may leave more garbage, until the last such work ends;
// short work changes nothing.
func TestGarbage(t *testing.T) {
	t.Setenv("GOGC", "")
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercentLong))
	percent := func() int {
		now := debug.SetGCPercent(gcPercent)
		debug.SetGCPercent(now)
		return now
	}
	synctest.Test(t, func(t *testing.T) {
		var held atomic.Uint64
		var freed atomic.Int32
		g := garbage{held: held.Load, free: func() { freed.Add(1) }, waited: 1} // as while loading
		of := func(kind *int, work func() error) error {
			defer g.during(kind)()
			return work()
		}
		during := func(work func() error) error { return of(&g.waited, work) }
		g.end(&g.waited)
		if got := percent(); got != gcPercent {
			t.Errorf("after loading: %d %%, want %d", got, gcPercent)
		}
		if n := freed.Load(); n != 1 {
			t.Errorf("after loading, memory was given back %d times, want once", n)
		}
		fault := errors.New("a fault")
		if err := during(func() error {
			time.Sleep(longWork / 2)
			if got := percent(); got != gcPercent {
				t.Errorf("short work: %d %%, want %d", got, gcPercent)
			}
			return fault
		}); !errors.Is(err, fault) {
			t.Errorf("the error of work: %v", err)
		}
		func() {
			defer func() { _ = recover() }()
			_ = during(func() error { time.Sleep(2 * longWork); panic("a fault") })
		}()
		if got := percent(); got != gcPercent {
			t.Errorf("after a panic: %d %%, want %d", got, gcPercent)
		}
		go func() { _ = of(&g.jobs, func() error { time.Sleep(4 * longWork); return nil }) }()
		for _, mb := range []uint64{10, 200, 10} {
			held.Store(mb << 20)
			time.Sleep(longWork + longWork/4)
			synctest.Wait()
			if got, want := percent(), jobPercent(mb<<20); got != want {
				t.Errorf("%d MB are held: %d %%, want %d", mb, got, want)
			}
		}
		time.Sleep(longWork)
		for _, took := range []time.Duration{2 * longWork, 4 * longWork} {
			go func() { _ = during(func() error { time.Sleep(took); return nil }) }()
		}
		for _, want := range []int{gcPercentLong, gcPercentLong, gcPercent} { // after 1.5, 3 and 4.5
			time.Sleep(longWork * 3 / 2)
			synctest.Wait()
			if got := percent(); got != want {
				t.Errorf("long work: %d %%, want %d", got, want)
			}
		}
	})
}

// TestJobPercent: a job may leave as much garbage as is held, up to a bound that grows
// with what is held.
func TestJobPercent(t *testing.T) {
	for held, want := range map[uint64]int{0: 100, 10 << 20: 100, 128 << 20: 100, 160 << 20: 80, 256 << 20: 50, 2 << 30: 50} {
		if got := jobPercent(held); got != want {
			t.Errorf("%d MB are held: %d %%, want %d", held>>20, got, want)
		}
	}
}
