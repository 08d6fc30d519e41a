package contrast

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sort"
)

// Cohort is a set of similar pairs: of one repository, or near to one another.
type Cohort struct {
	// Pairs are the indices of its pairs.
	Pairs []int
	// Weight is how often the cohort is drawn from, relative to others.
	Weight float64
}

// Sampler draws batches from cohorts. It is safe for concurrent use.
type Sampler struct {
	seed    uint64
	part    int
	cohorts []Cohort
	upTo    []float64 // sums of weights
}

// NewSampler returns a sampler that takes part pairs of a cohort at a time, or all pairs of
// a smaller one. It returns an error if there is nothing to draw.
func NewSampler(cohorts []Cohort, part int, seed uint64) (*Sampler, error) {
	s := &Sampler{seed: seed, part: part}
	sum := 0.0
	for _, c := range cohorts {
		if len(c.Pairs) > 0 && c.Weight > 0 {
			sum += c.Weight
			s.cohorts, s.upTo = append(s.cohorts, c), append(s.upTo, sum)
		}
	}
	if sum == 0 || part < 1 {
		return nil, errors.New("contrast: no cohort to draw batches from")
	}
	return s, nil
}

// Batch returns the indices of the n pairs of a step. It depends only on the seed, the
// cohorts and the step. A batch may contain a pair twice; the loss masks the repeat.
func (s *Sampler) Batch(step, n int) []int {
	draw := rand.New(rand.NewPCG(s.seed, uint64(step)))
	at := make([]int, 0, n+s.part)
	for len(at) < n {
		x := draw.Float64() * s.upTo[len(s.upTo)-1]
		c := s.cohorts[min(sort.SearchFloat64s(s.upTo, x), len(s.cohorts)-1)].Pairs
		if len(c) <= s.part {
			at = append(at, c...)
			continue
		}
		for first := len(at); len(at) < first+s.part; {
			if p := c[draw.IntN(len(c))]; !slices.Contains(at[first:], p) {
				at = append(at, p)
			}
		}
	}
	return at[:n]
}
