package lexical

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/index/indextest"
)

// benchCollection is a collection of documents and the questions about it.
type benchCollection struct {
	encoded [][]byte // the documents' terms, as a store keeps them
	queries []string
	terms   int // in all documents
}

// chunks are as many chunks as a large store holds, each with some 120 distinct terms;
// lessons are ten times as many short texts. Each is made once for all benchmarks.
var (
	chunks  = sync.OnceValue(func() *benchCollection { return newCollection(100_000, 138, 200_000) })
	lessons = sync.OnceValue(func() *benchCollection { return newCollection(1_000_000, 30, 500_000) })
)

// newCollection makes documents of some words each.
func newCollection(docs, words, vocabulary int) *benchCollection {
	c := newCorpus(11, vocabulary)
	made := &benchCollection{encoded: make([][]byte, docs)}
	counts := make(map[string]uint32)
	var terms index.Terms
	for doc := range made.encoded {
		clear(counts)
		for range words {
			counts[c.words[c.zipf.Uint64()]]++
		}
		terms = terms[:0]
		for text, n := range counts {
			terms = append(terms, index.Term{Text: text, Count: n})
		}
		slices.SortFunc(terms, func(a, b index.Term) int { return cmp.Compare(a.Text, b.Text) })
		made.encoded[doc] = EncodeTerms(terms)
		made.terms += len(terms)
		// A question is a few words of some document among ordinary ones.
		if doc%(docs/200) == 0 {
			words := strings.Fields(c.text(5))
			for range 3 {
				words = append(words, terms[c.rng.IntN(len(terms))].Text)
			}
			made.queries = append(made.queries, strings.Join(words, " "))
		}
	}
	return made
}

// load is what a start does: decode every document and add it.
func (c *benchCollection) load(b *testing.B) *Index {
	x := newIndex(b)
	for doc, encoded := range c.encoded {
		terms, err := DecodeTerms(encoded)
		if err != nil {
			b.Fatalf("decoding document %d: %v", doc, err)
		}
		x.Upsert(uint32(doc), terms)
	}
	return x
}

func BenchmarkLoad100k(b *testing.B) {
	c := chunks()
	bytes := 0
	for _, encoded := range c.encoded {
		bytes += len(encoded)
	}
	b.Run("decode", func(b *testing.B) {
		b.SetBytes(int64(bytes))
		for b.Loop() {
			for _, encoded := range c.encoded {
				if _, err := DecodeTerms(encoded); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.ReportMetric(float64(bytes)/float64(c.terms), "B/term-stored")
	})
	b.Run("decode+upsert", func(b *testing.B) {
		var x *Index
		var before, after runtime.MemStats
		for b.Loop() {
			x = nil
			runtime.GC()
			runtime.ReadMemStats(&before)
			x = c.load(b)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MiB")
		b.ReportMetric(float64(c.terms)/float64(len(c.encoded)), "terms/doc")
		runtime.KeepAlive(x)
	})
}

func BenchmarkSearch100k(b *testing.B) {
	c := chunks()
	x := c.load(b)
	everything := roaring.New()
	everything.AddRange(0, uint64(len(c.encoded)))
	third := roaring.New()
	for doc := uint32(0); doc < uint32(len(c.encoded)); doc += 3 {
		third.Add(doc)
	}
	weigh := func(universe *roaring.Bitmap) func(b *testing.B) {
		return func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				if _, err := x.Weights(b.Context(), c.queries[i%len(c.queries)], universe); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	search := func(universe, allow *roaring.Bitmap) func(b *testing.B) {
		return func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				q := index.Query{Text: c.queries[i%len(c.queries)], Universe: universe, Allow: allow, Limit: 50}
				if _, err := x.Retrieve(b.Context(), q); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	b.Run("all", search(nil, nil))
	b.Run("project", search(everything, everything))
	b.Run("third", search(third, third))
	b.Run("filtered", search(everything, third))
	b.Run("weights/all", weigh(nil))
	b.Run("weights/project", weigh(everything))
	b.Run("weights/third", weigh(third))

	plain := newPlainIndex(b, c)
	b.Run("reference", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			plain.retrieve(c.queries[i%len(c.queries)], 50)
		}
	})
	x.Delete(0)
	b.Run("one-dead", search(nil, nil))
}

// BenchmarkSearch1M asks a million lessons for as many hits as recall does, and a plain
// BM25 over the same terms for the same, in turns. Times are of the processor.
func BenchmarkSearch1M(b *testing.B) {
	c := lessons()
	x, plain := c.load(b), newPlainIndex(b, c)
	everything, most, third := roaring.New(), roaring.New(), roaring.New()
	for doc := range uint32(len(c.encoded)) {
		everything.Add(doc)
		if doc%3 == 0 {
			third.Add(doc)
		}
		if doc%10 > 0 {
			most.Add(doc)
		}
	}
	for _, universe := range []struct {
		name string
		docs *roaring.Bitmap
	}{{"all", nil}, {"project", everything}, {"most", most}, {"third", third}} {
		for _, limit := range []int{200, 600} {
			b.Run(fmt.Sprint(universe.name, "/", limit), func(b *testing.B) {
				var own, reference time.Duration
				n, references := 0, 0
				for b.Loop() {
					query := c.queries[n%len(c.queries)]
					if n%50 == 0 {
						start := indextest.CPUTime()
						plain.retrieve(query, limit)
						reference += indextest.CPUTime() - start
						references++
					}
					n++
					start := indextest.CPUTime()
					q := index.Query{Text: query, Universe: universe.docs, Allow: universe.docs, Limit: limit}
					if _, err := x.Retrieve(b.Context(), q); err != nil {
						b.Fatal(err)
					}
					own += indextest.CPUTime() - start
				}
				ms := func(d time.Duration, n int) float64 { return d.Seconds() * 1e3 / float64(n) }
				b.ReportMetric(ms(own, n), "cpu-ms/op")
				b.ReportMetric(ms(reference, references), "plain-cpu-ms/op")
				b.ReportMetric(ms(reference, references)/ms(own, n), "x_plain")
			})
		}
	}
}

// plainIndex is the index one would write first: a map to slices of postings,
// scores in a map, everything sorted.
type plainIndex struct {
	postings map[string][]index.Hit // Score is the frequency
	lengths  []float64
	mean     float64
}

func newPlainIndex(b *testing.B, c *benchCollection) *plainIndex {
	p := &plainIndex{postings: make(map[string][]index.Hit)}
	for doc, encoded := range c.encoded {
		terms, err := DecodeTerms(encoded)
		if err != nil {
			b.Fatalf("decoding document %d: %v", doc, err)
		}
		for _, t := range terms {
			p.postings[t.Text] = append(p.postings[t.Text], index.Hit{Doc: uint32(doc), Score: float32(t.Count)})
		}
		p.lengths = append(p.lengths, float64(terms.Length()))
		p.mean += float64(terms.Length()) / float64(len(c.encoded))
	}
	return p
}

func (p *plainIndex) retrieve(text string, limit int) []index.Hit {
	const k1, b = DefaultK1, DefaultB
	scores := make(map[uint32]float64)
	for _, t := range queryTerms(text) {
		list := p.postings[t.text]
		idf := math.Log1p((float64(len(p.lengths)-len(list)) + 0.5) / (float64(len(list)) + 0.5))
		for _, posting := range list {
			tf := float64(posting.Score)
			scores[posting.Doc] += t.weight * idf * tf * (k1 + 1) / (tf + k1*(1-b+b*p.lengths[posting.Doc]/p.mean))
		}
	}
	hits := make([]index.Hit, 0, len(scores))
	for doc, score := range scores {
		hits = append(hits, index.Hit{Doc: doc, Score: float32(score)})
	}
	slices.SortFunc(hits, compareHits)
	return hits[:min(limit, len(hits))]
}

// BenchmarkAnalyze goes over this package's own source, cut into chunks as an
// indexed repository would be.
func BenchmarkAnalyze(b *testing.B) {
	text := benchSource(b)
	const size = 2000
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		for start := 0; start < len(text); start += size {
			Analyze(text[start:min(start+size, len(text))])
		}
	}
}

func benchSource(b *testing.B) string {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		b.Fatalf("finding source files: %v, %v", files, err)
	}
	var text strings.Builder
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			b.Fatalf("reading source: %v", err)
		}
		text.Write(content)
	}
	return text.String()
}
