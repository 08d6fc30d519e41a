// Package embeddertest is the conformance suite for embedder.Embedder, and a fake embedder
// for the tests of its users.
package embeddertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/recalld/recalld/embedder"
)

// same is the least cosine at which two vectors count as equal. Servers sum a text alone in
// another order than in a batch.
const same = 0.9999

// corpus is prose, code, other scripts and text without words.
var corpus = []string{
	"The server closes idle connections after two minutes.",
	"delete the lock file before you start the daemon again",
	"func (s *Store) Commit(ctx context.Context, b Batch) (uint64, error) {",
	"ERROR 1045 (28000): Access denied for user 'root'@'localhost'",
	"größere Änderung – 数据库连接失败",
	"x",
	"/usr/lib/x86_64-linux-gnu/libc.so.6",
	"?!… → ← ≠",
	"🙂🙃",
	"two\nlines\r\nand\ta tab",
}

// Run runs the suite. open returns an embedder that is ready to be used; it is
// called once per test and cleans up through t.
func Run(t *testing.T, open func(t *testing.T) embedder.Embedder) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, embedder.Embedder)
	}{
		{"Model", testModel},
		{"Vectors", testVectors},
		{"SameText", testSameText},
		{"BatchIsSingle", testBatchIsSingle},
		{"Empty", testEmpty},
		{"Blank", testBlank},
		{"InvalidUTF8", testInvalidUTF8},
		{"LongText", testLongText},
		{"Cancelled", testCancelled},
		{"Concurrent", testConcurrent},
		{"CallerOwnsVectors", testCallerOwnsVectors},
		{"Weighed", testWeighed},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, open(t)) })
	}
}

func testModel(t *testing.T, e embedder.Embedder) {
	m := model(t, e)
	if m.Name == "" || m.Dim <= 0 || m.ContextTokens < 0 || m.Fingerprint == "" {
		t.Fatalf("the model's identity is incomplete: %+v", m)
	}
	probes := embed(t, e, embedder.Document, embedder.Probes...)
	if got := embedder.Fingerprint(probes); got != m.Fingerprint {
		t.Errorf("the fingerprint is %s, the probes' vectors give %s", m.Fingerprint, got)
	}
	if !embedder.SameModel(m.Probes, probes) {
		t.Error("the model's probes are not the vectors that it gives them")
	}
	if again := model(t, e); !reflect.DeepEqual(again, m) {
		t.Errorf("the model changed from %+v to %+v", m, again)
	}
}

func testVectors(t *testing.T, e embedder.Embedder) {
	m := model(t, e)
	for _, p := range []embedder.Purpose{embedder.Document, embedder.Query} {
		vs := embed(t, e, p, corpus...)
		for i, v := range vs {
			if err := CheckUnit(v, m.Dim); err != nil {
				t.Errorf("%s %q: %v", p, corpus[i], err)
			}
		}
	}
}

func testSameText(t *testing.T, e embedder.Embedder) {
	first := embed(t, e, embedder.Document, corpus...)
	second := embed(t, e, embedder.Document, corpus...)
	for i := range corpus {
		if c := Cosine(first[i], second[i]); c < same {
			t.Errorf("%q embedded twice has cosine %.6f with itself", corpus[i], c)
		}
	}
	// Vectors of far more texts than one batch come in the order of the texts.
	many := make([]string, 0, 150)
	for i := range cap(many) {
		many = append(many, corpus[i%len(corpus)])
	}
	for i, v := range embed(t, e, embedder.Document, many...) {
		if c := Cosine(v, first[i%len(corpus)]); c < same {
			t.Fatalf("text %d of %d came back with another text's vector: cosine %.6f", i, len(many), c)
		}
	}
}

func testBatchIsSingle(t *testing.T, e embedder.Embedder) {
	batch := embed(t, e, embedder.Query, corpus...)
	for i, text := range corpus {
		alone := embed(t, e, embedder.Query, text)[0]
		if c := Cosine(batch[i], alone); c < same {
			t.Errorf("%q has cosine %.6f between its batch and itself alone", text, c)
		}
	}
	for i := 1; i < len(batch); i++ {
		if c := Cosine(batch[0], batch[i]); c > same {
			t.Errorf("%q and %q have one vector", corpus[0], corpus[i])
		}
	}
}

func testEmpty(t *testing.T, e embedder.Embedder) {
	vs, err := e.Embed(t.Context(), embedder.Document, nil)
	if err != nil || len(vs) != 0 {
		t.Errorf("no texts gave %d vectors, %v", len(vs), err)
	}
}

func testBlank(t *testing.T, e embedder.Embedder) {
	dim := model(t, e).Dim
	good := embed(t, e, embedder.Document, "a good text", "another one")
	for _, blank := range []string{"", " ", "\n\t \r\n", "\u00a0\u2003"} {
		vs, err := e.Embed(t.Context(), embedder.Document, []string{"a good text", blank, "another one"})
		checkPartial(t, fmt.Sprintf("blank %q", blank), vs, err, 3, 1)
		if t.Failed() {
			return
		}
		for i, j := range map[int]int{0: 0, 2: 1} {
			if err := CheckUnit(vs[i], dim); err != nil {
				t.Errorf("beside blank %q, text %d: %v", blank, i, err)
			} else if c := Cosine(vs[i], good[j]); c < same {
				t.Errorf("beside blank %q, text %d has cosine %.6f with itself", blank, i, c)
			}
		}
	}
	vs, err := e.Embed(t.Context(), embedder.Query, []string{"", "  "})
	checkPartial(t, "nothing but blanks", vs, err, 2, 0, 1)
}

// checkPartial checks that exactly the texts at the indices in failed have failed.
func checkPartial(t *testing.T, what string, vs [][]float32, err error, n int, failed ...int) {
	t.Helper()
	partial, ok := errors.AsType[*embedder.PartialError](err)
	if !ok {
		t.Errorf("%s: the error is %v, want a *PartialError", what, err)
		return
	}
	if len(vs) != n || len(partial.Failed) != len(failed) {
		t.Errorf("%s: %d vectors and %d failures, want %d and %d", what, len(vs), len(partial.Failed), n, len(failed))
		return
	}
	for _, i := range failed {
		if partial.Failed[i] == nil || vs[i] != nil {
			t.Errorf("%s: text %d: error %v, vector %v, want an error and nil", what, i, partial.Failed[i], vs[i])
		}
	}
}

func testInvalidUTF8(t *testing.T, e embedder.Embedder) {
	dim := model(t, e).Dim
	texts := []string{"before", "broken \xff\xfe bytes \xc3", "after"}
	vs, err := e.Embed(t.Context(), embedder.Document, texts)
	if _, partial := errors.AsType[*embedder.PartialError](err); err != nil && !partial {
		t.Fatalf("a text that is not UTF-8 failed its batch: %v", err)
	}
	for _, i := range []int{0, 2} {
		if err := CheckUnit(vs[i], dim); err != nil {
			t.Errorf("beside a text that is not UTF-8, text %d: %v", i, err)
		}
	}
}

// testLongText embeds texts far over the context. Differences at their end must affect the
// vector.
func testLongText(t *testing.T, e embedder.Embedder) {
	m := model(t, e)
	words := 4 * min(max(m.ContextTokens, 1000), 5000)
	head := strings.Repeat("the cat sat on the mat and looked ", words/8)
	tail := strings.Repeat("quorum snapshot replication journal ", words/16)
	other := strings.Repeat("bread butter breakfast kitchen ", words/16)
	vs := embed(t, e, embedder.Document, head+tail, "short", head+other, tail)
	for i, v := range vs {
		if err := CheckUnit(v, m.Dim); err != nil {
			t.Errorf("long text %d: %v", i, err)
		}
	}
	if c := Cosine(vs[0], vs[2]); c > 0.99 {
		t.Errorf("long texts that differ in their last third have cosine %.4f: their end was cut", c)
	}
	if with, without := Cosine(vs[0], vs[3]), Cosine(vs[2], vs[3]); with <= without {
		t.Errorf("the text that ends in the tail has cosine %.4f with it, the text that does not has %.4f", with, without)
	}
	// No white space to split at, and runes of several bytes.
	for _, long := range []string{strings.Repeat("abcdefghij", words/2), strings.Repeat("数据库连接失败", words/7)} {
		if err := CheckUnit(embed(t, e, embedder.Document, long)[0], m.Dim); err != nil {
			t.Errorf("%.20s… without white space: %v", long, err)
		}
	}
}

func testCancelled(t *testing.T, e embedder.Embedder) {
	model(t, e)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if vs, err := e.Embed(ctx, embedder.Document, corpus); !errors.Is(err, context.Canceled) {
		t.Errorf("under a cancelled context: %d vectors, error %v, want context.Canceled", len(vs), err)
	}
	if _, err := e.Embed(t.Context(), embedder.Document, corpus[:1]); err != nil {
		t.Errorf("a cancelled call broke the next: %v", err)
	}
}

func testConcurrent(t *testing.T, e embedder.Embedder) {
	want := embed(t, e, embedder.Document, corpus...)
	var callers sync.WaitGroup
	for i := range 8 {
		callers.Go(func() {
			if _, err := e.Model(t.Context()); err != nil {
				t.Errorf("caller %d: model: %v", i, err)
			}
			for round := range 3 {
				j := (i + round) % len(corpus)
				vs, err := e.Embed(t.Context(), embedder.Document, []string{corpus[j], corpus[(j+1)%len(corpus)]})
				if err != nil {
					t.Errorf("caller %d: %v", i, err)
					return
				}
				if c := Cosine(vs[0], want[j]); c < same {
					t.Errorf("caller %d: %q has cosine %.6f with what it gave alone", i, corpus[j], c)
				}
			}
		})
	}
	callers.Wait()
}

func testCallerOwnsVectors(t *testing.T, e embedder.Embedder) {
	vs := embed(t, e, embedder.Document, corpus[:2]...)
	clear(vs[0])
	again := embed(t, e, embedder.Document, corpus[:2]...)
	if Cosine(again[0], again[0]) < same {
		t.Error("a vector that its caller wrote over came back from the next call")
	}
}

// testWeighed tests a Weigher: equal weights of all words, even 0, do not change the
// vector, and a lower weight of a word removes its part.
func testWeighed(t *testing.T, e embedder.Embedder) {
	w, ok := e.(embedder.Weigher)
	if !ok {
		t.Skip("the model weighs no words")
	}
	weighed := func(text string, weight func(word []byte) float64) []float32 {
		v, err := w.EmbedWeighted(t.Context(), text, weight)
		if err != nil {
			t.Fatalf("weigh %q: %v", text, err)
		}
		return v
	}
	for i, plain := range embed(t, e, embedder.Query, corpus...) {
		for _, all := range []float64{0, 1} {
			v := weighed(corpus[i], func(word []byte) float64 {
				if lower := bytes.ToLower(word); !bytes.Equal(word, lower) {
					t.Errorf("%q has the word %q, want it lower case", corpus[i], word)
				}
				return all
			})
			if c := Cosine(v, plain); c < same {
				t.Errorf("%q has cosine %.6f with itself when all its words count %v", corpus[i], c, all)
			}
		}
	}
	lock := embed(t, e, embedder.Query, "lock")[0]
	v := weighed("the Lock of the database", func(word []byte) float64 {
		if string(word) == "lock" {
			return 1
		}
		return 0
	})
	if c := Cosine(v, lock); c < same {
		t.Errorf("a question of which one word counts has cosine %.6f with that word", c)
	}
	full := func([]byte) float64 { return 1 }
	if _, err := w.EmbedWeighted(t.Context(), " \n", full); err == nil {
		t.Error("a blank question has a vector")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.EmbedWeighted(ctx, "lock", full); !errors.Is(err, context.Canceled) {
		t.Errorf("under a cancelled context: error %v, want context.Canceled", err)
	}
}

// CheckUnit returns an error if a vector does not have the width or unit length.
func CheckUnit(v []float32, dim int) error {
	if len(v) != dim {
		return fmt.Errorf("the vector has width %d, want %d", len(v), dim)
	}
	if n := Cosine(v, v); !(math.Abs(n-1) < 1e-4) {
		return fmt.Errorf("the vector's squared length is %v, want 1", n)
	}
	return nil
}

// Cosine is the cosine of two unit vectors of one width.
func Cosine(a, b []float32) float64 {
	var dot float64
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
	}
	return dot
}

func model(t *testing.T, e embedder.Embedder) embedder.Model {
	t.Helper()
	m, err := e.Model(t.Context())
	if err != nil {
		t.Fatalf("model: %v", err)
	}
	return m
}

func embed(t *testing.T, e embedder.Embedder, p embedder.Purpose, texts ...string) [][]float32 {
	t.Helper()
	vs, err := e.Embed(t.Context(), p, texts)
	if err != nil {
		t.Fatalf("embed %d texts as %s: %v", len(texts), p, err)
	}
	if len(vs) != len(texts) {
		t.Fatalf("%d texts gave %d vectors", len(texts), len(vs))
	}
	return vs
}
