package vector

import (
	"context"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// toyDim is small enough for quick tests and large enough that unrelated words
// are nearly at right angles.
const toyDim = 128

// toyEmbed is a deterministic model: each word has a random direction of its
// own, a text is their sum.
func toyEmbed(_ context.Context, text string) ([]float32, error) {
	vec := make([]float32, toyDim)
	for _, word := range strings.Fields(text) {
		h := fnv.New64a()
		h.Write([]byte(word))
		random := rand.New(rand.NewPCG(h.Sum64(), 1))
		for i := range vec {
			vec[i] += float32(random.NormFloat64())
		}
	}
	return vec, nil
}

func openSpace(t testing.TB, options Options) *Collection {
	t.Helper()
	s, err := NewCollection(options)
	if err != nil {
		t.Fatalf("opening a space: %v", err)
	}
	return s
}

// corpus draws unit vectors as embedding models give them: topics of uneven
// size within a common direction, and most variance in few dimensions.
type corpus struct {
	random *rand.Rand
	dim    int
	// scale is the standard deviation of each dimension, falling off as a
	// power of its rank like the spectrum of real embeddings.
	scale  []float64
	common []float64
	topics [][]float64
}

func newCorpus(dim, topics int, seed uint64) *corpus {
	c := &corpus{random: rand.New(rand.NewPCG(seed, 2)), dim: dim, scale: make([]float64, dim), common: make([]float64, dim)}
	for i := range dim {
		c.scale[i] = math.Pow(float64(i+1), -.35)
		c.common[i] = .6 * c.scale[i] * c.random.NormFloat64()
	}
	for range topics {
		topic := make([]float64, dim)
		for i := range topic {
			topic[i] = c.scale[i] * c.random.NormFloat64()
		}
		c.topics = append(c.topics, topic)
	}
	return c
}

// vector is one document: the common part, a topic, and what is its own.
func (c *corpus) vector() []float32 { return c.mix(1, .7) }

// query is a short text about one topic. Like those of real users it lies apart
// from the documents, with less of what they have in common and more noise,
// which makes its neighbours harder to find than a document's.
func (c *corpus) query() []float32 { return c.mix(.3, 1.2) }

func (c *corpus) mix(common, own float64) []float32 {
	// A square makes the first topics the largest.
	u := c.random.Float64()
	topic := c.topics[int(u*u*float64(len(c.topics)))]
	vec := make([]float64, c.dim)
	var squares float64
	for i := range vec {
		vec[i] = common*c.common[i] + topic[i] + own*c.scale[i]*c.random.NormFloat64()
		squares += vec[i] * vec[i]
	}
	out := make([]float32, c.dim)
	for i, x := range vec {
		out[i] = float32(x / math.Sqrt(squares))
	}
	return out
}
