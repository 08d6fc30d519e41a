package contrast

import (
	"math/rand/v2"

	"github.com/viterin/vek/vek32"
)

// Cluster divides the pairs at these indices into cohorts whose texts are near to one
// another by the model. Batches of such pairs contain hard negatives, at no cost beyond the
// clustering (topic-aware sampling, Hofstätter et al., "Efficiently Teaching an Effective
// Dense Retriever", 2021). Cohorts have size pairs on average. The centres are randomly
// drawn pairs, and a pair joins the nearest centre by the cosine of their b. The caller
// sets the weights.
func Cluster(m *Model, pairs *Pairs, at []int, size int, seed uint64) []Cohort {
	n := max(1, len(at)/size)
	draw := rand.New(rand.NewPCG(seed, uint64(len(at))))
	centres := make([]int, n)
	for i := range centres {
		centres[i] = at[draw.IntN(len(at))]
	}
	turned := make([]float32, n*m.Width)
	turn(turned, vectorsAt(m, &pairs.B, centres, m.Width), n, m.Width)
	cohorts := make([]Cohort, n)
	cosines := make([]float32, rankBlock*n)
	for first := 0; first < len(at); first += rankBlock {
		block := at[first:min(first+rankBlock, len(at))]
		part := vek32.MatMul_Into(cosines[:len(block)*n], vectorsAt(m, &pairs.B, block, m.Width), turned, m.Width)
		for i, p := range block {
			nearest := vek32.ArgMax(part[i*n : (i+1)*n])
			cohorts[nearest].Pairs = append(cohorts[nearest].Pairs, p)
		}
	}
	return cohorts
}
