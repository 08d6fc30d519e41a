package index

import (
	"iter"
	"slices"
)

// sortedBlock is the most values in one block of a Sorted list.
const sortedBlock = 256

// Sorted is a set of values in order. It is kept in blocks, so that inserting and
// deleting cost a binary search and the move of one block, however many values
// there are. It is not safe for concurrent use: its owner locks.
type Sorted[T any] struct {
	compare func(a, b T) int
	blocks  [][]T // none of them empty
	len     int
}

// NewSorted returns an empty set. Values that compare as equal are one value.
func NewSorted[T any](compare func(a, b T) int) *Sorted[T] { return &Sorted[T]{compare: compare} }

// Len is the number of values.
func (s *Sorted[T]) Len() int { return s.len }

// Insert adds a value and reports whether it was not there before.
func (s *Sorted[T]) Insert(v T) bool {
	if len(s.blocks) == 0 {
		s.blocks = append(s.blocks, []T{v})
		s.len++
		return true
	}
	b := s.block(v)
	at, found := slices.BinarySearchFunc(s.blocks[b], v, s.compare)
	if found {
		return false
	}
	s.blocks[b] = slices.Insert(s.blocks[b], at, v)
	s.len++
	if block := s.blocks[b]; len(block) > sortedBlock {
		// Values that come in order are appended: a block that is full at its end stays
		// full.
		half := len(block) / 2
		if b == len(s.blocks)-1 && at == len(block)-1 {
			half = len(block) - 1
		}
		s.blocks = slices.Insert(s.blocks, b+1, slices.Clone(block[half:]))
		clear(block[half:])
		s.blocks[b] = block[:half]
	}
	return true
}

// Delete removes a value and reports whether it was there.
func (s *Sorted[T]) Delete(v T) bool {
	if len(s.blocks) == 0 {
		return false
	}
	b := s.block(v)
	at, found := slices.BinarySearchFunc(s.blocks[b], v, s.compare)
	if !found {
		return false
	}
	s.len--
	if s.blocks[b] = slices.Delete(s.blocks[b], at, at+1); len(s.blocks[b]) == 0 {
		s.blocks = slices.Delete(s.blocks, b, b+1)
	}
	return true
}

// From yields the values from v on, in order. The set must not change meanwhile.
func (s *Sorted[T]) From(v T) iter.Seq[T] {
	return func(yield func(T) bool) {
		if len(s.blocks) == 0 {
			return
		}
		first := s.block(v)
		at, _ := slices.BinarySearchFunc(s.blocks[first], v, s.compare)
		for b := first; b < len(s.blocks); b++ {
			for _, v := range s.blocks[b][at:] {
				if !yield(v) {
					return
				}
			}
			at = 0
		}
	}
}

// All yields all values in order. The set must not change meanwhile.
func (s *Sorted[T]) All() iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, block := range s.blocks {
			for _, v := range block {
				if !yield(v) {
					return
				}
			}
		}
	}
}

// block returns the number of the block that a value is in or belongs into.
func (s *Sorted[T]) block(v T) int {
	at, found := slices.BinarySearchFunc(s.blocks, v, func(block []T, v T) int { return s.compare(block[0], v) })
	if found || at == 0 {
		return at
	}
	return at - 1
}
