package daemon

import (
	"testing"
	"time"

	"github.com/recalld/recalld/index/indextest"
)

// startLessons is what the goals for the start are stated for.
const startLessons = 100_000

// BenchmarkStart opens a store of 100,000 lessons and fills the indexes, until a question can
// be answered from all of them. It reports how long both take, and the processor time.
func BenchmarkStart(b *testing.B) {
	h := newHistory(b, startLessons, 1)
	var opened, loaded, used time.Duration
	for b.Loop() {
		b.StopTimer()
		h.close(b)
		b.StartTimer()
		begin, before := time.Now(), indextest.CPUTime()
		h.open(b)
		opened += time.Since(begin)
		begin = time.Now()
		if err := h.core.Load(b.Context()); err != nil {
			b.Fatal(err)
		}
		loaded += time.Since(begin)
		used += indextest.CPUTime() - before
		if n := h.core.Indexer.Documents(); n < startLessons {
			b.Fatalf("%d documents", n)
		}
	}
	for unit, took := range map[string]time.Duration{"open-ms": opened, "load-ms": loaded, "cpu-ms": used} {
		b.ReportMetric(took.Seconds()*1e3/float64(b.N), unit)
	}
}
