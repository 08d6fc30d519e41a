package store

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// libraryChunks decodes chunks by reflection.
func libraryChunks(raw []byte) ([]memory.FileChunk, error) {
	chunks, err := decode[[]storedChunk](raw)
	list := make([]memory.FileChunk, len(chunks))
	for i, c := range chunks {
		list[i] = memory.FileChunk{
			Doc: c.Doc, Hash: c.Hash, Start: c.Start, End: c.End, StartLine: c.StartLine, EndLine: c.EndLine, Symbol: c.Symbol,
		}
	}
	return list, err
}

// encodedChunks returns lists of chunks as they are stored, with numbers and names of all
// lengths that CBOR writes differently.
func encodedChunks(t testing.TB) (all [][]byte) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 1))
	numbers := []int{0, 23, 24, 255, 256, 65_535, 65_536, math.MaxUint32, math.MaxUint32 + 1, math.MaxInt64}
	symbols := []string{"", "Open", "größe.Ändern", strings.Repeat("a", 23), strings.Repeat("b", 24), strings.Repeat("c", 300)}
	pick := func() int { return numbers[random.IntN(len(numbers))] }
	for _, n := range []int{0, 1, 2, 23, 24, 300} {
		list := make([]memory.FileChunk, n)
		for i := range list {
			list[i] = memory.FileChunk{
				Doc: memory.DocumentID(string(rune(i))), Hash: memory.DocumentID(string(rune(random.IntN(1000)))),
				Start: pick(), End: pick(), StartLine: pick(), EndLine: pick(), Symbol: symbols[random.IntN(len(symbols))],
			}
		}
		raw, err := encodeChunks(list)
		must(t, err)
		all = append(all, raw)
	}
	return all
}

func TestReadChunks(t *testing.T) {
	for _, raw := range encodedChunks(t) {
		want, err := libraryChunks(raw)
		must(t, err)
		if got, ok := readChunks(raw); !ok || !slices.Equal(got, want) {
			t.Errorf("%d chunks: got %v (%v), want %v", len(want), got, ok, want)
		}
	}
	id := strings.Repeat("i", 16)
	for name, raw := range map[string]string{
		"nothing": "", "no list": "\x00", "a list without its chunks": "\x99\xff\xff", "more behind it": "\x80\x00", "an endless list": "\x9f\xff",
		"a reserved width":      "\x9c" + strings.Repeat("\x00", 60),
		"a short id":            "\x81\x87\x41a\x50" + id + "\x00\x00\x00\x00\x60" + strings.Repeat("\x00", 20),
		"a number above an int": "\x81\x87\x50" + id + "\x50" + id + "\x1b" + strings.Repeat("\xff", 8) + "\x00\x00\x00\x60",
		"no UTF-8":              "\x81\x87\x50" + id + "\x50" + id + "\x00\x00\x00\x00\x61\xff",
	} {
		if got, ok := readChunks([]byte(raw)); ok {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

// FuzzReadChunks: what is read at all is read as the library reads it.
func FuzzReadChunks(f *testing.F) {
	for _, raw := range encodedChunks(f) {
		if len(raw) < 4096 {
			f.Add(raw)
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, ok := readChunks(raw)
		if !ok {
			return
		}
		if want, err := libraryChunks(raw); err != nil || !slices.Equal(got, want) {
			t.Errorf("got %v, the library %v (error %v)", got, want, err)
		}
	})
}

func BenchmarkDecodeChunks(b *testing.B) {
	raw := encodedChunks(b)[3] // of 23 chunks
	for name, decode := range map[string]func([]byte) error{
		"library": func(raw []byte) error { _, err := libraryChunks(raw); return err },
		"own":     func(raw []byte) error { _, err := decodeChunks(raw); return err },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := decode(raw); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
