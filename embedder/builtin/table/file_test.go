package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func file(t testing.TB, m *Model) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		t.Fatalf("write: %v", err)
	}
	return b.Bytes()
}

func TestFile(t *testing.T) {
	for _, bits := range []int{8, 4} {
		m := build(t, random(t, words, bits, 64, 32))
		first := file(t, m)
		again, err := Read(first)
		if err != nil {
			t.Fatalf("%d bits: read: %v", bits, err)
		}
		if !bytes.Equal(first, file(t, again)) {
			t.Errorf("%d bits: a model read and written is another file", bits)
		}
		if again.Name() != "random" || again.Source() != "none" || again.Bits() != bits || !slices.Equal(again.Widths(), []int{64, 32}) {
			t.Errorf("%d bits: read %q from %q, %d bits, widths %v", bits, again.Name(), again.Source(), again.Bits(), again.Widths())
		}
		want, got := make([]float32, 64), make([]float32, 64)
		for tok := range uint32(m.Vocabulary().Size()) {
			m.Row(tok, want)
			again.Row(tok, got)
			if m.Weight(tok) != again.Weight(tok) || !slices.Equal(want, got) {
				t.Errorf("%d bits: token %d is another in the file", bits, tok)
			}
		}
		for tok := range uint32(len(words)) {
			if diff := cmp.Diff(string(m.vocabulary.piece(tok)), string(again.vocabulary.piece(tok))); diff != "" {
				t.Error(diff)
			}
		}
	}
}

type full struct{}

var errFull = errors.New("no space left")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriteFails(t *testing.T) {
	if err := build(t, random(t, words, 8, 16)).Write(full{}); !errors.Is(err, errFull) {
		t.Errorf("error %v, want %v", err, errFull)
	}
}

// signed returns a file's bytes with the checksum that they ought to have.
func signed(b []byte) []byte {
	if len(b) < sumSize {
		return b
	}
	b = b[:len(b)-sumSize]
	return binary.LittleEndian.AppendUint32(b, checksum(b))
}

func TestDamagedFile(t *testing.T) {
	good := file(t, build(t, random(t, words, 8, 64, 32)))
	// Places of the header, which has two widths.
	const bits, widths, pieces, buckets, size, units = 6, 8, 12, 16, 20, 24
	for _, c := range []struct {
		name   string
		damage func(b []byte) []byte
	}{
		{"empty", func([]byte) []byte { return nil }},
		{"magic", func(b []byte) []byte { b[0]++; return signed(b) }},
		{"version", func(b []byte) []byte { b[4]++; return signed(b) }},
		{"one bit", func(b []byte) []byte { b[len(b)/2] ^= 8; return b }},
		{"cut", func(b []byte) []byte { return b[:len(b)-1] }},
		{"cut and signed", func(b []byte) []byte { return signed(b[:len(b)-1]) }},
		{"more", func(b []byte) []byte { return signed(append(b, 0)) }},
		{"bits", func(b []byte) []byte { b[bits] = 2; return signed(b) }},
		{"no width", func(b []byte) []byte { b[bits+1] = 0; return signed(b) }},
		{"width", func(b []byte) []byte { b[widths] = 63; return signed(b) }},
		{"pieces", func(b []byte) []byte { b[pieces+3] = 0xff; return signed(b) }},
		{"another piece", func(b []byte) []byte { b[pieces]++; b[buckets]--; return signed(b) }},
		{"buckets", func(b []byte) []byte { b[buckets+3] = 0xff; return signed(b) }},
		{"bytes of pieces", func(b []byte) []byte { b[size+3] = 0xff; return signed(b) }},
		{"infinite unit", func(b []byte) []byte { copy(b[units:], "\x00\x00\x80\x7f"); return signed(b) }},
		{"negative unit", func(b []byte) []byte { b[units+7] |= 0x80; return signed(b) }},
		{"header only", func(b []byte) []byte { return signed(b[:units]) }},
	} {
		if _, err := Read(c.damage(slices.Clone(good))); !errors.Is(err, ErrFile) {
			t.Errorf("%s: error %v, want %v", c.name, err, ErrFile)
		}
	}
	for n := range good { // each part may be where it ends
		if _, err := Read(signed(slices.Clone(good[:n]))); !errors.Is(err, ErrFile) {
			t.Errorf("%d of %d bytes: error %v, want %v", n, len(good), err, ErrFile)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, bits := range []int{8, 4} {
		f.Add(file(f, build(f, random(f, words, bits, 32, 16))))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		b = signed(slices.Clone(b)) // or nothing would be tried but the checksum
		m, err := Read(b)
		if err != nil {
			if !errors.Is(err, ErrFile) {
				t.Errorf("error %v, want %v", err, ErrFile)
			}
			return
		}
		written := file(t, m) // may be shorter: pieces begin with as much of the last as they can
		if again, err := Read(written); err != nil || !bytes.Equal(file(t, again), written) {
			t.Errorf("a file read and written is another, %v", err)
		}
		for _, width := range m.Widths() {
			v := make([]float32, width)
			if NewPooler(m, width).Vector("The migration failed: 数据 -r 404", v) {
				checkUnit(t, v)
			}
		}
		row := make([]float32, m.Widths()[0])
		m.Row(0, row)
		for _, x := range row {
			if x-x != 0 {
				t.Fatalf("a component is %v", x)
			}
		}
	})
}

// BenchmarkRead is what the first text costs that a process embeds.
func BenchmarkRead(b *testing.B) {
	pieces := make([]string, 60_000)
	for i := range pieces {
		pieces[i] = fmt.Sprintf("piece%x", i*7919)
	}
	for _, bits := range []int{8, 4} {
		s := random(b, pieces[:20_000*8/bits], bits, 256, 128)
		f := file(b, build(b, s))
		b.Run(fmt.Sprintf("%d bits", bits), func(b *testing.B) {
			b.SetBytes(int64(len(f)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Read(f); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
