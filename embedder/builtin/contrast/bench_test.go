package contrast

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkStep is a step of a usual size: 2,048 pairs, tokens as unevenly
// spread as words are, two widths.
func BenchmarkStep(b *testing.B) {
	const tokens, width, batch = 50_000, 256, 2048
	draw := rand.New(rand.NewPCG(1, 1))
	zipf := rand.NewZipf(draw, 1.1, 3, tokens-1)
	m := NewModel(tokens, width)
	for i := range m.Rows {
		m.Rows[i] = float32(draw.NormFloat64()) / 16
	}
	pairs := &Pairs{}
	for range 4 * batch {
		for side, n := range map[*Bags]int{&pairs.A: 12, &pairs.B: 90} {
			text := make([]uint32, n)
			for j := range text {
				text[j] = uint32(zipf.Uint64())
			}
			side.Add(text)
		}
	}
	t, err := NewTrainer(m, Options{Widths: []int{128, 256}, Steps: 1 << 30})
	if err != nil {
		b.Fatal(err)
	}
	at := make([]int, batch)
	for b.Loop() {
		for i := range at {
			at[i] = draw.IntN(pairs.Len())
		}
		if _, err := t.Step(pairs, at); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(batch*float64(b.N)/b.Elapsed().Seconds(), "pairs/s")
}
