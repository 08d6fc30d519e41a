package builtin_test

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/embedder/builtin"
	"github.com/recalld/recalld/index/indextest"
)

// BenchmarkEmbed embeds the documentation and the code of this repository, cut at blank
// lines, a text a paragraph or a hundred paragraphs to a text. It reports MB of text for
// a second of the processor, and how many times as long the plainest embedder takes: see
// plain. One goroutine embeds, so that a second of the processor is one of a core.
func BenchmarkEmbed(b *testing.B) {
	paragraphs := ownTexts(b)
	var hundreds []string
	for len(paragraphs) >= 100*(len(hundreds)+1) {
		hundreds = append(hundreds, strings.Join(paragraphs[100*len(hundreds):100*(len(hundreds)+1)], "\n\n"))
	}
	for _, c := range []struct {
		name  string
		texts []string
	}{{"paragraphs", paragraphs}, {"hundreds", hundreds}} {
		reference := newPlain(c.texts)
		for _, e := range []*builtin.Embedder{builtin.New(), builtin.NewNarrow()} {
			m, err := e.Model(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("%s/%d", c.name, m.Dim), func(b *testing.B) {
				var took, plain time.Duration
				size := 0
				b.ReportAllocs()
				for b.Loop() {
					for batch := range batches(c.texts, 64) {
						start := indextest.CPUTime()
						if _, err := e.Embed(b.Context(), embedder.Document, batch); err != nil {
							b.Fatal(err)
						}
						between := indextest.CPUTime()
						for _, text := range batch {
							reference.vector(text)
						}
						took, plain = took+between-start, plain+indextest.CPUTime()-between
						for _, text := range batch {
							size += len(text)
						}
					}
				}
				b.ReportMetric(float64(size)/1e6/took.Seconds(), "MB/cpu-s")
				b.ReportMetric(float64(size)/1e6/plain.Seconds(), "plain-MB/cpu-s")
				b.ReportMetric(plain.Seconds()/took.Seconds(), "x_plain")
			})
		}
	}
}

func batches(texts []string, size int) func(func([]string) bool) {
	return func(yield func([]string) bool) {
		for at := 0; at < len(texts); at += size {
			if !yield(texts[at:min(at+size, len(texts))]) {
				return
			}
		}
	}
}

// ownTexts are the paragraphs of this repository's documentation and code.
func ownTexts(b *testing.B) []string {
	b.Helper()
	var texts []string
	for _, folder := range []string{"docs", "index", "internal"} {
		err := filepath.WalkDir(filepath.Join("../..", folder), func(path string, d fs.DirEntry, err error) error {
			if ext := filepath.Ext(path); err != nil || d.IsDir() || ext != ".go" && ext != ".md" {
				return err
			}
			text, err := os.ReadFile(path)
			for paragraph := range strings.SplitSeq(string(text), "\n\n") {
				if strings.TrimSpace(paragraph) != "" {
					texts = append(texts, paragraph)
				}
			}
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	return texts
}

// plain is the least that embeds with a table: words split at other characters than letters and digits, in
// lower case, looked up in a map; their vectors added in floating point and the sum
// scaled to length 1. It splits no identifiers, weighs nothing and knows every word.
type plain struct {
	rows map[string][]float32
	sum  []float32
}

func newPlain(texts []string) *plain {
	p := &plain{rows: map[string][]float32{}, sum: make([]float32, builtin.Dim)}
	for _, text := range texts {
		for _, word := range p.words(text) {
			if p.rows[word] == nil {
				p.rows[word] = make([]float32, builtin.Dim)
				p.rows[word][len(p.rows)%builtin.Dim] = 1
			}
		}
	}
	return p
}

func (p *plain) words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

func (p *plain) vector(text string) []float32 {
	clear(p.sum)
	for _, word := range p.words(text) {
		for i, x := range p.rows[word] {
			p.sum[i] += x
		}
	}
	var squares float64
	for _, x := range p.sum {
		squares += float64(x) * float64(x)
	}
	v := make([]float32, len(p.sum))
	for i, x := range p.sum {
		v[i] = x / float32(math.Sqrt(max(squares, 1e-12)))
	}
	return v
}
