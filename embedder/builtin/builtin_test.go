package builtin_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/embedder/builtin"
	"github.com/recalld/recalld/embedder/embeddertest"
)

func TestConformance(t *testing.T) {
	embeddertest.Run(t, func(*testing.T) embedder.Embedder { return builtin.New() })
}

func TestNarrowConformance(t *testing.T) {
	embeddertest.Run(t, func(*testing.T) embedder.Embedder { return builtin.NewNarrow() })
}

// TestNarrow holds that a narrow vector is the beginning of the wide one.
func TestNarrow(t *testing.T) {
	for _, text := range append(varied(), embedder.Probes...) {
		wide, err := embed(builtin.New(), text)
		if err != nil {
			continue // blank: the conformance suite has it
		}
		narrow, err := embed(builtin.NewNarrow(), text)
		if err != nil {
			t.Fatal(err)
		}
		var squares float64
		for _, x := range wide[:builtin.NarrowDim] {
			squares += float64(x) * float64(x)
		}
		if c := embeddertest.Cosine(narrow, wide[:builtin.NarrowDim]) / math.Sqrt(squares); c < 0.99999 {
			t.Errorf("%.40q: the narrow vector has cosine %.6f with the beginning of the wide one", text, c)
		}
	}
}

func TestOneEmbedder(t *testing.T) {
	list := make([]*builtin.Embedder, 32)
	var callers sync.WaitGroup
	for i := range list {
		callers.Go(func() { list[i] = builtin.New() })
	}
	callers.Wait()
	for _, e := range list {
		if e == nil || e != list[0] {
			t.Fatal("there is more than one built-in embedder")
		}
	}
}

// lesson is a text of 300 characters, as long as lessons are.
const lesson = "The migration failed with \"database is locked\" because two workers opened the same SQLite file. " +
	"Set busy_timeout to 5000 and call db.SetMaxOpenConns(1) before runMigrations(ctx); the retry loop in " +
	"internal/store/migrate.go hides the first error, so read the log of the worker that started last, not first"

// TestNearness holds what the vectors are for.
func TestNearness(t *testing.T) {
	for _, c := range []struct{ text, near, far string }{
		{"parse HTTP request", "func parseHTTPRequest(r io.Reader) error", "func closeWindow(w *Window) error"},
		{"indexing files", "it indexes a file", "it paints a wall"},
		{"user name", "user_name", "file_mode"},
		{"migratoin failed", "the migration fails", "the cat sleeps"}, // a slip of the pen
		{"database is locked", lesson, "The kitchen closes at nine and the bread is sold out by eight in the morning."},
		{"连接失败", "数据库连接失败", "天气很好"},
		{"the chunked encoding of a body", "chunked body encoding", "the of a in to and"},
	} {
		near, far := cosine(t, c.text, c.near), cosine(t, c.text, c.far)
		if near <= far+0.1 {
			t.Errorf("%q has cosine %.3f with %q and %.3f with %q", c.text, near, c.near, far, c.far)
		}
	}
}

// TestUnrelated holds the cosine of texts that share no subject to what chance
// gives at this width: 1/√256 is its standard deviation.
func TestUnrelated(t *testing.T) {
	texts := []string{
		"The migration failed because two workers opened the same SQLite file.",
		"func (w *Writer) Flush() error { return w.buf.Flush() }",
		"Press the dough flat, fold it twice and let it rest overnight.",
		"kubectl rollout restart deployment/api --namespace staging",
		"Christina was born near Lisbon and plays tennis on Sundays.",
		"#include <stdint.h> typedef struct { uint8_t r, g, b; } pixel_t;",
		"SELECT count(*) FROM orders WHERE shipped_at IS NULL",
	}
	for i, a := range texts {
		for _, b := range texts[:i] {
			if c := cosine(t, a, b); c > 0.25 {
				t.Errorf("%q and %q have nothing to do with one another, but cosine %.3f", a, b, c)
			}
		}
	}
}

// TestCost: nothing is allocated but the vectors, whose list and the working memory of
// the call, which may be new (a pool keeps what it likes), are shared by a hundred texts.
func TestCost(t *testing.T) {
	e, texts := builtin.New(), slices.Repeat([]string{lesson}, 100)
	embed := func() {
		if _, err := e.Embed(t.Context(), embedder.Document, texts); err != nil {
			t.Fatal(err)
		}
	}
	embed()
	if n := testing.AllocsPerRun(20, embed) / float64(len(texts)); n > 1.5 {
		t.Errorf("a text costs %v allocations, want 1, its vector", n)
	}
}

func FuzzEmbed(f *testing.F) {
	for _, s := range append([]string{lesson, "aB1_cD2", "ABc", "數據a1数", "\xff\xfe", "ǅ ŉ İ"}, embedder.Probes...) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.TrimSpace(text) == "" {
			return
		}
		v := mustEmbed(t, text)
		if err := embeddertest.CheckUnit(v, builtin.Dim); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if c := embeddertest.Cosine(v, mustEmbed(t, text)); math.Abs(c-1) > 1e-4 {
			t.Errorf("%q embedded twice has cosine %v with itself", text, c)
		}
	})
}

func embed(e embedder.Embedder, text string) ([]float32, error) {
	vs, err := e.Embed(context.Background(), embedder.Document, []string{text})
	if err != nil {
		return nil, err
	}
	return vs[0], nil
}

func mustEmbed(t *testing.T, text string) []float32 {
	t.Helper()
	v, err := embed(builtin.New(), text)
	if err != nil {
		t.Fatalf("embed %.40q: %v", text, err)
	}
	return v
}

func cosine(t *testing.T, a, b string) float64 {
	t.Helper()
	return embeddertest.Cosine(mustEmbed(t, a), mustEmbed(t, b))
}
