package table

import (
	"math"
	"math/bits"
)

// RepeatsUnit is Repeats of a token that a text has once.
const RepeatsUnit = 256

// Repeats is how much a token that a text has count times, at least once,
// counts in 1/RepeatsUnit: 1+ln count, so that a long text is not lost in its
// commonest words. It is in whole numbers: the logarithm of the power of two
// below is a multiple of 256·ln 2 ≈ 177, and what lies between is interpolated,
// which is at most 2 % too little.
func Repeats(count uint32) uint64 {
	n := bits.Len32(count) - 1
	return RepeatsUnit + uint64(n)*177 + (uint64(count)-1<<n)*177>>n
}

// shareUnit is the share of a piece that counts in full.
const shareUnit = 1 << 12

const (
	// factorBits is what the largest factor of a text's rows is rounded to. A
	// row that counts less than 2⁻¹⁷ of another is lost beside it anyhow.
	factorBits = 16
	// sumBits is what the largest component of a sum is rounded to: the squares
	// of MaxWidth of them add up to less than 2⁵³, which a float64 holds exactly.
	sumBits = 21
)

// Pooler turns texts into vectors. It keeps its buffers between texts, so that
// neither a text nor a token costs an allocation. It is for one goroutine at a
// time; many may share a model.
//
// A vector is the sum of the rows of a text's tokens, each once, times a factor:
// its weight times Repeats of its count. The sum is scaled to length 1. All is
// in integers but for a square root and a division per component, which IEEE
// 754 rounds the same on every machine; there is no floating-point sum, which
// the compiler may fuse with a product on some (arm64) and not on others.
type Pooler struct {
	model     *Model
	tokenizer *Tokenizer
	found     []term         // the tokens of the text, each once, as they came
	places    []uint32       // by token: its place in found from 1 on, 0 for none
	count     func(t uint32) // the method value of add, made once
	share     uint64         // of the piece whose tokens come, in shareUnit
	lanes     []uint64       // see addRows
	total     []int64
}

// term is what a text has of one token.
type term struct {
	token, count uint32
	share        uint64 // the most that a piece with the token has
	factor       uint64
}

// NewPooler returns a pooler that gives vectors of a width, which is one of the
// model's.
func NewPooler(m *Model, width int) *Pooler {
	p := &Pooler{
		model: m, tokenizer: NewTokenizer(m.vocabulary),
		places: make([]uint32, m.vocabulary.Size()),
		lanes:  make([]uint64, width/2), total: make([]int64, width),
	}
	p.count = p.add
	return p
}

// Vector writes the unit vector of a text to dst, which has the pooler's width,
// and reports whether there is one. If not, dst is left as it was: the text is
// blank, or no token of it weighs anything.
func (p *Pooler) Vector(text string, dst []float32) bool {
	return p.pool(text, nil, dst)
}

// Weighted is Vector for a text whose pieces count by more than the weights of their
// tokens: weight says, 0 to 1, how much. The bytes of a piece are valid only during the
// call.
func (p *Pooler) Weighted(text string, weight func(piece []byte) float64, dst []float32) bool {
	return p.pool(text, func(piece []byte) {
		p.share = uint64(math.Round(min(max(weight(piece), 0), 1) * shareUnit))
	}, dst)
}

func (p *Pooler) pool(text string, begin func([]byte), dst []float32) bool {
	p.found, p.share = p.found[:0], shareUnit
	p.tokenizer.Pieces(text, begin, p.count)
	p.weigh()
	p.sum()
	return p.unit(dst)
}

// add counts one token of the text. One that several pieces share, a bucket mostly,
// counts as the piece does that counts most.
func (p *Pooler) add(t uint32) {
	if p.places[t] == 0 {
		p.found = append(p.found, term{token: t})
		p.places[t] = uint32(len(p.found))
	}
	f := &p.found[p.places[t]-1]
	f.count++
	f.share = max(f.share, p.share)
}

// weigh finds the factors of the tokens and forgets their counts. A factor is
// below 2⁵⁸; all are rounded alike, until the largest has factorBits.
func (p *Pooler) weigh() {
	m := p.model
	var most uint64
	for i := range p.found {
		f := &p.found[i]
		f.factor = uint64(m.scales[f.token]) * uint64(m.weights[f.token]) * Repeats(f.count) * f.share
		most = max(most, f.factor)
		p.places[f.token] = 0
	}
	shift := max(0, bits.Len64(most)-factorBits)
	half := uint64(1) << shift >> 1
	for i := range p.found {
		p.found[i].factor = (p.found[i].factor + half) >> shift
	}
}

// unit scales the total to length 1.
func (p *Pooler) unit(dst []float32) bool {
	var most int64
	for _, x := range p.total {
		most = max(most, x, -x)
	}
	shift := max(0, bits.Len64(uint64(most))-sumBits)
	half := int64(1) << shift >> 1
	var squares int64
	for i, x := range p.total {
		x = (x + half) >> shift
		p.total[i] = x
		squares += x * x
	}
	if squares == 0 {
		return false
	}
	length := math.Sqrt(float64(squares))
	for i, x := range p.total {
		dst[i] = float32(float64(x) / length)
	}
	return true
}
