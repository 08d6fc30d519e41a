package store_test

import (
	"github.com/recalld/recalld/internal/store"
	"github.com/recalld/recalld/worker"
	"github.com/recalld/recalld/worker/workertest"
	"testing"
)

func TestQueueConformance(t *testing.T) {
	workertest.Run(t, func(t *testing.T, setup workertest.Setup) workertest.Opened {
		dir := t.TempDir()
		var s *store.Store
		open := func(t *testing.T) worker.Queue {
			var err error
			s, err = store.Open(store.Options{Dir: dir, MemTableSize: 1 << 20, Clock: setup.Clock.Now, Queue: setup.ScheduleOptions})
			if err != nil {
				t.Fatal(err)
			}
			return s.Queue()
		}
		q := open(t)
		t.Cleanup(func() {
			if err := s.Check(); err != nil {
				t.Errorf("the store is not sound at the end of the test: %v", err)
			}
			s.Close()
		})
		return workertest.Opened{Queue: q, Reopen: func(t *testing.T) worker.Queue { s.Close(); return open(t) }}
	})
}
