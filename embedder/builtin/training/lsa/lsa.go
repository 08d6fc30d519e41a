// Package lsa finds what tokens have in common from the texts they occur in:
// latent semantic analysis (Deerwester et al., "Indexing by Latent Semantic
// Analysis", 1990). What it finds is where training starts.
//
// Vocabulary. A matrix has a row for each text and a column for each token, and
// is given row by row, each as its entries that are not 0. Its truncated
// singular value decomposition is, for the largest singular values, the
// directions of tokens that explain most of it.
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
	// Row returns the columns and values of a row's entries. Both are valid
	// until the next call with the same scratch, which only a Row of the same
	// matrix uses; each goroutine has its own.
	Row(text int, scratch *Scratch) (tokens []uint32, values []float32)
}

// Scratch is memory that a Matrix may keep a row in.
type Scratch struct {
	Tokens []uint32
	Values []float32
}

// Options say how exact to be. The zero value of a field stands for its default.
type Options struct {
	// Width is the number of directions to find. Required.
	Width int
	// Seed is of the random start.
	Seed uint64
	// Extra directions make those wanted more exact. Default 32.
	Extra int
	// Rounds is how often all texts are read; each brings the directions
	// nearer to the largest. Default 4.
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
	// Directions holds what each token has of each direction: a row of Width
	// components for each token (the right singular vectors, turned).
	Directions []float32
	// Values are the singular values, largest first.
	Values []float32
}

// errRank is returned when the matrix has too few directions.
var errRank = errors.New("lsa: the texts do not differ enough for this width")

// Decompose finds the directions by randomised subspace iteration (Halko,
// Martinsson and Tropp, "Finding Structure with Randomness", 2011, algorithm
// 4.4) on the tokens' side, so that nothing is as large as the number of texts.
// The same options and matrix give the same directions.
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

// shards is how many parts the texts are read in side by side. The sum over
// them does not depend on how many goroutines there are.
const shards = 2

// multiply returns MᵀMq and (Mq)ᵀ(Mq), q having a row of l for each token.
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

// addGram adds xᵀx to gram, x having rows of l.
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
