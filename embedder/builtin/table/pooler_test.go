package table

import (
	"encoding/binary"
	"encoding/hex"
	"flag"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// lesson is a text of 300 characters, as long as lessons are.
const lesson = "The migration failed with \"database is locked\" because two workers opened the same SQLite file. " +
	"Set busy_timeout to 5000 and call db.SetMaxOpenConns(1) before runMigrations(ctx); the retry loop in " +
	"internal/store/migrate.go hides the first error, so read the log of the worker that started last, not first"

// many returns so many different words.
func many(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("w%c%c%c", 'a'+i%26, 'a'+i/26%26, 'a'+i/26/26%26)
	}
	return list
}

func checkUnit(t *testing.T, v []float32) {
	t.Helper()
	var squares float64
	for _, x := range v {
		squares += float64(x) * float64(x)
	}
	if math.Abs(squares-1) > 1e-5 {
		t.Fatalf("a vector has length %v, want 1", math.Sqrt(squares))
	}
}

// TestVector holds the integers against what they stand for.
func TestVector(t *testing.T) {
	known := append(many(2000), words...) // more rows than lanes take at once
	for _, bits := range []int{8, 4} {
		m := build(t, random(t, known, bits, 64, 32))
		for _, text := range []string{
			"the", "-r", "unknown", lesson, "read read READ readFile", strings.Join(known[:maxRows+1], " "),
			strings.Join(known, " ") + strings.Repeat(" the", 100_000),
		} {
			for _, width := range m.Widths() {
				got := make([]float32, width)
				if !NewPooler(m, width).Vector(text, got) {
					t.Fatalf("%.40q has no vector", text)
				}
				checkUnit(t, got)
				var cosine float64
				for i, x := range inFloats(m, width, text) {
					cosine += x * float64(got[i])
				}
				if cosine < 0.99999 {
					t.Errorf("%d bits, width %d: %.40q has cosine %.6f with its vector in floating point", bits, width, text, cosine)
				}
			}
		}
	}
}

// TestFullLanes sums rows that all count alike and are all as large as they can
// be: one more, or a bit more in a factor, and a lane would overflow.
func TestFullLanes(t *testing.T) {
	known := many(3 * maxRows)
	for _, bits := range []int{8, 4} {
		for _, sign := range []float32{1, -1} {
			s := random(t, known, bits, 32)
			for i := range s.Rows {
				s.Rows[i] = sign
			}
			for i := range s.Weights {
				s.Weights[i] = 1
			}
			v := make([]float32, 32)
			if !NewPooler(build(t, s), 32).Vector(strings.Join(known, " "), v) {
				t.Fatal("no vector")
			}
			for i, x := range v {
				if want := float64(sign) / math.Sqrt(32); math.Abs(float64(x)-want) > 1e-6 {
					t.Errorf("%d bits: component %d is %v, want %v", bits, i, x, want)
				}
			}
		}
	}
}

// inFloats returns the vector of a text by the book.
func inFloats(m *Model, width int, text string) []float64 {
	counts := map[uint32]uint32{}
	NewTokenizer(m.Vocabulary()).Tokens(text, func(t uint32) { counts[t]++ })
	v, row := make([]float64, width), make([]float32, m.Widths()[0])
	for t, n := range counts {
		m.Row(t, row)
		for i := range v {
			v[i] += float64(row[i]) * float64(m.Weight(t)) * float64(Repeats(n)) / RepeatsUnit
		}
	}
	var squares float64
	for _, x := range v {
		squares += x * x
	}
	for i := range v {
		v[i] /= math.Sqrt(squares)
	}
	return v
}

// TestGolden holds the file and the vectors, bit for bit, on every platform
// that runs it. If it fails on one platform only, something there is rounded
// differently; if a change was meant, files of before are no longer read right,
// and need another version.
func TestGolden(t *testing.T) {
	known := append(many(2000), words...)
	texts := []string{
		lesson, "x", "?!", "🙂", "snake_case CamelCase HTTPServer2", "größere Änderung – 数据库连接失败", "ls -r 404 -> file",
		strings.Repeat("word after word ", 5000), strings.Join(known, " "),
	}
	var got strings.Builder
	for _, bits := range []int{8, 4} {
		m := build(t, random(t, known, bits, 256, 128))
		f := file(t, m)
		fmt.Fprintf(&got, "%d bits: file %x\n", bits, f[len(f)-sumSize:])
		for _, width := range m.Widths() {
			p, v := NewPooler(m, width), make([]float32, width)
			for _, text := range texts {
				p.Vector(text, v)
				h := fnv.New64a()
				for _, x := range v {
					h.Write(binary.LittleEndian.AppendUint32(nil, math.Float32bits(x)))
				}
				fmt.Fprintf(&got, "%d %s %.9g %.40q\n", width, hex.EncodeToString(h.Sum(nil)), v[:3], text)
			}
		}
	}
	const golden = "testdata/vectors.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("the vectors changed (-want +got):\n%s", diff)
	}
}

func TestNoVector(t *testing.T) {
	s := random(t, words, 8, 16)
	silent, _ := s.Vocabulary.Token([]byte("the"))
	s.Weights[silent] = 0
	flat, _ := s.Vocabulary.Token([]byte("is"))
	clear(s.Rows[flat*16:][:16])
	p, v := NewPooler(build(t, s), 16), make([]float32, 16)
	v[3] = 7
	before := slices.Clone(v)
	for _, text := range []string{"", " \n", "the", "is", "The the is"} {
		if p.Vector(text, v) || !slices.Equal(v, before) {
			t.Errorf("%q has the vector %v", text, v)
		}
	}
	if !p.Vector("the file", v) {
		t.Error("a text has no vector after texts without one")
	}
}

// TestPoolerForgets embeds texts that need far different room in turn; what one
// left behind would show in the next.
func TestPoolerForgets(t *testing.T) {
	known := append(many(2000), words...)
	m := build(t, random(t, known, 8, 64))
	p := NewPooler(m, 64)
	for _, text := range []string{"file", strings.Join(known, " "), "read file", " ", lesson, "file"} {
		got, want := make([]float32, 64), make([]float32, 64)
		p.Vector(text, got)
		NewPooler(m, 64).Vector(text, want)
		if !slices.Equal(got, want) {
			t.Errorf("%.40q has another vector after other texts", text)
		}
	}
}

func TestVectorCost(t *testing.T) {
	p, v := NewPooler(build(t, random(t, words, 8, 256)), 256), make([]float32, 256)
	p.Vector(lesson, v)
	if n := testing.AllocsPerRun(100, func() { p.Vector(lesson, v) }); n > 0 {
		t.Errorf("a text costs %v allocations, want none", n)
	}
}

func TestRepeats(t *testing.T) {
	if got := Repeats(1); got != RepeatsUnit {
		t.Errorf("once counts %d, want %d", got, RepeatsUnit)
	}
	last := uint64(0)
	for n := uint32(1); n < 1<<20; n += 1 + n/7 {
		got, want := float64(Repeats(n)), RepeatsUnit*(1+math.Log(float64(n)))
		if got > want+1 || got < 0.97*want-1 {
			t.Errorf("%d repeats count %v, want about %.1f", n, got, want)
		}
		if Repeats(n) < last {
			t.Errorf("%d repeats count %v, fewer counted %d", n, got, last)
		}
		last = Repeats(n)
	}
	if Repeats(math.MaxUint32) <= last {
		t.Error("the most repeats overflow")
	}
}

// BenchmarkVector embeds texts of a lesson's size whose words are frequent and
// rare as words are, so that rows come from memory as they would: by the law of
// Zipf, one word in twelve unknown. One long text is all of them.
func BenchmarkVector(b *testing.B) {
	known := many(17_000)
	m := build(b, random(b, known, 8, 256, 128))
	rng := rand.New(rand.NewPCG(5, 6))
	zipf := rand.NewZipf(rng, 1.05, 3, uint64(len(known)-1))
	var texts []string
	for range 1000 {
		var text strings.Builder
		for i := range 60 {
			if i%12 == 11 {
				text.WriteString("un")
			}
			text.WriteString(known[zipf.Uint64()])
			text.WriteByte(' ')
		}
		texts = append(texts, text.String())
	}
	for _, c := range []struct {
		name  string
		texts []string
	}{{"short", texts}, {"long", []string{strings.Join(texts, "\n")}}} {
		for _, width := range m.Widths() {
			b.Run(fmt.Sprintf("%s/%d", c.name, width), func(b *testing.B) {
				p, v := NewPooler(m, width), make([]float32, width)
				i, size := 0, 0
				for b.Loop() {
					p.Vector(c.texts[i], v)
					size += len(c.texts[i])
					i = (i + 1) % len(c.texts)
				}
				b.SetBytes(int64(size / b.N))
			})
		}
	}
}

// TestWeighted: a piece that counts for nothing is not there, one that counts in full is
// as ever, and a bucket of two pieces counts as the one that counts more.
func TestWeighted(t *testing.T) {
	m := build(t, random(t, words, 8, 64, 32))
	p := NewPooler(m, 64)
	vector := func(text string, weight func(piece []byte) float64) []float32 {
		v := make([]float32, 64)
		if weight == nil {
			p.Vector(text, v)
		} else if !p.Weighted(text, weight, v) {
			return nil
		}
		return v
	}
	only := func(word string, rest float64) func([]byte) float64 {
		return func(piece []byte) float64 {
			if string(piece) == word {
				return 1
			}
			return rest
		}
	}
	for name, c := range map[string]struct{ got, want []float32 }{
		"in full":           {vector(lesson, only("", 1)), vector(lesson, nil)},
		"more than in full": {vector(lesson, only("", 7)), vector(lesson, nil)},
		"all by half":       {vector(lesson, only("", .5)), vector(lesson, nil)},
		"the others not":    {vector("the unknownword read", only("read", 0)), vector("read", nil)},
		"all not":           {vector("the read", only("", 0)), nil},
		"a bucket of two":   {vector("unknownword unknownworld", only("unknownworld", 0)), vector("unknownworld unknownword", only("unknownworld", 0))},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if cmp.Equal(vector("the read", only("read", .1)), vector("the read", nil)) {
		t.Error("a tenth of a word's weight makes no difference")
	}
}

// TestAddHalves compares the processor's own form with the plain one, with the largest factors
// and steps, for rows of one group and more.
func TestAddHalves(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 1))
	for _, groups := range []int{0, 1, 2, 16, 17, 64} {
		for range 20 {
			var rows [rowsAtOnce][]byte
			var factors [rowsAtOnce]uint64
			for i := range rows {
				rows[i] = make([]byte, groups*groupBytes)
				for j := range rows[i] {
					rows[i][j] = byte(random.Uint32() | -random.Uint32N(2)) // every second byte is 255
				}
				factors[i] = random.Uint64N(1<<factorBits + 1)
			}
			factors[random.IntN(rowsAtOnce)] = 1 << factorBits
			got, want := make([]uint64, 8*groups), make([]uint64, 8*groups)
			for range maxRows / rowsAtOnce {
				addHalves(got, &rows, &factors)
				addHalvesPlain(want, &rows, &factors)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%d groups: %v, want %v", groups, got, want)
			}
		}
	}
}
