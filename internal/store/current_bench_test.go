package store

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// BenchmarkCurrentSession asks for the current session among 4,000 that never
// ended. Goal: 1 µs, since every step asks. The ratio is to reading the sessions
// from the database, as the first question does.
func BenchmarkCurrentSession(b *testing.B) {
	s, err := Open(Options{Dir: b.TempDir(), NoSync: true})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	var batch memory.Batch
	for n := range 4000 {
		batch.Sessions = append(batch.Sessions, session(fmt.Sprintf("x-%d", n), func(x *memory.Session) {
			x.Window = ownWindow.Window
			x.CreatedAt, x.Goal = noon.Add(time.Duration(n)*time.Minute), "a goal of some words"
		}))
	}
	if _, err := s.Commit(context.Background(), batch); err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	if x, ok, err := s.CurrentSession("p-1", ownWindow); err != nil || !ok || x.ID != "x-3999" {
		b.Fatalf("the current session is %q, %v, %v; want the newest", x.ID, ok, err)
	}
	first := time.Since(start)
	for b.Loop() {
		if _, ok, err := s.CurrentSession("p-1", ownWindow); err != nil || !ok {
			b.Fatal(ok, err)
		}
	}
	b.ReportMetric(float64(first.Nanoseconds())/(float64(b.Elapsed().Nanoseconds())/float64(b.N)), "×faster-than-reading")
	b.ReportMetric(float64(first.Microseconds()), "µs-first")
}
