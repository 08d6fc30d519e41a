package main

import (
	"math/rand/v2"

	"github.com/viterin/vek/vek32"

	"github.com/recalld/recalld/embedder/builtin/contrast"
)

// clusterBlock is how many pairs are compared with all centres at a time.
const clusterBlock = 1024

// clusters divides the pairs at these indices into cohorts whose texts are near to one
// another by the model. Batches of such pairs contain hard negatives, at no cost beyond the
// clustering (topic-aware sampling, Hofstätter et al., "Efficiently Teaching an Effective
// Dense Retriever", 2021). Cohorts have size pairs on average. The centres are randomly
// drawn pairs, and a pair joins the nearest centre by the cosine of their b. The caller
// sets the weights.
func clusters(m *contrast.Model, pairs *contrast.Pairs, at []int, size int, seed uint64) []contrast.Cohort {
	vectors := func(at []int) []float32 {
		some := &contrast.Bags{}
		for _, i := range at {
			some.Append(pairs.B.At(i))
		}
		return m.Vectors(some, 0, some.Len())
	}
	n := max(1, len(at)/size)
	draw := rand.New(rand.NewPCG(seed, uint64(len(at))))
	centres := make([]int, n)
	for i := range centres {
		centres[i] = at[draw.IntN(len(at))]
	}
	turned := make([]float32, n*m.Width) // the centres' vectors as columns
	for i, x := range vectors(centres) {
		turned[i%m.Width*n+i/m.Width] = x
	}
	cohorts := make([]contrast.Cohort, n)
	cosines := make([]float32, clusterBlock*n)
	for first := 0; first < len(at); first += clusterBlock {
		block := at[first:min(first+clusterBlock, len(at))]
		part := vek32.MatMul_Into(cosines[:len(block)*n], vectors(block), turned, m.Width)
		for i, p := range block {
			nearest := vek32.ArgMax(part[i*n : (i+1)*n])
			cohorts[nearest].Pairs = append(cohorts[nearest].Pairs, p)
		}
	}
	return cohorts
}
