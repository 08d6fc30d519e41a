package contrast

import "github.com/viterin/vek/vek32"

// rankBlock is how many a are compared with all b at once.
const rankBlock = 1024

// Ranks returns for each of the pairs at these places the rank of its b, from 1,
// among the b of all of them, by cosine with its a at so many leading
// components. A b that is as near as another is taken to come after it, so that
// a model that tells nothing apart finds nothing; those that are the same text
// are not held against one another.
func Ranks(m *Model, pairs *Pairs, at []int, width int) []int {
	a, b := vectorsAt(m, &pairs.A, at, width), vectorsAt(m, &pairs.B, at, width)
	n := len(at)
	turned := make([]float32, n*width)
	turn(turned, b, n, width)
	keys := make([]uint64, n)
	for i, p := range at {
		keys[i] = pairs.B.At(p).key()
	}
	ranks := make([]int, n)
	cosines := make([]float32, rankBlock*n)
	for first := 0; first < n; first += rankBlock {
		end := min(first+rankBlock, n)
		part := vek32.MatMul_Into(cosines[:(end-first)*n], a[first*width:end*width], turned, width)
		inParallel(m.Workers, end-first, func(from, to int) {
			for i := from; i < to; i++ {
				ranks[first+i] = rank(part[i*n:(i+1)*n], first+i, keys)
			}
		})
	}
	return ranks
}

// rank is one more than how many scores are as high as that of own, texts that
// are the same as own's left out.
func rank(scores []float32, own int, keys []uint64) int {
	r, score := 1, scores[own]
	for j, s := range scores {
		if s >= score && keys[j] != keys[own] {
			r++
		}
	}
	return r
}

// vectorsAt returns the vectors of the bags at these places, cut to width.
func vectorsAt(m *Model, bags *Bags, at []int, width int) []float32 {
	some := &Bags{}
	for _, i := range at {
		some.append(bags.At(i))
	}
	vectors := m.Vectors(some, 0, some.Len())
	if width == m.Width {
		return vectors
	}
	cut := make([]float32, len(at)*width)
	for i := range at {
		v := cut[i*width : (i+1)*width]
		copy(v, vectors[i*m.Width:])
		unit(v)
	}
	return cut
}
