package store

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A compaction waits while there is no room, begins when there is, and ends where
// compactions are stopped without.
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
		theGate.without(func() {
			if began, over := compact(); began.Load() || !over.Load() {
				t.Errorf("while compactions are stopped without room one began (%v), want it to end (%v)", began.Load(), over.Load())
			}
		})
	})
}

// Compactions wait for requests and imports, unless level 0 is far too full, and begin when there
// are none.
func TestCompactionsYield(t *testing.T) {
	withoutOtherGuards(t)
	var asked atomic.Bool
	var looks atomic.Int32
	asked.Store(true)
	s := open(t, Options{MemTableSize: fillerTable, Asked: func() bool {
		looks.Add(1)
		return asked.Load()
	}})
	tables := func() int { return s.db.Levels()[0].NumTables }
	await := func(what string, reached func() bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !reached(); time.Sleep(gatePause) {
			if time.Now().After(end) {
				t.Fatalf("want that %s; level 0 has %d tables after a minute", what, tables())
			}
		}
	}
	w := newFiller(s)
	waiting := 0 // commits for the tables that wait
	for ; waiting < 1000 && tables() <= compactAt; waiting++ {
		w.commit(t)
	}
	await("a compaction waits", func() bool { return looks.Load() > 20 })
	if n := tables(); n <= compactAt {
		t.Errorf("while requests are served, level 0 has %d tables, want the %d that were written", n, compactAt+1)
	}
	asked.Store(false)
	s.lastImport.Store(new(time.Now()))
	if !s.yields() {
		t.Error("compactions do not wait for an import")
	}
	s.lastImport.Store(nil)
	await("tables are compacted after the last request", func() bool { return tables() < compactAt })
	asked.Store(true)
	for i := range 5 * waiting { // twice the tables at which the writer would wait for ever
		w.imports = i < 3*waiting
		w.commit(t)
	}
	await("tables are compacted during requests, too", func() bool { return tables() < yieldUntil })
	if err := s.StopCompactions(); err != nil { // though some wait
		t.Error(err)
	}
	w.check(t)
}
