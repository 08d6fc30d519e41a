package plane

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// clouds returns unit vectors around centres, each cloud around its own.
func clouds(n, width int, centres ...int) [][]float32 {
	random := rand.New(rand.NewPCG(7, 8))
	all := make([][]float32, n)
	for i := range all {
		v := make([]float32, width)
		for j := range v {
			v[j] = float32(random.NormFloat64()) * .1
		}
		v[centres[i%len(centres)]]++
		length := float32(math.Sqrt(float64(dot(v, v))))
		for j := range v {
			v[j] /= length
		}
		all[i] = v
	}
	return all
}

// TestClouds: what is apart is put apart, in the same place each time.
func TestClouds(t *testing.T) {
	vectors := clouds(9000, 32, 3, 11, 20) // more than the sample
	p := Of(t.Context(), vectors)
	if again := Of(t.Context(), vectors); !reflect.DeepEqual(p, again) {
		t.Error("the same vectors lie elsewhere the second time")
	}
	within, between := 0.0, 0.0
	for i := 0; i+4 < len(vectors); i += 3 {
		within += math.Hypot(float64(p.X[i]-p.X[i+3]), float64(p.Y[i]-p.Y[i+3]))
		between += math.Hypot(float64(p.X[i]-p.X[i+1]), float64(p.Y[i]-p.Y[i+1]))
	}
	if between < 3*within {
		t.Errorf("clouds are %.0f apart on average and %.0f wide", between, within)
	}
	if p.Explained < .3 || p.Explained > 1 {
		t.Errorf("the two directions have %.2f of the variance", p.Explained)
	}
}

// TestNothingToSee: none, one and equal vectors have a place, too.
func TestNothingToSee(t *testing.T) {
	if p := Of(t.Context(), nil); len(p.X) != 0 {
		t.Errorf("no vectors lie at %v", p.X)
	}
	one := clouds(1, 8, 2)
	for _, vectors := range [][][]float32{one, {one[0], one[0], one[0]}} {
		p := Of(t.Context(), vectors)
		for i := range vectors {
			if p.X[i] != Scale/2 || p.Y[i] != Scale/2 {
				t.Errorf("a vector like all others lies at %d, %d", p.X[i], p.Y[i])
			}
		}
	}
}

// TestTwins: equal vectors are always found, near ones mostly, and no others.
func TestTwins(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	vectors := make([][]float32, 2000)
	for i := range vectors {
		v := make([]float32, 64)
		for j := range v {
			v[j] = float32(random.NormFloat64())
		}
		length := float32(math.Sqrt(float64(dot(v, v))))
		for j := range v {
			v[j] /= length
		}
		vectors[i] = v
	}
	vectors[1500] = vectors[10]
	vectors[1999] = vectors[10]
	vectors[700] = slices.Clone(vectors[20])
	vectors[700][5] += .01
	got := Twins(t.Context(), vectors)
	if want := [][]int32{{10, 1500, 1999}, {20, 700}}; !reflect.DeepEqual(got, want) {
		t.Errorf("twins %v, want %v", got, want)
	}
}
