package vector

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/index/indextest"
)

const benchDim = 256

// fill opens a space of n vectors, in topics of fifty. Up to upTo of them chromem-go has them,
// too.
func fill(b *testing.B, n, upTo int) (*Collection, *corpus) {
	b.Helper()
	c := newCorpus(benchDim, n/50, 1)
	s := openSpace(b, Options{Name: "bench", Dim: benchDim, CollectionUpTo: upTo})
	for doc := range uint32(n) {
		if err := s.Upsert(doc, c.vector()); err != nil {
			b.Fatal(err)
		}
	}
	return s, c
}

// BenchmarkSearch reports, beside wall time, the processor time of a search and
// of chromem-go's own query over the same vectors in the same run, how many
// times as much that is, and the share of the ten true neighbours found.
func BenchmarkSearch(b *testing.B) {
	const k = 10
	for _, n := range []int{10_000, 100_000, 500_000} {
		b.Run(fmt.Sprintf("docs=%d", n), func(b *testing.B) {
			if n > 100_000 && testing.Short() {
				b.Skip("takes 1 GB: leave out -short")
			}
			s, c := fill(b, n, n)
			small := s.small
			s.small = nil // it would answer
			queries := make([][]float32, 64)
			for i := range queries {
				queries[i] = c.query()
			}

			const references = 8
			runtime.GC()
			start := indextest.CPUTime()
			exact := make([][]uint32, 0, references)
			for _, query := range queries[:references] {
				results, err := small.QueryEmbedding(b.Context(), query, k, nil, nil)
				if err != nil {
					b.Fatal(err)
				}
				var docs []uint32
				for _, r := range results {
					var doc uint32
					fmt.Sscan(r.ID, &doc)
					docs = append(docs, doc)
				}
				exact = append(exact, docs)
			}
			chromem := (indextest.CPUTime() - start) / references
			small = nil
			for _, query := range queries[references:] {
				exact = append(exact, exactly(s, query, k))
			}

			runtime.GC()
			b.ReportAllocs()
			var found, wanted, searches int
			start = indextest.CPUTime()
			for b.Loop() {
				at := searches % len(queries)
				hits, err := s.Search(b.Context(), queries[at], nil, k)
				if err != nil {
					b.Fatal(err)
				}
				for _, h := range hits {
					if slices.Contains(exact[at], h.Doc) {
						found++
					}
				}
				wanted += k
				searches++
			}
			own := (indextest.CPUTime() - start) / time.Duration(searches)
			b.ReportMetric(float64(own.Nanoseconds())/1e3, "cpu-µs/op")
			b.ReportMetric(float64(chromem.Nanoseconds())/1e3, "chromem-cpu-µs/op")
			b.ReportMetric(float64(chromem)/float64(own), "x_chromem")
			b.ReportMetric(float64(found)/float64(wanted), "recall@10")
		})
	}
}

// exactly is the k nearest of all documents.
func exactly(s *Collection, query []float32, k int) []uint32 {
	var best keeper
	best.reset(k)
	room := newScratch(s.coder)
	room.rounded.set(query)
	for slot, doc := range s.docs {
		best.add(scoreKey(index.Hit{Doc: doc, Score: s.score(uint32(slot), room)}))
	}
	var docs []uint32
	for _, key := range best.sorted() {
		docs = append(docs, uint32(key))
	}
	return docs
}

// BenchmarkSearchFiltered searches 100,000 documents of which only some are
// allowed, chosen by chance: the worst case, since a project's lie together.
func BenchmarkSearchFiltered(b *testing.B) {
	const n = 100_000
	s, c := fill(b, n, 1)
	query := c.query()
	for _, allowed := range []int{500, 2_000, 10_000, 50_000, 99_999} {
		b.Run(fmt.Sprintf("allowed=%d", allowed), func(b *testing.B) {
			allow := roaring.New()
			for _, doc := range rand.New(rand.NewPCG(1, 1)).Perm(n)[:allowed] {
				allow.Add(uint32(doc))
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Search(b.Context(), query, allow, 10); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSearchSmall compares the two ways to search a small space, to choose
// Options.CollectionUpTo by.
func BenchmarkSearchSmall(b *testing.B) {
	for _, n := range []int{100, 256, 1_000} {
		for name, upTo := range map[string]int{"chromem": n, "exact": 1} {
			s, c := fill(b, n, upTo)
			query := c.query()
			b.Run(fmt.Sprintf("docs=%d/%s", n, name), func(b *testing.B) {
				for b.Loop() {
					if _, err := s.Search(b.Context(), query, nil, 10); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkUpsert measures a vector's way into a space past exact search: with
// its code, and its share of making codes anew.
func BenchmarkUpsert(b *testing.B) {
	s, c := fill(b, 4_000, 1)
	vectors := make([][]float32, 1_000)
	for i := range vectors {
		vectors[i] = c.vector()
	}
	b.ReportAllocs()
	var doc uint32
	for b.Loop() {
		if err := s.Upsert(doc, vectors[doc%1_000]); err != nil {
			b.Fatal(err)
		}
		doc++
	}
}

// BenchmarkKernels measures what a search does for each document, for this processor and for
// any.
func BenchmarkKernels(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	row, query := randomRow(random, benchDim)
	for name, f := range map[string]func([]int8, []int16) int64{"plain": dotRowPlain, "fastest": dotRow} {
		b.Run("row/"+name, func(b *testing.B) {
			for b.Loop() {
				f(row, query)
			}
		})
	}
	codes, slots, planes := randomCodes(random, blockSize)
	var out [blockSize]uint32
	for name, f := range map[string]func([]uint64, []uint32, *[4 * queryBits]uint64, []uint32){"plain": distances256Plain, "fastest": distances256} {
		b.Run("1024-codes/"+name, func(b *testing.B) {
			for b.Loop() {
				f(codes, slots, planes, out[:])
			}
		})
	}
}

// BenchmarkMemory reports what a document takes, and what it would take in chromem-go.
func BenchmarkMemory(b *testing.B) {
	const n = 100_000
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for b.Loop() {
		before := heap()
		s, _ := fill(b, n, n)
		all := heap() - before
		s.small = nil
		own := heap() - before
		b.ReportMetric(float64(own)/n, "B/doc")
		b.ReportMetric(float64(all-own)/n, "chromem-B/doc")
		runtime.KeepAlive(s)
	}
}
