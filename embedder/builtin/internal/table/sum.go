package table

import (
	"math"
	"math/bits"

	"github.com/recalld/recalld/embedder/builtin/internal/token"
)

// Repeats is how much a token that a text has count times counts, in
// 1/RepeatsUnit: 1+ln count, so that a long text is not lost in its commonest
// words. It is in whole numbers: the logarithm of the power of two below is a
// multiple of 256·ln 2 ≈ 177, and what lies between is interpolated, which is
// at most 2 % too little.
func Repeats(count uint32) uint64 {
	n := bits.Len32(count) - 1
	frac := (uint64(count) - 1<<n) * 177 >> n
	return RepeatsUnit + uint64(n)*177 + frac
}

// RepeatsUnit is Repeats of a token that a text has once.
const RepeatsUnit = 256

// Pooler turns texts into vectors. It keeps its buffers between texts, so that
// a text costs no allocation. It is for one goroutine at a time; many may share
// a model.
//
// A vector is the sum of the rows of a text's tokens, each once, times the
// token's weight and Repeats of its count, scaled to length 1. The sum is of
// integers, and so the same on every machine.
type Pooler struct {
	model     *Model
	tokenizer *token.Tokenizer
	add       func(uint32) // the method value, made once
	counts    []uint32     // by token
	found     []uint32     // tokens of the text, each once, as they came
	total     []int64
}

// NewPooler returns a pooler that gives vectors of one of the model's widths.
func NewPooler(m *Model, width int) *Pooler {
	p := &Pooler{
		model: m, tokenizer: token.NewTokenizer(m.vocabulary),
		counts: make([]uint32, m.vocabulary.Size()), total: make([]int64, width),
	}
	p.add = func(t uint32) {
		if p.counts[t] == 0 {
			p.found = append(p.found, t)
		}
		p.counts[t]++
	}
	return p
}

// Vector writes the unit vector of a text to dst, which has the pooler's width,
// and reports whether the text has any token that weighs something: if not, it
// is blank to the model, and dst is left as it was.
func (p *Pooler) Vector(text string, dst []float32) bool {
	p.tokenizer.Tokens(text, p.add)
	clear(p.total)
	for _, t := range p.found {
		factor := int64(uint64(p.model.scales[t]) * uint64(p.model.weights[t]) * Repeats(p.counts[t]) >> 24)
		for i, b := range p.model.row(t)[:len(p.total)] {
			p.total[i] += int64(int(b)-zero) * factor
		}
		p.counts[t] = 0
	}
	p.found = p.found[:0]
	return p.unit(dst)
}

func (p *Pooler) unit(dst []float32) bool {
	var most int64
	for _, t := range p.total {
		most = max(most, t, -t)
	}
	shift := max(0, bits.Len64(uint64(most))-26)
	var squares int64
	for i := range p.total {
		p.total[i] >>= shift
		squares += p.total[i] * p.total[i]
	}
	if squares == 0 {
		return false
	}
	length := math.Sqrt(float64(squares))
	for i, t := range p.total {
		dst[i] = float32(float64(t) / length)
	}
	return true
}
