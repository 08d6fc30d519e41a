package adaptation

import (
	"fmt"
	"math"
	"slices"

	"github.com/recalld/recalld/embedder/builtin/contrast"
	"github.com/recalld/recalld/embedder/builtin/table"
)

// subset is the pairs as tokens, and the part of the table with these tokens. The rows of
// other tokens would take memory and never change.
type subset struct {
	parts parts
	pairs contrast.Pairs // learned, tuned, judged, general
	// Indices of each part in pairs.
	learned, tuned, judged, general []int
	// tokens are the base's tokens in pairs, ascending. A token of pairs is an index in it.
	tokens []uint32
	// model has the base's rows and weights of tokens.
	model   *contrast.Model
	workers int // of each model
	width   int
	// widths are the base's, ascending.
	widths []int
}

func newSubset(from *table.Model, p parts, general []Pair, workers int) *subset {
	w := &subset{parts: p, workers: workers, width: from.Widths()[0], widths: slices.Sorted(slices.Values(from.Widths()))}
	var bags contrast.Pairs // of the base's tokens
	tokenizer := table.NewTokenizer(from.Vocabulary())
	var tokens []uint32
	add := func(to *contrast.Bags, text string) {
		tokens = tokens[:0]
		tokenizer.Tokens(text, func(t uint32) { tokens = append(tokens, t) })
		to.Add(tokens)
	}
	place := func(o Pair) int {
		add(&bags.A, o.A)
		add(&bags.B, o.B)
		return bags.Len() - 1
	}
	all := func(part []sample) (at []int) {
		for _, o := range part {
			at = append(at, place(o.Pair))
		}
		return at
	}
	w.learned, w.tuned, w.judged = all(p.learned), all(p.tuned), all(p.judged)
	for _, o := range general {
		w.general = append(w.general, place(o))
	}
	w.compact(from, &bags)
	w.model = w.dequantised(from)
	return w
}

// compact numbers the tokens of the pairs without gaps.
func (w *subset) compact(from *table.Model, bags *contrast.Pairs) {
	used := make([]bool, from.Vocabulary().Size())
	each := func(do func(b, to *contrast.Bags, i int)) {
		for i := range bags.Len() {
			do(&bags.A, &w.pairs.A, i)
			do(&bags.B, &w.pairs.B, i)
		}
	}
	each(func(b, _ *contrast.Bags, i int) {
		for _, t := range b.At(i).Tokens {
			used[t] = true
		}
	})
	places := make([]uint32, len(used))
	for t, is := range used {
		if is {
			places[t] = uint32(len(w.tokens))
			w.tokens = append(w.tokens, uint32(t))
		}
	}
	var tokens []uint32
	each(func(b, to *contrast.Bags, i int) {
		tokens = tokens[:0]
		bag := b.At(i)
		for j, t := range bag.Tokens {
			for range bag.Counts[j] {
				tokens = append(tokens, places[t])
			}
		}
		to.Add(tokens)
	})
}

// leastWeight replaces a weight of 0, whose logarithm is infinite.
const leastWeight = 1e-6

// dequantised returns the rows and weights of the tokens from a table.
func (w *subset) dequantised(from *table.Model) *contrast.Model {
	m := contrast.NewModel(len(w.tokens), w.width)
	m.Workers = w.workers
	for i, t := range w.tokens {
		from.Row(t, m.Row(uint32(i)))
		m.LogWeights[i] = float32(math.Log(float64(max(from.Weight(t), leastWeight))))
	}
	return m
}

// between interpolates the model at a share of the way from the base to another model.
func (w *subset) between(m *contrast.Model, share float64) *contrast.Model {
	mixed := w.model.Clone()
	for i := range mixed.Rows {
		mixed.Rows[i] += float32(share) * (m.Rows[i] - mixed.Rows[i])
	}
	for i := range mixed.LogWeights {
		mixed.LogWeights[i] += float32(share) * (m.LogWeights[i] - mixed.LogWeights[i])
	}
	return mixed
}

// quantise returns the base with the rows and weights of a trained model.
func (w *subset) quantise(from *table.Model, m *contrast.Model) (*table.Model, error) {
	size := from.Vocabulary().Size()
	s := table.Spec{
		Name: from.Name() + nameInfix + "00000000", Source: from.Source(), Vocabulary: from.Vocabulary(), Widths: from.Widths(),
		Bits: from.Bits(), Rows: make([]float32, size*w.width), Weights: make([]float32, size),
	}
	for t := range uint32(size) {
		from.Row(t, s.Rows[int(t)*w.width:][:w.width])
		s.Weights[t] = from.Weight(t)
	}
	for i, t := range w.tokens {
		copy(s.Rows[int(t)*w.width:], m.Row(uint32(i)))
		s.Weights[t] = float32(math.Exp(float64(m.LogWeights[i])))
	}
	adapted, err := table.New(s)
	if err != nil {
		return nil, fmt.Errorf("quantise table: %w", err)
	}
	return adapted, nil
}
