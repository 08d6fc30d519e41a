package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"time"

	"github.com/viterin/vek/vek32"

	"github.com/recalld/recalld/embedder/builtin/contrast"
	"github.com/recalld/recalld/embedder/builtin/training/lsa"
)

// startOptions configure the initial model. The zero value of a field stands for its
// default.
type startOptions struct {
	// Width is the number of components of a row. Required.
	Width int
	// Pairs is the most pairs to use. Default 200,000.
	Pairs int
	// Whiten is the power of the singular value by which a direction is divided: at 0 the
	// most frequent topics dominate, at 1 all directions have equal weight. Default .5.
	Whiten float64
	// Even is how far the lengths of rows are equalised: at 0 tokens that the directions
	// explain badly have short rows, at 1 all rows have equal length. Default .5.
	Even float64
	// Noise is the length of a random direction that is added to every row; rows have a
	// mean length of 1. Without noise, rare words get the directions of the few texts that
	// contain them. With much noise each word has a separate direction, by which the same
	// word in two texts is recognised. The longer rows are, the less a step changes them.
	// Default 0.
	Noise float64
	// Seed determines the random choices.
	Seed uint64
}

func (o startOptions) withDefaults() startOptions {
	if o.Pairs == 0 {
		o.Pairs = 200_000
	}
	return o
}

func (o startOptions) validate() error {
	if o.Width < 1 || o.Pairs < 1 || !(o.Whiten >= 0 && o.Whiten <= 1) || !(o.Even >= 0 && o.Even <= 1) || !(o.Noise >= 0 && o.Noise <= maxNoise) {
		return fmt.Errorf("start: width %d, %d pairs, whiten %v, even %v and noise %v: want 1 and more, 0 to 1, and 0 to %d",
			o.Width, o.Pairs, o.Whiten, o.Even, o.Noise, maxNoise)
	}
	return nil
}

const maxNoise = 100

// begin writes the initial model.
func begin(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("start", flag.ContinueOnError)
	from := flags.String("corpus", "corpus", "file that prepare wrote")
	to := flags.String("out", "start", "file to write")
	o := startOptions{}
	flags.IntVar(&o.Width, "width", 256, "components of a row")
	flags.IntVar(&o.Pairs, "sample", 200_000, "pairs to look at")
	flags.Float64Var(&o.Whiten, "whiten", .5, "0: the commonest subjects rule, 1: all directions count alike")
	flags.Float64Var(&o.Even, "even", .5, "0: rows of rare tokens are short, 1: all are equally long")
	flags.Float64Var(&o.Noise, "noise", 0, "length of the random direction that is added to a row, whose own is 1 on average")
	flags.Uint64Var(&o.Seed, "seed", 1, "of what is drawn by chance")
	if err := flags.Parse(args); err != nil {
		return err
	}
	c, err := loadCorpus(*from)
	if err != nil {
		return err
	}
	train, _ := c.split()
	began := time.Now()
	m, err := start(c, train, o)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d tokens of width %d, %s\n", m.Tokens(), m.Width, time.Since(began).Round(time.Second))
	return saveModel(*to, m)
}

// start returns the initial model. The decomposed matrix has a row for each pair, with both
// texts in one, so that different words of questions and answers get the same directions.
// Weights are inverse document frequencies.
func start(c *corpus, at []int, o startOptions) (*contrast.Model, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	draw := rand.New(rand.NewPCG(o.Seed, 1))
	at = append([]int(nil), at...)
	draw.Shuffle(len(at), func(i, j int) { at[i], at[j] = at[j], at[i] })
	m := contrast.NewModel(c.vocabulary.Size(), o.Width)
	weights := inverseFrequencies(c, at)
	for t, w := range weights {
		m.LogWeights[t] = float32(math.Log(w))
	}
	at = at[:min(o.Pairs, len(at))]
	d, err := lsa.Decompose(&pairMatrix{c, at, weights}, lsa.Options{Width: o.Width, Seed: o.Seed})
	if err != nil {
		return nil, fmt.Errorf("take pairs apart: %w", err)
	}
	for k, s := range d.Values {
		scale := float32(math.Pow(float64(s), -o.Whiten))
		for t := range m.Tokens() {
			m.Rows[t*o.Width+k] = d.Directions[t*o.Width+k] * scale
		}
	}
	even(m, o.Even, draw)
	for i := range m.Rows {
		m.Rows[i] += float32(o.Noise * draw.NormFloat64() / math.Sqrt(float64(m.Width)))
	}
	return m, nil
}

// even brings the lengths of rows nearer to 1, and their mean to 1. The zero row of a token
// that is in no pair gets a random direction, a tenth as long as the mean.
func even(m *contrast.Model, by float64, draw *rand.Rand) {
	sum, rows := 0.0, 0
	for t := range m.Tokens() {
		row := m.Row(uint32(t))
		if length := float64(vek32.Norm(row)); length > 0 {
			length := math.Pow(length, 1-by)
			vek32.MulNumber_Inplace(row, float32(length)/vek32.Norm(row))
			sum, rows = sum+length, rows+1
		}
	}
	mean := sum / float64(max(rows, 1))
	for t := range m.Tokens() {
		row := m.Row(uint32(t))
		if vek32.Norm(row) > 0 {
			vek32.MulNumber_Inplace(row, float32(1/mean))
			continue
		}
		for i := range row {
			row[i] = float32(.1 * draw.NormFloat64() / math.Sqrt(float64(m.Width)))
		}
	}
}

// inverseFrequencies returns log((texts+1)/(texts with the token+1)), at least .1 so that
// no token is lost.
func inverseFrequencies(c *corpus, at []int) []float64 {
	in := make([]int, c.vocabulary.Size())
	for _, i := range at {
		for _, side := range []*contrast.Bags{&c.Pairs.A, &c.Pairs.B} {
			for _, t := range side.At(i).Tokens {
				in[t]++
			}
		}
	}
	weights := make([]float64, len(in))
	for t, n := range in {
		weights[t] = max(.1, math.Log(float64(2*len(at)+1)/float64(n+1)))
	}
	return weights
}

// pairMatrix has a row for each pair: the sum of the unit vectors of its texts, in which a
// token has its weight times the root of its count.
type pairMatrix struct {
	corpus  *corpus
	at      []int
	weights []float64
}

func (m *pairMatrix) Texts() int  { return len(m.at) }
func (m *pairMatrix) Tokens() int { return len(m.weights) }

func (m *pairMatrix) Row(text int, s *lsa.Scratch) ([]uint32, []float32) {
	s.Tokens, s.Values = s.Tokens[:0], s.Values[:0]
	for _, side := range []*contrast.Bags{&m.corpus.Pairs.A, &m.corpus.Pairs.B} {
		bag, from := side.At(m.at[text]), len(s.Values)
		for j, t := range bag.Tokens {
			s.Tokens = append(s.Tokens, t)
			s.Values = append(s.Values, float32(m.weights[t]*math.Sqrt(float64(bag.Counts[j]))))
		}
		if length := vek32.Norm(s.Values[from:]); len(s.Values) > from && length > 0 {
			vek32.MulNumber_Inplace(s.Values[from:], 1/length)
		}
	}
	return s.Tokens, s.Values
}
