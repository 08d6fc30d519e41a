package indexer

import (
	"math/rand/v2"
	"slices"
)

// window sorts a part of a list and returns it: at most `most` values, after the skip smallest
// ones. It reorders the list.
func window[T any](list []T, skip, most int, compare func(a, b T) int) []T {
	skip = min(skip, len(list))
	most = min(most, len(list)-skip)
	partition(list, skip, compare)
	list = list[skip:]
	partition(list, most, compare)
	list = list[:most]
	slices.SortFunc(list, compare)
	return list
}

// partition moves the n smallest elements of a list to its beginning (quickselect: Hoare,
// 1961).
func partition[T any](list []T, n int, compare func(a, b T) int) {
	for n > 0 && n < len(list) {
		pivot := list[rand.IntN(len(list))]
		low, high := 0, len(list)-1
		for low <= high {
			for compare(list[low], pivot) < 0 {
				low++
			}
			for compare(list[high], pivot) > 0 {
				high--
			}
			if low <= high {
				list[low], list[high] = list[high], list[low]
				low, high = low+1, high-1
			}
		}
		switch {
		case n <= high:
			list = list[:high+1]
		case n >= low:
			list, n = list[low:], n-low
		default:
			return
		}
	}
}
