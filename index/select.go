package index

import (
	"cmp"
	"math/bits"
	"slices"
)

// SelectSmallest brings the n smallest of values to the front, in no order. It is
// Hoare's quickselect with a middle pivot: sorting instead took a quarter of a
// vector search.
func SelectSmallest[T cmp.Ordered](values []T, n int) {
	// Each round halves the rest, unless the order of the values defeats the choice of
	// pivots: then they are sorted.
	for range 4 * bits.Len(uint(len(values))) {
		if len(values) < 2 || n <= 0 || n >= len(values) {
			return
		}
		low, high := 0, len(values)-1
		pivot := values[high/2]
		for low <= high {
			for values[low] < pivot {
				low++
			}
			for values[high] > pivot {
				high--
			}
			if low <= high {
				values[low], values[high] = values[high], values[low]
				low++
				high--
			}
		}
		// All up to high are at most the pivot, all from low at least; the pivot itself may
		// be between them.
		switch {
		case n <= high:
			values = values[:high+1]
		case n >= low:
			values, n = values[low:], n-low
		default:
			return
		}
	}
	slices.Sort(values)
}
