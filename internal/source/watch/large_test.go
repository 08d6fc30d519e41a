package watch

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// TestLargeRootHoldsUpNobody: while the folders of one root are being found, others
// are told of what changes, come and go.
func TestLargeRootHoldsUpNobody(t *testing.T) {
	large, small := tempDir(t), tempDir(t)
	write(t, large, "sub/a.go", "package a\n")
	begun, release := make(chan struct{}), make(chan struct{})
	n := newNotifier(-1, nil)
	n.slow = func(dir string) {
		if strings.HasPrefix(dir, filepath.Join(large, "sub")) {
			close(begun)
			<-release
		}
	}
	w, err := New(Options{Notify: n.connect})
	must(t, err)
	defer w.Close()
	must(t, w.Add(Root{Path: large}))
	<-begun
	must(t, w.Add(Root{Path: small}))
	if b := next(t, w); b.Root != small || !b.All {
		t.Fatalf("the first batch is %+v, want all of the small root", b)
	}
	n.events <- fsnotify.Event{Name: filepath.Join(small, "b.go"), Op: fsnotify.Write}
	expect(t, w, "b.go")
	if s := w.State(large); s.Mode != Starting || s.String() != "" || s.Live() {
		t.Errorf("the large root is %+v, want starting", s)
	}
	// What happens in the large one meanwhile is not lost either.
	for i := range 1000 {
		n.events <- fsnotify.Event{Name: filepath.Join(large, fmt.Sprintf("f%d.go", i)), Op: fsnotify.Write}
	}
	w.Remove(small)
	close(release)
	if b := next(t, w); b.Root != large || !b.All {
		t.Errorf("the batch is %+v, want all of the large root", b)
	}
}

// TestManyRootsComeAndGo: in any order, and from several goroutines.
func TestManyRootsComeAndGo(t *testing.T) {
	w, err := New(Options{Quiet: time.Millisecond, MaxDelay: 2 * time.Millisecond, LookEvery: time.Millisecond})
	must(t, err)
	taken := make(chan struct{})
	go func() {
		defer close(taken)
		for range w.Batches() {
		}
	}()
	var users sync.WaitGroup
	shared := tempDir(t)
	for u := range 4 {
		own := tempDir(t)
		users.Go(func() {
			for i := range 20 {
				for _, root := range []string{shared, own} {
					if err := w.Add(Root{Path: root}); err != nil {
						t.Error(err)
					}
				}
				name := filepath.Join(shared, fmt.Sprintf("%d-%d", u, i))
				if err := os.MkdirAll(filepath.Join(name, "x"), 0o755); err != nil {
					t.Error(err)
				}
				w.State(shared)
				if err := os.RemoveAll(name); err != nil {
					t.Error(err)
				}
				w.Remove(own)
				if i%3 == u%3 {
					w.Remove(shared)
				}
			}
		})
	}
	users.Wait()
	w.Remove(shared)
	if n := w.system.watches(); n != 0 {
		t.Errorf("without roots %d folders are watched", n)
	}
	must(t, w.Close())
	<-taken
}

// tree makes folders with files and returns where.
func tree(t testing.TB, folders, files int) string {
	t.Helper()
	root := tempDir(t)
	for i := range folders {
		dir := filepath.Join(root, fmt.Sprintf("d%03d", i%100), fmt.Sprintf("e%05d", i))
		must(t, os.MkdirAll(dir, 0o755))
		for j := range files {
			must(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.go", j)), []byte("package f\n"), 0o644))
		}
	}
	return root
}

// BenchmarkLargeRoot watches 100,000 files in 10,000 folders: how long until all
// are watched, what that keeps in memory, and how soon a saved file is told of.
func BenchmarkLargeRoot(b *testing.B) {
	root := tree(b, 10_000, 10)
	var before, after runtime.MemStats
	var begun, told time.Duration
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		start := time.Now()
		w, err := New(Options{})
		must(b, err)
		must(b, w.Add(Root{Path: root}))
		<-w.Batches()
		begun += time.Since(start)
		needEvents(b, w, root)
		runtime.GC()
		runtime.ReadMemStats(&after)
		start = time.Now()
		write(b, root, "d007/e00007/f3.go", start.String())
		<-w.Batches()
		told += time.Since(start)
		must(b, w.Close())
	}
	b.ReportMetric(begun.Seconds()/float64(b.N)*1000, "ms/watched")
	b.ReportMetric(told.Seconds()/float64(b.N)*1000, "ms/told")
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/1e6, "MB")
}

// BenchmarkPoll reads 100,000 files in 10,000 folders once, as is done where there
// are no watches.
func BenchmarkPoll(b *testing.B) {
	r := newRoot(&Watcher{ctx: b.Context(), polls: make(chan struct{}, 1)}, Root{Path: tree(b, 10_000, 10)})
	for b.Loop() {
		if folders, ok := r.read(); !ok || len(folders) != 10_101 {
			b.Fatalf("read %d folders, want 10101", len(folders))
		}
	}
}
