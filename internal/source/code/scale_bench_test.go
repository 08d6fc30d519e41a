package code_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/index/lexical"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/recall"
	"github.com/recalld/recalld/internal/source/code"
	"github.com/recalld/recalld/internal/testkit/gosource"
)

// BenchmarkGoTree runs over Go's own standard library: from nothing, again without
// a change, and over one saved file.
func BenchmarkGoTree(b *testing.B) {
	benchmarkRuns(b, copyOf(b, gosource.Dir(b)))
}

// BenchmarkHundredThousandFiles is the same over as many small files in a thousand
// folders.
func BenchmarkHundredThousandFiles(b *testing.B) {
	root := folder(b, nil)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 100_000 {
		write(b, root, fmt.Sprintf("p%03d/d%d/f%d.go", i%100, i/100%10, i), goFile(rng, i))
	}
	benchmarkRuns(b, root)
}

// goFile writes a small file of three functions that no other file has.
func goFile(rng *rand.Rand, n int) string {
	words := strings.Fields("account balance cache decode encode fetch handle index join keep limit merge order parse query read split token update verify walk")
	word := func() string { return words[rng.IntN(len(words))] }
	var text strings.Builder
	fmt.Fprintf(&text, "// Package p%d %ss the %s of a %s.\npackage p%d\n", n%100, word(), word(), word(), n%100)
	for range 3 {
		name := fmt.Sprintf("%s%s%d", word(), strings.ToUpper(word()[:1])+word(), rng.IntN(1e6))
		fmt.Fprintf(&text, "\n// %s %ss every %s before the %s.\nfunc %s(%s int) int {\n", name, word(), word(), word(), name, word())
		for range 6 {
			fmt.Fprintf(&text, "\t%s := %s(%d) + %s\n", word(), word(), rng.IntN(1e6), word())
		}
		text.WriteString("\treturn 0\n}\n")
	}
	return text.String()
}

// copyOf copies a tree, with times that prove that its files are as they are.
func copyOf(b *testing.B, from string) string {
	b.Helper()
	root := folder(b, nil)
	must(b, os.CopyFS(root, os.DirFS(from)))
	return root
}

func benchmarkRuns(b *testing.B, root string) {
	opts := runOptions()
	opts.Workers, opts.TimeLimit = 16, time.Hour
	for b.Loop() {
		r := newRig(b, rigOptions{run: opts})
		// The clock of the runs is ahead, so that no file counts as just written.
		r.clock.advance(time.Since(r.clock.Now()) + time.Hour)
		q := r.ask(root)
		var heads time.Time
		r.disk.files = func([]memory.File) error {
			heads = time.Now()
			return nil
		}
		begun := time.Now()
		peak, stop := peakHeap()
		latest := r.talk(q.Project)
		r.runNext()
		total := time.Since(begun)
		tell, ask := latest()
		b.ReportMetric(float64(tell.Microseconds())/1000, "ms/lesson-p99")
		b.ReportMetric(float64(ask.Microseconds())/1000, "ms/recall-p99")
		b.ReportMetric(heads.Sub(begun).Seconds(), "s/heads")
		b.ReportMetric(total.Seconds(), "s/first")
		s := r.state(q.Sandbox)
		b.ReportMetric(float64(s.Files)/total.Seconds(), "files/s")
		b.ReportMetric(float64(s.IndexBytes)/float64(s.Bytes), "disk/source")
		b.ReportMetric(float64(r.store.DiskSize())/float64(s.IndexBytes), "real/estimated")
		stop()
		b.ReportMetric(float64(*peak)/(1<<20), "MB/peak")

		b.ReportMetric(float64(s.Chunks)/float64(s.Files), "chunks/file")

		// What the indexes hold stays; what a run holds itself is on top of it.
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "MB/indexed")
		held := m.HeapAlloc
		peak, stop = peakHeap()
		begun = time.Now()
		r.leaseAndRun(q)
		b.ReportMetric(time.Since(begun).Seconds(), "s/again")
		stop()
		b.ReportMetric(float64(*peak-min(*peak, held))/(1<<20), "MB/again")

		one := firstFile(b, r, q.Sandbox)
		var saved []time.Duration
		for n := range 9 {
			write(b, root, one, fmt.Sprintf("package changed\n\nfunc Changed%d() {}\n", n))
			r.ask(root, one)
			begun = time.Now()
			r.runNext()
			saved = append(saved, time.Since(begun))
		}
		slices.Sort(saved)
		b.ReportMetric(float64(saved[len(saved)/2].Microseconds())/1000, "ms/saved")
		r.close()
	}
}

// talk tells a lesson and asks for it again and again, until it is told to stop; it
// answers then how long all but one in a hundred took.
func (r *rig) talk(project string) (stop func() (tell, ask time.Duration)) {
	answers, err := recall.New(recall.Options{
		Corpus: r.index, Sessions: r.index, Projects: r.projects, Verifier: code.NewVerifier(), Ledger: r.store,
		Analyze: func(text string) index.Terms { return lexical.Analyze(text) },
	})
	must(r.t, err)
	done, ended := make(chan struct{}), make(chan struct{})
	var told, asked []time.Duration
	go func() {
		defer close(ended)
		pause := time.NewTicker(100 * time.Millisecond)
		defer pause.Stop()
		for n := 0; ; n++ {
			select {
			case <-done:
				return
			case <-pause.C:
			}
			begun := time.Now()
			_, err := r.paths.Remember(r.t.Context(), memory.RememberRequest{Lesson: fmt.Sprintf("the cache of build %d must be cleared", n), Project: project})
			told = append(told, time.Since(begun))
			begun = time.Now()
			_, askErr := answers.Recall(r.t.Context(), memory.RecallRequest{Query: fmt.Sprintf("cache of build %d", n), Project: project})
			asked = append(asked, time.Since(begun))
			if err != nil || askErr != nil {
				r.t.Errorf("while it is indexed: %v, %v", err, askErr)
				return
			}
		}
	}()
	return func() (time.Duration, time.Duration) {
		close(done)
		<-ended
		return percentile(told), percentile(asked)
	}
}

// percentile is the 99th.
func percentile(list []time.Duration) time.Duration {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[len(list)*99/100]
}

func firstFile(b *testing.B, r *rig, sandbox string) string {
	briefs, err := r.store.FileMetadata(sandbox)
	must(b, err)
	for path := range briefs {
		if strings.HasSuffix(path, ".go") {
			return path
		}
	}
	b.Fatal("nothing is indexed")
	return ""
}

// peakHeap watches the memory that is in use until stop is called.
func peakHeap() (*uint64, func()) {
	var peak uint64
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		var m runtime.MemStats
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapInuse+m.StackInuse)
			}
		}
	}()
	return &peak, func() {
		close(done)
		<-ended
	}
}
