package recall_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/index/indextest"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/recall"
)

// BenchmarkRecall asks a store of many lessons questions of six words, from the question to
// the written answer: real indexes, real texts. RECALLD_BENCH_LESSONS is how many lessons;
// without it there are 100,000. Memory is that of the heap after a collection, without the
// store's caches.
//
//	go test ./internal/recall -run '^$' -bench 'Recall$' -benchtime 400x
func BenchmarkRecall(b *testing.B) {
	n := 100_000
	if s := os.Getenv("RECALLD_BENCH_LESSONS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			b.Fatalf("RECALLD_BENCH_LESSONS: %v", err)
		}
	}
	heap := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	r := newRig(b, func(_ *rig, opts *recall.Options) {
		s := recall.DefaultSettings()
		s.Deadline = time.Minute // on a busy machine, too, the answer is to be whole
		opts.Settings = &s
	})
	words := newLessonWords()
	start := indextest.CPUTime()
	var queries []string
	const batch = 256
	for from := 0; from < n; from += batch {
		records := make([]memory.Record, 0, batch)
		for i := from; i < min(from+batch, n); i++ {
			text := words.text(24)
			records = append(records, memory.Record{
				ID: fmt.Sprintf("l-%08x", uint32(i)*2654435761), Kind: memory.Lesson, Repo: "demo", Text: text,
				Event: &memory.Event{Type: memory.EventPattern, Context: words.text(4), Lesson: text},
			})
			if i%(n/200) == 0 {
				of := strings.Fields(text)
				queries = append(queries, strings.Join(append(of[:3:3], words.text(3)), " "))
			}
		}
		r.write(records...)
	}
	b.ReportMetric(0, "ns/op") // wall time says nothing on a shared machine
	written := indextest.CPUTime() - start
	kept := heap() - before
	var was, is runtime.MemStats
	runtime.ReadMemStats(&was)
	start = indextest.CPUTime()
	asked := 0
	for b.Loop() {
		a, err := r.recall.Recall(b.Context(), memory.RecallRequest{Query: queries[asked%len(queries)], Project: r.project.ID})
		if err != nil || len(a.Degraded) > 0 {
			b.Fatalf("recall: %+v, %v", a, err)
		}
		asked++
	}
	took := indextest.CPUTime() - start
	runtime.ReadMemStats(&is)
	b.ReportMetric(took.Seconds()*1e3/float64(asked), "cpu-ms/op")
	b.ReportMetric(float64(is.TotalAlloc-was.TotalAlloc)/float64(asked)/1e3, "KB/op")
	b.ReportMetric(float64(is.Mallocs-was.Mallocs)/float64(asked), "objects/op")
	b.ReportMetric(float64(kept)/float64(n), "B/lesson")
	b.ReportMetric(written.Seconds()*1e3/float64(n), "cpu-ms/write")
}

// lessonWords draws words as a natural language does: few often, most seldom.
type lessonWords struct {
	rng  *rand.Rand
	zipf *rand.Zipf
}

func newLessonWords() *lessonWords {
	rng := rand.New(rand.NewPCG(11, 1))
	return &lessonWords{rng: rng, zipf: rand.NewZipf(rng, 1.1, 8, 300_000)}
}

func (w *lessonWords) text(n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = "q" + strings.Map(func(r rune) rune { return r - '0' + 'a' }, fmt.Sprint(w.zipf.Uint64()))
	}
	return strings.Join(words, " ")
}
