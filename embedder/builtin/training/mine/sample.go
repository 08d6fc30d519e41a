package main

import (
	"cmp"
	"container/heap"
	"maps"
	"slices"

	"github.com/recalld/recalld/embedder/builtin/training/mine/clean"
	"github.com/recalld/recalld/embedder/builtin/training/mine/scan"
)

// sample keeps for each kind the pairs with the smallest hashes: as good as a random
// choice, and independent of the order of pairs.
type sample struct {
	most  int
	kinds map[scan.Kind]*largest
	// found counts the offered pairs, by kind.
	found map[scan.Kind]int
}

type hashed struct {
	hash uint64
	pair scan.Pair
}

func newSample(most int) *sample {
	return &sample{most, map[scan.Kind]*largest{}, map[scan.Kind]int{}}
}

// mix spreads the bits of a hash (the finaliser of MurmurHash3).
func mix(x uint64) uint64 {
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

func hashOf(p scan.Pair) uint64 { return mix(clean.Key(p.A)*31 + clean.Key(p.B)) }

// wants says whether a pair would be kept, and counts it as found.
func (s *sample) wants(p scan.Pair) bool {
	s.found[p.Kind]++
	h := s.kinds[p.Kind]
	return h == nil || len(*h) < s.most || hashOf(p) < (*h)[0].hash
}

// add adds a pair, in place of the one with the largest hash if the sample is full.
func (s *sample) add(p scan.Pair) {
	h := s.kinds[p.Kind]
	if h == nil {
		h = new(largest)
		s.kinds[p.Kind] = h
	}
	heap.Push(h, hashed{hashOf(p), p})
	if len(*h) > s.most {
		heap.Pop(h)
	}
}

// pairs returns at most most pairs in order of their hashes, with equal shares for the
// kinds as far as each has enough.
func (s *sample) pairs(most int) []scan.Pair {
	sizes := slices.Sorted(func(yield func(int) bool) {
		for _, h := range s.kinds {
			if !yield(len(*h)) {
				return
			}
		}
	})
	share, left := most, most
	for i, size := range sizes {
		share = left / (len(sizes) - i)
		if size > share {
			break
		}
		left, share = left-size, most
	}
	var kept []hashed
	for _, kind := range slices.Sorted(maps.Keys(s.kinds)) {
		list := slices.SortedFunc(slices.Values(*s.kinds[kind]), compare)
		kept = append(kept, list[:min(len(list), share)]...)
	}
	slices.SortFunc(kept, compare)
	out := make([]scan.Pair, len(kept))
	for i, h := range kept {
		out[i] = h.pair
	}
	return out
}

func compare(a, b hashed) int {
	return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.pair.Kind, b.pair.Kind), cmp.Compare(a.pair.A, b.pair.A), cmp.Compare(a.pair.B, b.pair.B))
}

// largest is a heap with the largest hash on top.
type largest []hashed

func (h largest) Len() int           { return len(h) }
func (h largest) Less(i, j int) bool { return compare(h[i], h[j]) > 0 }
func (h largest) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *largest) Push(x any)        { *h = append(*h, x.(hashed)) }
func (h *largest) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
