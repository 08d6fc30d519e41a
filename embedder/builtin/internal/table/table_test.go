package table

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/recalld/recalld/embedder/builtin/internal/token"
)

// random returns a small model of random rows, the same one every time.
func random(t testing.TB, bits int) (*Model, Spec) {
	t.Helper()
	voc, err := token.NewVocabulary([]string{"the", "migration", "failed", "read", "file", "readfile", "404", "->", "-r", "数据"}, 90)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	s := Spec{Name: "random", Source: "none", Vocabulary: voc, Widths: []int{64, 32}, Bits: bits}
	for range voc.Size() {
		s.Weights = append(s.Weights, rng.Float32()*3)
		for range s.Widths[0] {
			s.Rows = append(s.Rows, float32(rng.NormFloat64()))
		}
	}
	m, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	return m, s
}

func TestFileRoundTrip(t *testing.T) {
	for _, bits := range []int{8, 4} {
		m, _ := random(t, bits)
		var first, second bytes.Buffer
		if err := m.Write(&first); err != nil {
			t.Fatal(err)
		}
		again, err := Read(first.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if err := again.Write(&second); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("%d bits: a model read and written is another file", bits)
		}
		if !slices.Equal(m.rows, again.rows) {
			t.Errorf("%d bits: a model has other rows once it was written", bits)
		}
	}
}

func TestQuantised(t *testing.T) {
	for _, c := range []struct {
		bits int
		most float64 // relative error of a row
	}{{8, 0.01}, {4, 0.16}} {
		m, s := random(t, c.bits)
		row := make([]float32, 64)
		for tok := range uint32(s.Vocabulary.Size()) {
			if got, want := m.Weight(tok), s.Weights[tok]; math.Abs(float64(got-want)) > 1e-4 {
				t.Errorf("token %d weighs %v, want %v", tok, got, want)
			}
			m.Row(tok, row)
			var off, all float64
			for i, x := range s.Rows[tok*64:][:64] {
				off += float64(x-row[i]) * float64(x-row[i])
				all += float64(x) * float64(x)
			}
			if math.Sqrt(off/all) > c.most {
				t.Errorf("%d bits: row %d is off by %.3f of its length", c.bits, tok, math.Sqrt(off/all))
			}
		}
	}
}
