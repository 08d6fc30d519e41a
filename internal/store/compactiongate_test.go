package store

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A compaction waits while there is no room, begins when there is, and never does in a
// store that closes without.
func TestGateHoldsCompactions(t *testing.T) {
	s := open(t, Options{NoSync: true})
	g, err := newGuard(s.opts.Dir)
	must(t, err)
	var free atomic.Int64
	g.disk = func(string) (diskState, error) { return diskState{free: free.Load()}, nil }
	theGate.add(g)
	defer theGate.remove(g)
	synctest.Test(t, func(t *testing.T) {
		// compact tells a tracer of a compaction, as Badger does, and says whether it began.
		compact := func() (began, over *atomic.Bool) {
			began, over = new(atomic.Bool), new(atomic.Bool)
			go func() {
				defer over.Store(true)
				gateProvider{}.Tracer("").Start(context.Background(), compaction)
				began.Store(true)
			}()
			time.Sleep(10 * gatePause)
			return began, over
		}
		began, _ := compact()
		if began.Load() {
			t.Error("without room a compaction began, want it to wait")
		}
		free.Store(1 << 40)
		time.Sleep(2 * gatePause)
		if !began.Load() {
			t.Error("with room again the compaction did not begin")
		}
		free.Store(0)
		g.closing = true
		if began, over := compact(); began.Load() || !over.Load() {
			t.Errorf("in a store that closes without room a compaction began (%v), want it to end (%v)", began.Load(), over.Load())
		}
	})
}
