package table

import (
	"math"
	"math/bits"
)

// RepeatsUnit is the value of Repeats for a token that occurs once.
const RepeatsUnit = 256

// Repeats is the factor for a token that occurs count times, in 1/RepeatsUnit: 1+ln count,
// so that the commonest words do not dominate a long text. It is an integer: the logarithm
// of the power of two below is a multiple of 256·ln 2 ≈ 177, and values between are
// interpolated, which is at most 2 % too low.
func Repeats(count uint32) uint64 {
	n := bits.Len32(count) - 1
	return RepeatsUnit + uint64(n)*177 + (uint64(count)-1<<n)*177>>n
}

// shareUnit is the share of a piece that counts fully.
const shareUnit = 1 << 12

const (
	// factorBits is the precision to which the largest factor of a text's rows is rounded.
	// A row with less than 2⁻¹⁷ of the largest factor has no effect anyway.
	factorBits = 16
	// sumBits is the precision to which the largest component of a sum is rounded: the
	// squares of MaxWidth of them add up to less than 2⁵³, which a float64 holds exactly.
	sumBits = 21
)

// Pooler turns texts into vectors. It reuses its buffers, so that neither a text nor a
// token costs an allocation. It is for one goroutine at a time; several may share a model.
//
// A vector is the sum of the rows of a text's distinct tokens, each times a factor: its
// weight times Repeats of its count. The sum is scaled to length 1. All arithmetic is in
// integers except a square root and a division per component, which IEEE 754 rounds the
// same on every machine. There is no floating-point sum, because the compiler may fuse it
// with a product on some platforms (arm64) and not on others.
type Pooler struct {
	model     *Model
	tokenizer *Tokenizer
	found     []term         // the distinct tokens of the text, in order of appearance
	places    []uint32       // by token: its index in found plus 1, 0 for none
	count     func(t uint32) // the method value of add, made once
	share     uint64         // of the current piece, in shareUnit
	lanes     []uint64       // see addRows
	total     []int64
}

// term is one token of a text.
type term struct {
	token, count uint32
	share        uint64 // the largest share of a piece with the token
	factor       uint64
}

// NewPooler returns a pooler for vectors of a width, which must be one of the model's.
func NewPooler(m *Model, width int) *Pooler {
	p := &Pooler{
		model: m, tokenizer: NewTokenizer(m.vocabulary),
		places: make([]uint32, m.vocabulary.Size()),
		lanes:  make([]uint64, width/2), total: make([]int64, width),
	}
	p.count = p.add
	return p
}

// Vector writes the unit vector of a text to dst, which has the pooler's width, and reports
// whether there is one. If not, dst is unchanged: the text is blank, or none of its tokens
// has weight.
func (p *Pooler) Vector(text string, dst []float32) bool {
	return p.pool(text, nil, dst)
}

// Weighted is Vector with an extra factor for each piece: weight returns it, 0 to 1. The
// bytes of a piece are valid only during the call.
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

// add counts one token of the text. If several pieces share a token, usually a bucket, the
// largest of their shares counts.
func (p *Pooler) add(t uint32) {
	if p.places[t] == 0 {
		p.found = append(p.found, term{token: t})
		p.places[t] = uint32(len(p.found))
	}
	f := &p.found[p.places[t]-1]
	f.count++
	f.share = max(f.share, p.share)
}

// weigh computes the factors of the tokens and resets their counts. A factor is below 2⁵⁸;
// all are shifted alike, until the largest has factorBits.
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
