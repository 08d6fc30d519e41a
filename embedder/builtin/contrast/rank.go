package contrast

import "github.com/viterin/vek/vek32"

// rankBlock is how many a are compared with all b at a time.
const rankBlock = 1024

// Ranks returns for each of the pairs at these indices the rank of its b, from 1, among the
// b of all of them, by cosine with its a at the given width. Ties count against the pair,
// so that a model that cannot tell texts apart finds nothing. Equal texts do not count
// against one another.
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

// rank is one more than the number of other scores at least as high as own's. Texts equal
// to own's are ignored.
func rank(scores []float32, own int, keys []uint64) int {
	r, score := 1, scores[own]
	for j, s := range scores {
		if s >= score && keys[j] != keys[own] {
			r++
		}
	}
	return r
}

// vectorsAt returns the vectors of the bags at these indices, cut to width.
func vectorsAt(m *Model, bags *Bags, at []int, width int) []float32 {
	some := &Bags{}
	for _, i := range at {
		some.Append(bags.At(i))
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
