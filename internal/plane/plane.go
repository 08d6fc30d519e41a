// Package plane puts vectors on a plane and finds those that are nearly equal. Both are pure
// functions: the same vectors in the same order give the same result.
//
// The plane. Of a sample of at most 4,000 vectors, drawn the same way each time, the mean m and the first two
// principal components p and q are computed by power iteration: v ← Cv/|Cv| with the
// covariance C of the sample, 64 times, beginning with a fixed vector; q is kept orthogonal
// to p. A component points to where its largest entry is positive. A vector x is put at
// ((x−m)·p, (x−m)·q). Coordinates are scaled alike, so that the farthest fills the range, or four
// standard deviations of p do if it lies farther; what lies outside is put on the edge.
//
// Twins are vectors whose cosine is at least .97. Vectors are compared within buckets of
// locality-sensitive hashing: four tables of sixteen signs of fixed hyperplanes, and at most
// 32 neighbours in a bucket each. Equal vectors are always found; of pairs at a cosine of .97
// about seven in ten.
package plane

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

const (
	maxSample  = 4000
	rounds     = 64
	deviations = 4
	tables     = 4
	bits       = 16
	neighbours = 32
	// Twin is the least cosine of twins.
	Twin = .97
)

// Plane is where vectors were put: from 0 to Scale each.
type Plane struct {
	X, Y []int32
	// Explained is the share of the sample's variance along the two components.
	Explained float64
}

// Scale is the largest coordinate.
const Scale = 65535

// Of puts unit vectors of one width on a plane. It returns nil if ctx ends first.
func Of(ctx context.Context, vectors [][]float32) *Plane {
	out := &Plane{X: make([]int32, len(vectors)), Y: make([]int32, len(vectors))}
	if len(vectors) == 0 {
		return out
	}
	sample := vectors
	if len(vectors) > maxSample { // drawn, not spaced evenly: the order may have a period
		random := rand.New(rand.NewPCG(3, 4))
		sample = make([][]float32, maxSample)
		for i := range sample {
			sample[i] = vectors[random.IntN(len(vectors))]
		}
	}
	mean, total := centre(sample)
	p, first := component(ctx, sample, mean, nil)
	q, second := component(ctx, sample, mean, p)
	if ctx.Err() != nil {
		return nil
	}
	if total > 0 {
		out.Explained = min((first+second)/total, 1)
	}
	x, y, reach := make([]float64, len(vectors)), make([]float64, len(vectors)), 0.0
	for i, v := range vectors {
		if i%4096 == 0 && ctx.Err() != nil {
			return nil
		}
		x[i], y[i] = along(v, mean, p), along(v, mean, q)
		reach = max(reach, math.Abs(x[i]), math.Abs(y[i]))
	}
	reach = min(reach, deviations*math.Sqrt(first))
	for i := range vectors {
		out.X[i], out.Y[i] = scaled(x[i], reach), scaled(y[i], reach)
	}
	return out
}

// centre returns the mean of vectors and their variance, summed over all directions.
func centre(vectors [][]float32) (mean []float64, variance float64) {
	mean = make([]float64, len(vectors[0]))
	for _, v := range vectors {
		for j, x := range v {
			mean[j] += float64(x)
		}
	}
	for j := range mean {
		mean[j] /= float64(len(vectors))
	}
	for _, v := range vectors {
		for j, x := range v {
			d := float64(x) - mean[j]
			variance += d * d
		}
	}
	return mean, variance / float64(len(vectors))
}

// component returns a principal component that is orthogonal to another one, and the variance
// along it.
func component(ctx context.Context, vectors [][]float32, mean, other []float64) (v []float64, variance float64) {
	v = make([]float64, len(mean))
	for j := range v { // not orthogonal to any component by design, and the same every time
		v[j] = 1 + float64(j%7)/7
	}
	next := make([]float64, len(v))
	for range rounds {
		if ctx.Err() != nil {
			return v, 0
		}
		clear(next)
		without(v, other)
		unit(v)
		for _, x := range vectors {
			a := along(x, mean, v)
			for j := range next {
				next[j] += a * (float64(x[j]) - mean[j])
			}
		}
		without(next, other)
		if variance = unit(next) / float64(len(vectors)); variance < 1e-12 {
			return next, 0 // nothing differs in any direction that is left
		}
		v, next = next, v
	}
	largest := 0
	for j := range v {
		if math.Abs(v[j]) > math.Abs(v[largest]) {
			largest = j
		}
	}
	if v[largest] < 0 {
		for j := range v {
			v[j] = -v[j]
		}
	}
	return v, variance
}

func along(x []float32, mean, direction []float64) (sum float64) {
	for j, d := range direction {
		sum += (float64(x[j]) - mean[j]) * d
	}
	return sum
}

// without takes the part along a unit vector out of v; nil takes nothing.
func without(v, direction []float64) {
	a := 0.0
	for j, d := range direction {
		a += v[j] * d
	}
	for j, d := range direction {
		v[j] -= a * d
	}
}

// unit makes v a unit vector and returns its former length.
func unit(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	length := math.Sqrt(sum)
	if length > 0 {
		for j := range v {
			v[j] /= length
		}
	}
	return length
}

func scaled(x, reach float64) int32 {
	if reach == 0 {
		return Scale / 2
	}
	return int32(min(max((x/reach+1)/2, 0), 1)*Scale + .5)
}

// Twins returns groups of places of nearly equal unit vectors, each group in order, and the
// groups by their first place. It returns nil if ctx ends first.
func Twins(ctx context.Context, vectors [][]float32) [][]int32 {
	if len(vectors) < 2 {
		return nil
	}
	width := len(vectors[0])
	planes := hyperplanes(width)
	groups := newGroups(len(vectors))
	mean, _ := centre(vectors)
	keys := make([]uint32, len(vectors))
	centred := make([]float32, width)
	for t := range tables {
		for i, v := range vectors {
			if i%1024 == 0 && ctx.Err() != nil {
				return nil
			}
			for j, x := range v {
				centred[j] = x - float32(mean[j])
			}
			keys[i] = 0
			for b := range bits {
				if dot(centred, planes[t*bits+b]) > 0 {
					keys[i] |= 1 << b
				}
			}
		}
		order := make([]int32, len(vectors))
		for i := range order {
			order[i] = int32(i)
		}
		slices.SortStableFunc(order, func(a, b int32) int { return int(keys[a]) - int(keys[b]) })
		for at, i := range order {
			if at%1024 == 0 && ctx.Err() != nil {
				return nil
			}
			for _, k := range order[at+1 : min(at+1+neighbours, len(order))] {
				if keys[k] != keys[i] {
					break
				}
				if groups.of(i) != groups.of(k) && dot(vectors[i], vectors[k]) >= Twin {
					groups.join(i, k)
				}
			}
		}
	}
	return groups.list()
}

// hyperplanes returns the fixed directions of the hashes.
func hyperplanes(width int) [][]float32 {
	random := rand.New(rand.NewPCG(1, 2))
	planes := make([][]float32, tables*bits)
	for i := range planes {
		planes[i] = make([]float32, width)
		for j := range planes[i] {
			planes[i][j] = float32(random.NormFloat64())
		}
	}
	return planes
}

func dot(a, b []float32) (sum float32) {
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

// groups are disjoint sets of places, each named by its least one.
type groups []int32

func newGroups(n int) groups {
	g := make(groups, n)
	for i := range g {
		g[i] = int32(i)
	}
	return g
}

func (g groups) of(i int32) int32 {
	for g[i] != i {
		g[i] = g[g[i]]
		i = g[i]
	}
	return i
}

func (g groups) join(a, b int32) {
	a, b = g.of(a), g.of(b)
	g[max(a, b)] = min(a, b)
}

// list returns the groups that have several places.
func (g groups) list() [][]int32 {
	members := map[int32][]int32{}
	for i := range g {
		first := g.of(int32(i))
		members[first] = append(members[first], int32(i))
	}
	var all [][]int32
	for i := range g {
		if of := members[int32(i)]; len(of) > 1 {
			all = append(all, of)
		}
	}
	return all
}
