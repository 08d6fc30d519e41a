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
	// LogWeights holds the natural logarithm of each token's weight. Learning
	// it apart from the row lets a step change what a token counts by a
	// factor, whatever the length of its row.
	LogWeights []float32
	// Workers is how many goroutines work on the model side by side, whatever is
	// asked of it; 0 is as many as GOMAXPROCS allows.
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

// Clone returns a copy that shares nothing with the model.
func (m *Model) Clone() *Model {
	c := *m
	c.Rows, c.LogWeights = slices.Clone(m.Rows), slices.Clone(m.LogWeights)
	return &c
}

// errModel is what a model that cannot be trained is refused with.
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

// shares is by how much the weight of a token counts, by how often a text has
// it: as when texts are embedded.
var shares = func() (s [maxCount + 1]float32) {
	for n := 1; n <= maxCount; n++ {
		s[n] = float32(table.Repeats(uint32(n))) / table.RepeatsUnit
	}
	return s
}()

// Vectors returns the unit vectors of the bags from, from+1, … below to, one
// after another, Width components each. A bag that adds up to nothing has the
// zero vector.
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

// addScaled adds x·scale to sum; scratch has their length.
func addScaled(sum, x []float32, scale float32, scratch []float32) {
	vek32.MulNumber_Into(scratch, x, scale)
	vek32.Add_Inplace(sum, scratch)
}

// unit makes v unit length and returns the length it had. A zero vector stays.
func unit(v []float32) float32 {
	length := vek32.Norm(v)
	if length > 0 {
		vek32.MulNumber_Inplace(v, 1/length)
	}
	return length
}

func exp32(x float32) float32 { return float32(math.Exp(float64(x))) }
