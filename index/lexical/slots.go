package lexical

import (
	"math/bits"
	"slices"
)

// bitset holds slots, which are dense, or documents. Callers' sets of documents are roaring
// bitmaps; a scan over postings is faster with a plain bitset.
type bitset []uint64

func (b bitset) has(slot uint32) bool { return b[slot>>6]&(1<<(slot&63)) != 0 }

// holds is has for a slot that may lie beyond the set.
func (b bitset) holds(slot uint32) bool { return int(slot>>6) < len(b) && b.has(slot) }

func (b bitset) set(slot uint32) { b[slot>>6] |= 1 << (slot & 63) }

// grown returns the set with capacity for n slots.
func (b bitset) grown(n int) bitset {
	for len(b) < (n+63)>>6 {
		b = append(b, 0)
	}
	return b
}

// emptied returns the set without members, of a number of words.
func (b bitset) emptied(words int) bitset {
	b = slices.Grow(b[:0], words)[:words]
	clear(b)
	return b
}

// size is the number of members.
func (b bitset) size() (n int) {
	for _, word := range b {
		n += bits.OnesCount64(word)
	}
	return n
}

// meets reports whether the set has a member from first to last.
func (b bitset) meets(first, last uint32) bool {
	from, to := int(first>>6), int(last>>6)
	if from >= len(b) {
		return false
	}
	low, high := ^uint64(0)<<(first&63), ^uint64(0)>>(63-last&63)
	if to >= len(b) {
		to, high = len(b)-1, ^uint64(0)
	}
	if from == to {
		return b[from]&low&high != 0
	}
	if b[from]&low != 0 || b[to]&high != 0 {
		return true
	}
	for _, word := range b[from+1 : to] {
		if word != 0 {
			return true
		}
	}
	return false
}

// count is the number of members from first to last, or one that is at least enough.
func (b bitset) count(first, last uint32, enough int) (n int) {
	to := min(int(last>>6), len(b)-1)
	for i := int(first >> 6); i <= to && n < enough; i++ {
		word := b[i]
		if i == int(first>>6) {
			word &= ^uint64(0) << (first & 63)
		}
		if i == int(last>>6) {
			word &= ^uint64(0) >> (63 - last&63)
		}
		n += bits.OnesCount64(word)
	}
	return n
}

// distance is the number of members that only one of two sets has, or a number above limit.
func (b bitset) distance(other bitset, limit int) (n int) {
	if len(b) < len(other) {
		b, other = other, b
	}
	common := b[:len(other)]
	for i, word := range other {
		if n += bits.OnesCount64(word ^ common[i]); n > limit {
			return n
		}
	}
	for _, word := range b[len(other):] {
		if n += bits.OnesCount64(word); n > limit {
			return n
		}
	}
	return n
}

// differing appends the members that only one of two sets has.
func differing(members []uint32, a, b bitset) []uint32 {
	if len(a) < len(b) {
		a, b = b, a
	}
	for i, word := range a {
		if i < len(b) {
			word ^= b[i]
		}
		for ; word != 0; word &= word - 1 {
			members = append(members, uint32(i<<6+bits.TrailingZeros64(word)))
		}
	}
	return members
}
