package lsa

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// plain is a matrix with every entry.
type plain struct {
	tokens int
	values []float32
}

func (p plain) Texts() int  { return len(p.values) / p.tokens }
func (p plain) Tokens() int { return p.tokens }

func (p plain) Row(text int, s *Scratch) ([]uint32, []float32) {
	s.Tokens, s.Values = s.Tokens[:0], s.Values[:0]
	for t, v := range p.values[text*p.tokens : (text+1)*p.tokens] {
		if v != 0 {
			s.Tokens, s.Values = append(s.Tokens, uint32(t)), append(s.Values, v)
		}
	}
	return s.Tokens, s.Values
}

// TestDecompose takes apart a matrix that was put together from known
// directions and singular values.
func TestDecompose(t *testing.T) {
	const texts, tokens, rank, width = 3000, 60, 8, 5 // more texts than a panel
	draw := rand.New(rand.NewPCG(3, 3))
	left, right := columns(draw, texts, rank), columns(draw, tokens, rank)
	values := []float32{50, 40, 30, 20, 10, 5, 4, 3}
	m := plain{tokens: tokens, values: make([]float32, texts*tokens)}
	for i := range texts {
		for j := range tokens {
			for k, s := range values {
				m.values[i*tokens+j] += s * left[i*rank+k] * right[j*rank+k]
			}
		}
	}
	d, err := Decompose(m, Options{Width: width, Extra: 3, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for k := range width {
		if math.Abs(float64(d.Values[k]/values[k])-1) > 1e-3 {
			t.Errorf("singular value %d is %v, want %v", k, d.Values[k], values[k])
		}
		var same float64
		for j := range tokens {
			same += float64(d.Directions[j*width+k] * right[j*rank+k])
		}
		if math.Abs(math.Abs(same)-1) > 1e-3 {
			t.Errorf("direction %d has cosine %v with the true one", k, same)
		}
	}
}

// columns returns orthonormal random columns.
func columns(draw *rand.Rand, n, l int) []float32 {
	q := make([]float32, n*l)
	for i := range q {
		q[i] = float32(draw.NormFloat64())
	}
	if err := orthonormalize(q, l); err != nil {
		panic(err)
	}
	return q
}

func TestDecomposeRefuses(t *testing.T) {
	alike := plain{tokens: 6, values: make([]float32, 60)}
	for i := range alike.values {
		alike.values[i] = 1
	}
	if _, err := Decompose(alike, Options{Width: 4}); !errors.Is(err, errRank) {
		t.Errorf("ten equal texts: error %v, want %v", err, errRank)
	}
	for name, o := range map[string]Options{
		"no width": {}, "more than tokens": {Width: 7}, "fewer than no extra": {Width: 2, Extra: -1},
	} {
		if _, err := Decompose(alike, o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
