package vector

import (
	"math"
	"math/rand/v2"
	"testing"
)

func dot(a, b []float32) (sum float32) {
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

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

// TestProductEstimatesCosine holds codes to the geometry they rest on: the mean
// product of a unit vector with the signs of another is their cosine times
// √(2/π), for widths as large as this.
func TestProductEstimatesCosine(t *testing.T) {
	const dim = 1_024
	c := newCoder(dim)
	random := rand.New(rand.NewPCG(5, 5))
	a, b := make([]float32, dim), make([]float32, dim)
	for i := range a {
		a[i], b[i] = float32(random.NormFloat64()), float32(random.NormFloat64())
	}
	rotated, code, planes := make([]float32, c.width), make([]uint64, c.words), make([]uint64, queryBits*c.words)
	c.encodeQuery(a, rotated, planes)
	var largest, total float64
	for _, x := range rotated {
		largest = max(largest, math.Abs(float64(x)))
		total += float64(x)
	}
	for _, degrees := range []float64{0, 30, 60, 90, 150, 180} {
		mixed := make([]float32, dim)
		sin, cos := math.Sincos(degrees * math.Pi / 180)
		for i := range mixed {
			mixed[i] = float32(cos)*a[i] + float32(sin)*b[i]
		}
		c.encode(mixed, make([]float32, c.width), code)
		// Back from steps to components, and from bits to signs; rotating has
		// made a √dim longer than its own √dim.
		signed := 2*float64(product(code, planes))*largest/4 - total
		got := signed / dim / math.Sqrt(dim) / math.Sqrt(2/math.Pi)
		if math.Abs(got-cos) > .12 { // three standard errors, √((π/2-1)/1024) each, and the length of a
			t.Errorf("vectors %v degrees apart: codes say a cosine of %.3f, want %.3f", degrees, got, cos)
		}
	}
}

func TestProductAgainstSum(t *testing.T) {
	for _, dim := range []int{1, 48, 64, 256, 384} {
		c := newCoder(dim)
		random := rand.New(rand.NewPCG(6, uint64(dim)))
		vec, query := make([]float32, dim), make([]float32, dim)
		for i := range vec {
			vec[i], query[i] = float32(random.NormFloat64()), float32(random.NormFloat64())
		}
		c.setCentre(vec[:dim])
		rotated, code, planes := make([]float32, c.width), make([]uint64, c.words), make([]uint64, queryBits*c.words)
		c.encode(query, rotated, code)
		c.encodeQuery(query, rotated, planes)
		want := 0
		for i := range c.width {
			step := 0
			for bit := range queryBits {
				step |= int(planes[i/64*queryBits+bit]>>(i%64)&1) << bit
			}
			if step > 3 {
				step -= 8
			}
			if bit := code[i/64]>>(i%64)&1 == 1; bit != (rotated[i] > 0) {
				t.Errorf("width %d: bit %d is %v for %v", dim, i, bit, rotated[i])
			} else if bit {
				want += step
			}
		}
		if got := product(code, planes); got != want {
			t.Errorf("width %d: product is %d, want %d", dim, got, want)
		}
		var distance [1]uint32
		c.distances(code, []uint32{0}, planes, distance[:])
		if got := 4*c.width - int(distance[0]); got != want {
			t.Errorf("width %d: by its distance the product is %d, want %d", dim, got, want)
		}
	}
}
