package index

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSelectSmallest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	shapes := map[string]func(i, n int) int{
		"random":     func(int, int) int { return rng.Int() },
		"few values": func(int, int) int { return rng.IntN(3) },
		"one value":  func(int, int) int { return 7 },
		"sorted":     func(i, _ int) int { return i },
		"reversed":   func(i, n int) int { return n - i },
		"organ pipe": func(i, n int) int { return min(i, n-i) },
	}
	for name, shape := range shapes {
		for _, size := range []int{0, 1, 2, 3, 10, 257, 1000} {
			values := make([]int, size)
			for i := range values {
				values[i] = shape(i, size)
			}
			for _, n := range []int{0, 1, 2, size / 2, size - 1, size, size + 1} {
				if n < 0 {
					continue
				}
				got, want := slices.Clone(values), slices.Sorted(slices.Values(values))
				SelectSmallest(got, n)
				front := got[:min(n, size)]
				slices.Sort(front)
				if !slices.Equal(front, want[:min(n, size)]) {
					t.Fatalf("%s: the smallest %d of %d are %v, want %v", name, n, size, front, want[:min(n, size)])
				}
				if slices.Sort(got); !slices.Equal(got, want) {
					t.Fatalf("%s: values were lost for the smallest %d of %d", name, n, size)
				}
			}
		}
	}
}
