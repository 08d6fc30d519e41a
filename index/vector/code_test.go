package vector

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestRotationKeepsAngles(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	for _, dim := range []int{1, 2, 48, 64, 256, 384, 768} {
		c := newCoder(dim)
		a, b := make([]float32, dim), make([]float32, dim)
		for i := range a {
			a[i], b[i] = float32(random.NormFloat64()), float32(random.NormFloat64())
		}
		rotatedA, rotatedB := make([]float32, c.width), make([]float32, c.width)
		c.rotate(a, rotatedA)
		c.rotate(b, rotatedB)
		for _, pair := range []struct{ got, want float32 }{
			{dot(rotatedA, rotatedA), dot(a, a)},
			{dot(rotatedA, rotatedB), dot(a, b)},
		} {
			got := float64(pair.got) / float64(c.width)
			if math.Abs(got-float64(pair.want)) > 1e-3*float64(dim) {
				t.Errorf("width %d: product %v before, %v after", dim, pair.want, got)
			}
		}
	}
}

// TestCodesEstimateAngles holds codes to the geometry they rest on: a random
// plane parts two vectors with a probability of their angle over π.
func TestCodesEstimateAngles(t *testing.T) {
	const dim = 1_024
	c := newCoder(dim)
	code := func(vec []float32) []uint64 {
		out := make([]uint64, c.words)
		c.encode(vec, make([]float32, c.width), out)
		return out
	}
	random := rand.New(rand.NewPCG(5, 5))
	a, b := make([]float32, dim), make([]float32, dim)
	for i := range a {
		a[i], b[i] = float32(random.NormFloat64()), float32(random.NormFloat64())
	}
	for _, degrees := range []float64{0, 30, 60, 90, 150, 180} {
		mixed := make([]float32, dim)
		sin, cos := math.Sincos(degrees * math.Pi / 180)
		for i := range mixed {
			mixed[i] = float32(cos)*a[i] + float32(sin)*b[i]
		}
		got := float64(differing(code(a), code(mixed))) / dim * 180
		if math.Abs(got-degrees) > 8 { // three standard errors at 90 degrees: 180/√1024/2 each
			t.Errorf("vectors %v degrees apart: codes say %.1f", degrees, got)
		}
	}
}
