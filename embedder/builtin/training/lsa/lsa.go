// Package lsa finds the similarity of tokens from the texts in which they occur: latent
// semantic analysis (Deerwester et al., "Indexing by Latent Semantic Analysis", 1990). Its
// result is the start of training.
//
// Vocabulary. A matrix has a row for each text and a column for each token, and is given
// row by row as its nonzero entries. Its truncated singular value decomposition has the
// largest singular values and their directions over tokens.
package lsa

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/viterin/vek/vek32"
)

// Matrix is a sparse matrix of texts and tokens.
type Matrix interface {
	// Texts and Tokens are the numbers of rows and columns.
	Texts() int
	Tokens() int
	// Row returns the columns and values of a row's entries. Both are valid until the next
	// call with the same scratch. Each goroutine has its own scratch, which only Row of
	// this matrix uses.
	Row(text int, scratch *Scratch) (tokens []uint32, values []float32)
}

// Scratch is memory that a Matrix may keep a row in.
type Scratch struct {
	Tokens []uint32
	Values []float32
}

// Options set the precision. The zero value of a field stands for its default.
type Options struct {
	// Width is the number of directions to find. Required.
	Width int
	// Seed determines the random start.
	Seed uint64
	// Extra directions make the wanted ones more exact. Default 32.
	Extra int
	// Rounds is the number of passes over the texts; each improves the directions. Default
	// 4.
	Rounds int
}

func (o Options) validate(m Matrix) error {
	if o.Width < 1 || o.Extra < 0 || o.Rounds < 1 {
		return fmt.Errorf("lsa: width %d, %d extra and %d rounds: want 1, 0 and 1 at least", o.Width, o.Extra, o.Rounds)
	}
	if room := min(m.Texts(), m.Tokens()); o.Width > room {
		return fmt.Errorf("lsa: width %d, the matrix has %d at most", o.Width, room)
	}
	return nil
}

// Decomposition is a truncated singular value decomposition.
type Decomposition struct {
	Width int
	// Directions holds the right singular vectors, transposed: a row of Width components
	// for each token.
	Directions []float32
	// Values are the singular values, largest first.
	Values []float32
}

// errRank is returned when the matrix has too low a rank.
var errRank = errors.New("lsa: the texts do not differ enough for this width")

// Decompose finds the directions by randomised subspace iteration (Halko, Martinsson and
// Tropp, "Finding Structure with Randomness", 2011, algorithm 4.4) on the side of tokens,
// so that memory does not grow with the number of texts. It is deterministic.
func Decompose(m Matrix, o Options) (*Decomposition, error) {
	if o.Extra == 0 {
		o.Extra = 32
	}
	if o.Rounds == 0 {
		o.Rounds = 4
	}
	if err := o.validate(m); err != nil {
		return nil, err
	}
	l := min(o.Width+o.Extra, m.Texts(), m.Tokens())
	draw := rand.New(rand.NewPCG(o.Seed, 0))
	q := make([]float32, m.Tokens()*l)
	for i := range q {
		q[i] = float32(draw.NormFloat64())
	}
	if err := orthonormalize(q, l); err != nil {
		return nil, err
	}
	for range o.Rounds {
		q, _ = multiply(m, q, l)
		// Twice is enough to be orthonormal to the last digit (Giraud et al.,
		// "Rounding error analysis of … Gram-Schmidt", 2005).
		for range 2 {
			if err := orthonormalize(q, l); err != nil {
				return nil, err
			}
		}
	}
	_, gram := multiply(m, q, l)
	squares, turned := eigen(gram, l)
	d := &Decomposition{Width: o.Width, Values: make([]float32, o.Width)}
	basis := make([]float32, l*o.Width)
	for k := range o.Width {
		d.Values[k] = float32(math.Sqrt(max(squares[k], 0)))
		for i := range l {
			basis[i*o.Width+k] = float32(turned[i*l+k])
		}
	}
	d.Directions = vek32.MatMul(q, basis, l)
	return d, nil
}

// shards is how many parts of the texts are read in parallel. The sum does not depend on
// the number of goroutines.
const shards = 2

// multiply returns MᵀMq and (Mq)ᵀ(Mq). q has a row of l for each token.
func multiply(m Matrix, q []float32, l int) (product []float32, gram []float64) {
	products, grams := make([][]float32, shards), make([][]float64, shards)
	var wg sync.WaitGroup
	for s := range shards {
		wg.Go(func() {
			products[s], grams[s] = multiplyShard(m, q, l, m.Texts()*s/shards, m.Texts()*(s+1)/shards)
		})
	}
	wg.Wait()
	product, gram = products[0], grams[0]
	for s := 1; s < shards; s++ {
		vek32.Add_Inplace(product, products[s])
		for i, x := range grams[s] {
			gram[i] += x
		}
	}
	return product, gram
}

// panelRows is how many rows of Mq are multiplied with themselves at once.
const panelRows = 1024

func multiplyShard(m Matrix, q []float32, l, first, end int) (product []float32, gram []float64) {
	product, gram = make([]float32, len(q)), make([]float64, l*l)
	scratch, scaled := &Scratch{}, make([]float32, l)
	panel := make([]float32, 0, panelRows*l)
	for text := first; text < end; text++ {
		tokens, values := m.Row(text, scratch)
		panel = panel[:len(panel)+l]
		row := panel[len(panel)-l:]
		clear(row)
		for i, t := range tokens {
			vek32.MulNumber_Into(scaled, q[int(t)*l:(int(t)+1)*l], values[i])
			vek32.Add_Inplace(row, scaled)
		}
		for i, t := range tokens {
			vek32.MulNumber_Into(scaled, row, values[i])
			vek32.Add_Inplace(product[int(t)*l:(int(t)+1)*l], scaled)
		}
		if len(panel) == cap(panel) || text == end-1 {
			addGram(gram, panel, l)
			panel = panel[:0]
		}
	}
	return product, gram
}

// addGram adds xᵀx to gram; x has rows of l.
func addGram(gram []float64, x []float32, l int) {
	rows := len(x) / l
	turned := make([]float32, len(x))
	for i := range rows {
		for j := range l {
			turned[j*rows+i] = x[i*l+j]
		}
	}
	for i, v := range vek32.MatMul(turned, x, rows) {
		gram[i] += float64(v)
	}
}

// orthonormalize makes the columns of q, which has rows of l, orthonormal: with
// R the Cholesky factor of qᵀq, q becomes qR⁻¹.
func orthonormalize(q []float32, l int) error {
	gram := make([]float64, l*l)
	for part := range slices.Chunk(q, panelRows*l) {
		addGram(gram, part, l)
	}
	inverse, err := inverseCholesky(gram, l)
	if err != nil {
		return err
	}
	copy(q, vek32.MatMul(q, inverse, l))
	return nil
}
