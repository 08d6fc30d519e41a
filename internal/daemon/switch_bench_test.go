package daemon

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/embedder/builtin"
	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/memory"
)

// renamed is the built-in model as if it were another: as fast as the real one, and in
// a collection of its own.
type renamed struct{ embedder.Embedder }

func (r renamed) Model(ctx context.Context) (embedder.Model, error) {
	m, err := r.Embedder.Model(ctx)
	m.Name = "builtin/renamed"
	return m, err
}

// BenchmarkSwitch opens a store of 20,000 lessons and a repository of 3,000 files with
// another built-in model than it was written with, and embeds all of it, while somebody
// asks. It reports how long the load and the switch take, what questions take meanwhile
// and what they take with nothing beside them, and the most memory that is resident.
func BenchmarkSwitch(b *testing.B) {
	const lessons, files = 20_000, 3000
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	models := []embedder.Embedder{renamed{builtin.New()}, builtin.New()}
	folder, root := b.TempDir(), writeLong(b, files)
	open := func(model embedder.Embedder) *Core {
		core, err := OpenCore(b.Context(), CoreOptions{Dir: folder, Config: config.Default(), Builtin: model})
		if err != nil {
			b.Fatal(err)
		}
		if err := core.Load(b.Context()); err != nil {
			b.Fatal(err)
		}
		return core
	}
	core := open(models[0])
	words := newLessons()
	about := b.TempDir()
	together(64, lessons, new([]time.Duration), func() error {
		_, err := core.Ingest.Remember(b.Context(), words.next(about))
		return err
	}, b)
	indexTree(b, core, root, config.Default().Index)
	if err := core.Close(); err != nil {
		b.Fatal(err)
	}

	ask := func(times *[]time.Duration) {
		began := time.Now()
		req := memory.RecallRequest{Query: words.next(about).Lesson, Caller: memory.Caller{Dir: about}}
		if _, err := core.Recall.Recall(b.Context(), req); err != nil {
			b.Errorf("recall: %v", err)
		}
		*times = append(*times, time.Since(began))
	}
	var loads, switches, asked, alone []time.Duration
	var rest, most int64
	turn := 0
	for b.Loop() {
		turn++
		began := time.Now()
		core = open(models[turn%2])
		loads = append(loads, time.Since(began))
		debug.FreeOSMemory()
		rest = max(rest, residentBytes())
		done := make(chan struct{})
		var asking sync.WaitGroup
		asking.Go(func() {
			for {
				select {
				case <-done:
					return
				case <-time.After(20 * time.Millisecond): // somebody, not a load test
				}
				ask(&asked)
				most = max(most, residentBytes())
			}
		})
		began = time.Now()
		for _, job := range core.Indexer.BackfillJobs() {
			if err := core.Indexer.Embed(b.Context(), job); err != nil {
				b.Fatal(err)
			}
		}
		switches = append(switches, time.Since(began))
		close(done)
		asking.Wait()
		for range 100 {
			ask(&alone)
		}
		collections, documents := core.Indexer.Collections(), core.Indexer.Documents()
		if len(collections) != 1 || collections[0].State != memory.CollectionReady || collections[0].Embedded != documents {
			b.Fatalf("after the switch: %+v of %d documents", collections, documents)
		}
		b.ReportMetric(float64(documents), "documents")
		if err := core.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(median(loads).Seconds(), "s-load")
	b.ReportMetric(median(switches).Seconds(), "s-switch")
	for name, times := range map[string][]time.Duration{"": asked, "alone-": alone} {
		slices.Sort(times)
		b.ReportMetric(times[len(times)/2].Seconds()*1e3, name+"p50-ms")
		b.ReportMetric(times[len(times)*99/100].Seconds()*1e3, name+"p99-ms")
	}
	b.ReportMetric(float64(rest)/1e6, "MB-at-rest")
	b.ReportMetric(float64(most)/1e6, "MB-most")
}

// writeLong writes a folder of Go files with six functions each.
func writeLong(b *testing.B, files int) string {
	b.Helper()
	root := b.TempDir()
	for file := range files {
		var text strings.Builder
		fmt.Fprintf(&text, "package p%d\n\n", file%20)
		for f := range 6 {
			fmt.Fprintf(&text, "// Handle%dOf%d answers request %d.\nfunc Handle%dOf%d(values []int) (total int) {\n", f, file, f, f, file)
			for line := range 24 {
				fmt.Fprintf(&text, "\ttotal += values[%d] * %d // of file %d\n", line, line+f, file)
			}
			text.WriteString("\treturn total\n}\n\n")
		}
		path := filepath.Join(root, fmt.Sprintf("p%d", file%20), fmt.Sprintf("f%d.go", file))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	return root
}
