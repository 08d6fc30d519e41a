package contrast

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/viterin/vek/vek32"

	"github.com/recalld/recalld/embedder/builtin/table"
)

// Model is a table of token vectors.
type Model struct {
	// Width is the number of components of a row.
	Width int
	// Rows holds the rows one after another, Width components each.
	Rows []float32
	// LogWeights holds the natural logarithm of each token's weight. It is learned
	// separately from the row, so that a step can scale the weight of a token independently
	// of the length of its row.
	LogWeights []float32
	// Workers is how many goroutines work on the model in parallel; 0 is GOMAXPROCS.
	Workers int
}

// NewModel returns a model of zero rows and weights 1.
func NewModel(tokens, width int) *Model {
	return &Model{Width: width, Rows: make([]float32, tokens*width), LogWeights: make([]float32, tokens)}
}

// Tokens returns the number of tokens.
func (m *Model) Tokens() int { return len(m.LogWeights) }

// Row returns the row of a token.
func (m *Model) Row(token uint32) []float32 {
	at := int(token) * m.Width
	return m.Rows[at : at+m.Width : at+m.Width]
}

// Clone returns a deep copy.
func (m *Model) Clone() *Model {
	c := *m
	c.Rows, c.LogWeights = slices.Clone(m.Rows), slices.Clone(m.LogWeights)
	return &c
}

// errModel is returned for a model that cannot be trained.
var errModel = errors.New("contrast: the model cannot be trained")

func (m *Model) validate() error {
	switch {
	case m.Width < 1 || len(m.LogWeights) == 0:
		return fmt.Errorf("%w: %d tokens of width %d", errModel, len(m.LogWeights), m.Width)
	case len(m.Rows) != m.Tokens()*m.Width:
		return fmt.Errorf("%w: %d components, want %d tokens of width %d", errModel, len(m.Rows), m.Tokens(), m.Width)
	}
	return nil
}

// shares is the factor of a token's weight by its count in a text. Embedding uses the same
// factors.
var shares = func() (s [maxCount + 1]float32) {
	for n := 1; n <= maxCount; n++ {
		s[n] = float32(table.Repeats(uint32(n))) / table.RepeatsUnit
	}
	return s
}()

// Vectors returns the unit vectors of the bags from, from+1, … below to, one after another,
// Width components each. A bag whose sum is zero has the zero vector.
func (m *Model) Vectors(bags *Bags, from, to int) []float32 {
	weights := make([]float32, m.Tokens())
	for t, w := range m.LogWeights {
		weights[t] = exp32(w)
	}
	vectors := make([]float32, (to-from)*m.Width)
	inParallel(m.Workers, to-from, func(first, end int) {
		scaled := make([]float32, m.Width)
		for i := first; i < end; i++ {
			v := vectors[i*m.Width : (i+1)*m.Width]
			bag := bags.At(from + i)
			for j, t := range bag.Tokens {
				addScaled(v, m.Row(t), weights[t]*shares[bag.Counts[j]], scaled)
			}
			unit(v)
		}
	})
	return vectors
}

// addScaled adds x·scale to sum; scratch has the same length.
func addScaled(sum, x []float32, scale float32, scratch []float32) {
	vek32.MulNumber_Into(scratch, x, scale)
	vek32.Add_Inplace(sum, scratch)
}

// unit scales v to unit length and returns its former length. A zero vector is not changed.
func unit(v []float32) float32 {
	length := vek32.Norm(v)
	if length > 0 {
		vek32.MulNumber_Inplace(v, 1/length)
	}
	return length
}

func exp32(x float32) float32 { return float32(math.Exp(float64(x))) }
