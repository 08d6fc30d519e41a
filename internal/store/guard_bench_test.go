package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// BenchmarkChecks measures what the guard costs a commit: the looks at the disk, the
// folder and the log, beside whole commits of one lesson on the same disk.
func BenchmarkChecks(b *testing.B) {
	s, err := Open(Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	}()
	if err := s.OpenCollection(b.Context(), testSpace, nil); err != nil {
		b.Fatal(err)
	}
	var checks, commits time.Duration
	n := 0
	for b.Loop() {
		r, d := lesson(fmt.Sprintf("l-%d", n), fmt.Sprintf("the lesson number %d", n))
		n++
		start := time.Now()
		if _, err := s.Commit(b.Context(), memory.Batch{Docs: []memory.Doc{d}, Records: []memory.Record{r}}); err != nil {
			b.Fatal(err)
		}
		commits += time.Since(start)
		failed := s.betweenCommits(func() {
			start := time.Now()
			if err = s.mayWrite(&group{}); err == nil {
				err = s.makeRoom(batchSize{})
			}
			if err == nil {
				err = s.checkFiles()
			}
			checks += time.Since(start)
		})
		if failed != nil || err != nil {
			b.Fatal(failed, err)
		}
	}
	b.ReportMetric(float64(checks.Microseconds())/float64(n), "µs/checks")
	b.ReportMetric(float64(checks)/float64(commits), "checks/commit")
}
