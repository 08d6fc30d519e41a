package indexer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/embedder/builtin"
	"github.com/recalld/recalld/embedder/embeddertest"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/store"
)

// benchDocs is the size that the goals are stated for.
const benchDocs = 100_000

// benchStore writes a store of n chunks, in files of 25, with some 75 distinct
// terms each, drawn as words are: few often, many seldom.
func benchStore(b *testing.B, n int) string {
	b.Helper()
	dir := b.TempDir()
	s, err := store.Open(store.Options{Dir: dir, NoSync: true})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := s.Load(context.Background(), memory.Loader{}); err != nil {
		b.Fatal(err)
	}
	m, err := builtin.New().Model(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	if err := s.OpenCollection(context.Background(), m.Collection(), nil); err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	words := rand.NewZipf(rng, 1.1, 8, 200_000)
	const perFile = 25
	for file := range n / perFile {
		f := memory.File{Project: "p-1", Sandbox: "s-1", Path: fmt.Sprintf("dir%d/sub%d/file%d.go", file%40, file%400, file), Lang: "go", ModTime: testTime}
		batch := memory.Batch{Sandboxes: []memory.Sandbox{{ID: "s-1", Project: "p-1", Root: "/s-1"}}}
		for range perFile {
			var text strings.Builder
			for range 120 {
				fmt.Fprintf(&text, "w%x ", words.Uint64())
			}
			d := memory.Doc{ID: memory.DocumentID(text.String()), Terms: Analyze(memory.Document{Text: text.String()})}
			v := make([]float32, builtin.Dim)
			for i := range v {
				v[i] = float32(rng.NormFloat64())
			}
			d.Vectors = map[string][]float32{m.Collection(): v}
			batch.Docs = append(batch.Docs, d)
			f.Chunks = append(f.Chunks, memory.FileChunk{Doc: d.ID, End: text.Len()})
		}
		batch.Files = []memory.File{f}
		if _, err := s.Commit(context.Background(), batch); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	return dir
}

func benchLoad(b *testing.B, dir string, model *embeddertest.Fake) (*store.Store, *Indexer) {
	b.Helper()
	x, err := New(Options{Builtin: builtin.New()})
	if err != nil {
		b.Fatal(err)
	}
	if model != nil {
		x.Expect("fake/words", model)
	}
	s, err := store.Open(store.Options{Dir: dir, NoSync: true, Apply: x.Apply})
	if err != nil {
		b.Fatal(err)
	}
	if err := x.Load(context.Background(), s); err != nil {
		b.Fatal(err)
	}
	return s, x
}

func heapBytes() uint64 {
	runtime.GC()
	runtime.GC() // what had finalizers
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkLoad is the start of a daemon with 100,000 chunks: open, read, index; all of
// them, or with saved indexes. Goal: 2 s, and 400 MB of memory for the whole daemon.
func BenchmarkLoad(b *testing.B) {
	dir := benchStore(b, benchDocs)
	b.Run("anew", func(b *testing.B) { benchmarkLoad(b, dir) })
	s, x := benchLoad(b, dir, nil)
	if err := errors.Join(x.Save(b.Context()), s.Close()); err != nil {
		b.Fatal(err)
	}
	b.Run("saved", func(b *testing.B) { benchmarkLoad(b, dir) })
}

func benchmarkLoad(b *testing.B, dir string) {
	before := heapBytes()
	var after uint64
	for b.Loop() {
		s, x := benchLoad(b, dir, nil)
		b.StopTimer()
		if n := x.Documents(); n != benchDocs {
			b.Fatalf("%d documents loaded, want %d", n, benchDocs)
		}
		after = heapBytes()
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		runtime.KeepAlive(x)
		b.StartTimer()
	}
	b.ReportMetric(benchDocs/b.Elapsed().Seconds()*float64(b.N), "docs/s")
	b.ReportMetric(float64(after-before)/benchDocs, "B/doc")
}

// BenchmarkSelect is what a recall asks of the indexer beside the retrievers:
// sources, filter, and the candidates of 200 hits. Goal: 0.2 ms in all.
func BenchmarkSelect(b *testing.B) {
	s, x := benchLoad(b, benchStore(b, benchDocs), nil)
	defer s.Close()
	for name, sel := range map[string]memory.Selection{
		"default": {Project: "p-1", Kinds: memory.DefaultKinds, AllLessons: true},
		"path":    {Project: "p-1", Kinds: memory.DefaultKinds, Path: "dir7"},
		"glob":    {Project: "p-1", Kinds: memory.DefaultKinds, Path: "**/file1*.go"},
		"since":   {Project: "p-1", Kinds: memory.DefaultKinds, Since: testTime},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				x.Sources()
				allow, _ := x.Select(sel)
				it := allow.Iterator()
				for i := 0; i < 200 && it.HasNext(); i++ {
					if len(x.Candidates(it.Next(), sel)) == 0 && sel.Path == "" {
						b.Fatal("an allowed document has no candidate")
					}
				}
			}
		})
	}
}

// BenchmarkSelectSizes is the filters of BenchmarkSelect among 100,000 documents and
// among 10,000 by turns: ×small is how many times as long it takes among 100,000.
// What is asked for is as much of either: one folder, the files of one beginning, the
// newest 400 documents.
//
//	go test ./internal/indexer -run '^$' -bench SelectSizes
func BenchmarkSelectSizes(b *testing.B) {
	open := func(n int) *Indexer {
		s, x := benchLoad(b, benchStore(b, n), nil)
		b.Cleanup(func() { s.Close() })
		for i := range 16 { // what is new
			f := memory.File{Project: "p-1", Sandbox: "s-1", Path: fmt.Sprintf("new/sub/fresh%d.go", i), Lang: "go", ModTime: testTime.AddDate(0, 1, 0)}
			var docs []memory.Doc
			for c := range 25 {
				d := memory.Doc{ID: memory.DocumentID(fmt.Sprint("new", i, c)), Terms: Analyze(memory.Document{Text: "new words"})}
				docs, f.Chunks = append(docs, d), append(f.Chunks, memory.FileChunk{Doc: d.ID, End: 9})
			}
			if _, err := s.Commit(context.Background(), memory.Batch{Docs: docs, Files: []memory.File{f}}); err != nil {
				b.Fatal(err)
			}
		}
		return x
	}
	few, many := open(benchDocs/10), open(benchDocs)
	for name, change := range map[string]func(*memory.Selection){
		"none": func(*memory.Selection) {}, "path": func(sel *memory.Selection) { sel.Path = "new/sub" },
		"glob":  func(sel *memory.Selection) { sel.Path = "**/fresh*.go" },
		"since": func(sel *memory.Selection) { sel.Since = testTime.Add(time.Hour) },
	} {
		sel := memory.Selection{Project: "p-1", Kinds: memory.DefaultKinds}
		change(&sel)
		b.Run(name, func(b *testing.B) {
			compareSizes(b, func(big bool) {
				x := pick(big, many, few)
				for range 16 {
					allow, _ := x.Select(sel)
					if name != "none" && allow.GetCardinality() != 400 {
						b.Fatalf("%d documents are allowed, want 400", allow.GetCardinality())
					}
				}
			})
		})
	}
}

// BenchmarkMissing finds the next batch of a background collection when half of
// 100,000 documents are embedded; a fill does it once for every 64.
func BenchmarkMissing(b *testing.B) {
	fake := &embeddertest.Fake{Dim: 4}
	s, x := benchLoad(b, benchStore(b, benchDocs), fake)
	defer s.Close()
	name, err := x.Attach(context.Background(), "fake/words")
	if err != nil {
		b.Fatal(err)
	}
	sp := x.collections.find(name)
	for num := range uint32(benchDocs / 2) {
		v := make([]float32, 4)
		v[num%4] = 1
		if err := sp.vectors.Upsert(num, v); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if got := x.missing(sp); len(got) != 64 {
			b.Fatalf("%d documents are missing, want a batch of 64", len(got))
		}
	}
}

// BenchmarkEntries lists what a large catalogue holds: 1,000 tools, 200 rules and 500
// references.
func BenchmarkEntries(b *testing.B) {
	x, err := New(Options{Builtin: builtin.New()})
	if err != nil {
		b.Fatal(err)
	}
	x.listed.finishLoad()
	for kind, n := range map[memory.Kind]int{memory.Tool: 1000, memory.Rule: 200, memory.Reference: 500} {
		for i := range n {
			rec := listing(kind, fmt.Sprintf("%s-%d", kind, i), i/100, i%100)
			x.listed.apply([]memory.RecordChange{{New: &rec}})
		}
	}
	for name, kinds := range map[string][]memory.Kind{
		"tools": {memory.Tool}, "all": {memory.Tool, memory.Rule, memory.Reference}, "tasks": {memory.Task, memory.Blocker},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				x.Entries("p-1", kinds...)
			}
		})
	}
}
