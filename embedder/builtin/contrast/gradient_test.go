package contrast

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// random returns a model and pairs over it that share tokens, texts and no
// pattern.
func random(t *testing.T, tokens, width, pairs int) (*Model, *Pairs) {
	t.Helper()
	draw := rand.New(rand.NewPCG(7, uint64(pairs)))
	m := NewModel(tokens, width)
	for i := range m.Rows {
		m.Rows[i] = float32(draw.NormFloat64())
	}
	for i := range m.LogWeights {
		m.LogWeights[i] = float32(draw.NormFloat64()) / 2
	}
	p := &Pairs{}
	for range pairs {
		for _, side := range []*Bags{&p.A, &p.B} {
			text := make([]uint32, 2+draw.IntN(6))
			for j := range text {
				text[j] = uint32(draw.IntN(tokens))
			}
			side.Add(text)
		}
	}
	return m, p
}

func all(n int) []int {
	at := make([]int, n)
	for i := range at {
		at[i] = i
	}
	return at
}

// TestGradient holds the derivatives against differences of the loss, at one
// width and at nested ones, with and without texts that are masked.
func TestGradient(t *testing.T) {
	for _, c := range []struct {
		name   string
		widths []int
		twice  bool
	}{
		{name: "one width"},
		{name: "nested widths", widths: []int{3, 8, 12}},
		{name: "the same texts twice", widths: []int{4, 12}, twice: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, pairs := random(t, 20, 12, 9)
			at := all(pairs.Len())
			if c.twice {
				at = append(at, 0, 3)
			}
			trainer, err := NewTrainer(m, Options{Widths: c.widths, Temperature: .2, Steps: 1})
			if err != nil {
				t.Fatal(err)
			}
			lossNow := func() float64 { return trainer.forward(gather(pairs, at, 0, nil)) }
			b := gather(pairs, at, 0, nil)
			trainer.forward(b)
			grads, weightGrads := make([][]float32, m.Tokens()), make([]float32, m.Tokens())
			for i, token := range trainer.seen.tokens {
				grads[token] = make([]float32, m.Width)
				weightGrads[token] = trainer.gradient(b, i, grads[token], make([]float32, m.Width))
			}
			for token := range grads {
				if grads[token] == nil {
					continue
				}
				row := m.Row(uint32(token))
				for j := range row {
					hold(t, lossNow, &row[j], grads[token][j])
				}
				hold(t, lossNow, &m.LogWeights[token], weightGrads[token])
			}
		})
	}
}

// hold compares a derivative with the central difference.
func hold(t *testing.T, loss func() float64, x *float32, got float32) {
	t.Helper()
	const step = 5e-3
	before := *x
	*x = before + step
	up := loss()
	*x = before - step
	down := loss()
	*x = before
	if want := (up - down) / (2 * step); math.Abs(float64(got)-want) > 5e-4+.01*math.Abs(want) {
		t.Errorf("the derivative is %v, the difference %v", got, want)
	}
}

// TestLoss holds the loss against the formula, computed plainly.
func TestLoss(t *testing.T) {
	const n, width, temperature = 100, 16, .1 // more rows than a block has
	m, pairs := random(t, 50, width, n)
	widths := []int{4, width}
	a, b := m.Vectors(&pairs.A, 0, n), m.Vectors(&pairs.B, 0, n)
	masked := make([][]int, n)
	for i := range n / 2 {
		masked[i], masked[n/2+i] = []int{n/2 + i}, []int{i}
	}
	got, _, _ := newLoss(widths, temperature, 0).of(a, b, n, masked)
	var want float64
	for _, w := range widths {
		cosine := func(i, j int) float64 {
			var dot, aa, bb float64
			for k := range w {
				x, y := float64(a[i*width+k]), float64(b[j*width+k])
				dot, aa, bb = dot+x*y, aa+x*x, bb+y*y
			}
			return dot / math.Sqrt(aa*bb)
		}
		for i := range n {
			var row, column float64
			for j := range n {
				if slices.Contains(masked[i], j) {
					continue
				}
				row += math.Exp(cosine(i, j) / temperature)
				column += math.Exp(cosine(j, i) / temperature)
			}
			want += (math.Log(row)+math.Log(column))/2 - cosine(i, i)/temperature
		}
	}
	want /= float64(n * len(widths))
	if math.Abs(got-want) > 1e-4*want {
		t.Errorf("the loss is %v, want %v", got, want)
	}
}
