package builtin_test

import (
	"encoding/binary"
	"encoding/hex"
	"flag"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/embedder/builtin"
	"github.com/recalld/recalld/embedder/embeddertest"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestConformance(t *testing.T) {
	embeddertest.Run(t, func(*testing.T) embedder.Embedder { return builtin.New() })
}

// lesson is a text of 300 characters, as long as lessons are.
const lesson = "The migration failed with \"database is locked\" because two workers opened the same SQLite file. " +
	"Set busy_timeout to 5000 and call db.SetMaxOpenConns(1) before runMigrations(ctx); the retry loop in " +
	"internal/store/migrate.go hides the first error, so read the log of the worker that started last, not first"

// TestGolden holds the vectors, bit for bit, on every platform that runs it.
// If it fails on one platform only, something there is rounded differently; if
// a change was meant, the model needs another name.
func TestGolden(t *testing.T) {
	texts := append([]string{
		lesson, "x", "?!", "snake_case CamelCase HTTPServer2", "running runs ran", strings.Repeat("word after word ", 5000),
	}, embedder.Probes...)
	var got strings.Builder
	for _, text := range texts {
		v := embed(t, text)
		h := fnv.New64a()
		for _, x := range v {
			h.Write(binary.LittleEndian.AppendUint32(nil, math.Float32bits(x)))
		}
		fmt.Fprintf(&got, "%s %.9g %.40q\n", hex.EncodeToString(h.Sum(nil)), v[:3], text)
	}
	m, err := builtin.New().Model(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(&got, m.Space())
	const file = "testdata/vectors.golden"
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("the vectors changed (-want +got):\n%s", diff)
	}
}

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

func TestCost(t *testing.T) {
	e, texts := builtin.New(), []string{lesson}
	if _, err := e.Embed(t.Context(), embedder.Document, texts); err != nil {
		t.Fatal(err)
	}
	// The list, and one vector: nothing per word.
	if n := testing.AllocsPerRun(100, func() { e.Embed(t.Context(), embedder.Document, texts) }); n > 3 {
		t.Errorf("a text costs %v allocations, want at most 3", n)
	}
}

func BenchmarkEmbed(b *testing.B) {
	e, texts := builtin.New(), []string{lesson}
	b.SetBytes(int64(len(lesson)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Embed(b.Context(), embedder.Document, texts); err != nil {
			b.Fatal(err)
		}
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
		v := embed(t, text)
		if err := embeddertest.CheckUnit(v, builtin.Dim); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if c := embeddertest.Cosine(v, embed(t, text)); math.Abs(c-1) > 1e-4 {
			t.Errorf("%q embedded twice has cosine %v with itself", text, c)
		}
	})
}

func embed(t *testing.T, text string) []float32 {
	t.Helper()
	vs, err := builtin.New().Embed(t.Context(), embedder.Document, []string{text})
	if err != nil {
		t.Fatalf("embed %.40q: %v", text, err)
	}
	return vs[0]
}

func cosine(t *testing.T, a, b string) float64 {
	t.Helper()
	return embeddertest.Cosine(embed(t, a), embed(t, b))
}
