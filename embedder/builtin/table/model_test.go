package table

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// words are what the small models of the tests know.
var words = []string{"the", "migration", "failed", "read", "file", "readfile", "404", "->", "-r", "数据", "is", "locked"}

// random returns what a model of random rows is made from, the same every time
// and everywhere. Half of its tokens are buckets.
func random(t testing.TB, pieces []string, bits int, widths ...int) Spec {
	t.Helper()
	v, err := NewVocabulary(pieces, len(pieces))
	if err != nil {
		t.Fatalf("new vocabulary: %v", err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	s := Spec{Name: "random", Source: "none", Vocabulary: v, Widths: widths, Bits: bits}
	for range v.Size() {
		s.Weights = append(s.Weights, float32(rng.IntN(3000))/1000)
		size := rng.IntN(100) // rows of different lengths
		for range widths[0] {
			// Two dice: small components are more frequent, as in what is learned.
			s.Rows = append(s.Rows, float32((rng.IntN(2001)+rng.IntN(2001)-2000)*size)/1000)
		}
	}
	return s
}

func build(t testing.TB, s Spec) *Model {
	t.Helper()
	m, err := New(s)
	if err != nil {
		t.Fatalf("new model: %v", err)
	}
	return m
}

func TestQuantised(t *testing.T) {
	for _, c := range []struct {
		bits int
		off  float64 // the most that a row's rounding may be of its length
	}{{8, 0.01}, {4, 0.15}} {
		s := random(t, words, c.bits, 64)
		m := build(t, s)
		row := make([]float32, 64)
		for tok := range uint32(s.Vocabulary.Size()) {
			if got, want := m.Weight(tok), s.Weights[tok]; math.Abs(float64(got-want)) > 1e-4 {
				t.Errorf("%d bits: token %d weighs %v, want %v", c.bits, tok, got, want)
			}
			m.Row(tok, row)
			var off, all float64
			for i, x := range s.Rows[tok*64:][:64] {
				off += float64(x-row[i]) * float64(x-row[i])
				all += float64(x) * float64(x)
			}
			if math.Sqrt(off) > c.off*math.Sqrt(all) {
				t.Errorf("%d bits: row %d is off by %.3f of its length", c.bits, tok, math.Sqrt(off/all))
			}
		}
	}
}

func TestSpec(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		name  string
		spoil func(*Spec)
	}{
		{"no name", func(s *Spec) { s.Name = "" }},
		{"long name", func(s *Spec) { s.Name = strings.Repeat("x", MaxName+1) }},
		{"long source", func(s *Spec) { s.Source = strings.Repeat("x", MaxName+1) }},
		{"no vocabulary", func(s *Spec) { s.Vocabulary = nil }},
		{"no widths", func(s *Spec) { s.Widths = nil }},
		{"narrow first", func(s *Spec) { s.Widths = []int{32, 64} }},
		{"odd width", func(s *Spec) { s.Widths = []int{64, 40} }},
		{"too wide", func(s *Spec) { s.Widths = []int{MaxWidth + WidthUnit} }},
		{"bits", func(s *Spec) { s.Bits = 5 }},
		{"a row short", func(s *Spec) { s.Rows = s.Rows[64:] }},
		{"a weight short", func(s *Spec) { s.Weights = s.Weights[1:] }},
		{"component not a number", func(s *Spec) { s.Rows[7] = nan }},
		{"infinite component", func(s *Spec) { s.Rows[7] = -inf }},
		{"weight not a number", func(s *Spec) { s.Weights[7] = nan }},
		{"infinite weight", func(s *Spec) { s.Weights[7] = inf }},
		{"negative weight", func(s *Spec) { s.Weights[7] = -1 }},
	} {
		s := random(t, words, 8, 64, 32)
		c.spoil(&s)
		if _, err := New(s); !errors.Is(err, ErrSpec) {
			t.Errorf("%s: error %v, want %v", c.name, err, ErrSpec)
		}
	}
	s := random(t, words, 0, 64, 32)
	if m := build(t, s); m.Bits() != 8 {
		t.Errorf("a model has %d bits when none are asked for, want 8", m.Bits())
	}
}
