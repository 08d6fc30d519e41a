package store

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/recalld/recalld/internal/memory"
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

// Compactions wait while the indexes are loaded or saved, and not afterwards, whatever became
// of it.
func TestGateHoldsCompactionsWhileCallersWait(t *testing.T) {
	s := open(t, Options{})
	r, d := lesson("l-1", "a lesson")
	put(t, s, r, d)
	broken := errors.New("broken")
	for _, result := range []error{broken, nil} {
		loaded, saved := false, false
		loader := readAll()
		loader.Record = func(memory.Record) error {
			loaded, _ = theGate.held()
			return result
		}
		_, err := s.Load(t.Context(), loader)
		if !errors.Is(err, result) || !loaded {
			t.Errorf("load: %v, compactions held %v", err, loaded)
		}
		err = s.SaveIndexes(t.Context(), func(io.Writer) error {
			saved, _ = theGate.held()
			return result
		})
		if !errors.Is(err, result) || !saved {
			t.Errorf("save: %v, compactions held %v", err, saved)
		}
		if held, _ := theGate.held(); held {
			t.Errorf("compactions are held after %v", result)
		}
	}
}
