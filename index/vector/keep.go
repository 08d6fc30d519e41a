package vector

import (
	"math"
	"slices"

	"github.com/recalld/recalld/index"
)

// keeper keeps the n smallest of the keys that it is given. A key has the sort value in its
// upper half and the document in its lower half, so that ties go to the lower number and
// the result does not depend on the order of arrival. Keys are collected unsorted and
// reduced when there are several times too many; the bound rejects nearly all keys with one
// comparison.
type keeper struct {
	n    int
	keys []uint64
	// bound is the n-th smallest key as of the last cut: larger keys cannot be among the
	// smallest.
	bound uint64
}

// reset empties the keeper for the n smallest keys; n is at least 1.
func (k *keeper) reset(n int) {
	k.n, k.keys, k.bound = n, k.keys[:0], math.MaxUint64
}

func (k *keeper) add(key uint64) {
	if key >= k.bound {
		return
	}
	k.keys = append(k.keys, key)
	if len(k.keys) >= 4*k.n+64 {
		k.cut()
	}
}

// cut drops all but the n smallest keys, in no order.
func (k *keeper) cut() {
	if len(k.keys) <= k.n {
		return
	}
	index.SelectSmallest(k.keys, k.n)
	k.keys = k.keys[:k.n]
	k.bound = slices.Max(k.keys)
}

// kept returns the keys kept, in no order. They are valid until reset.
func (k *keeper) kept() []uint64 {
	k.cut()
	return k.keys
}

// sorted returns the keys kept, smallest first. They are valid until reset.
func (k *keeper) sorted() []uint64 {
	k.cut()
	slices.Sort(k.keys)
	return k.keys
}

// scoreKey is a key that orders hits by score, highest first.
func scoreKey(h index.Hit) uint64 {
	// Adding zero makes a negative zero positive: the two must be equal.
	b := math.Float32bits(h.Score + 0)
	// The bits of positive floats have the order of the floats, and the bits of negative
	// ones the reverse order.
	if b>>31 == 1 {
		b = ^b
	} else {
		b |= 1 << 31
	}
	return uint64(^b)<<32 | uint64(h.Doc)
}

// hitOf is the inverse of scoreKey.
func hitOf(key uint64) index.Hit {
	b := ^uint32(key >> 32)
	if b>>31 == 1 {
		b &^= 1 << 31
	} else {
		b = ^b
	}
	return index.Hit{Doc: uint32(key), Score: math.Float32frombits(b)}
}

// moments are the sums from which mean and standard deviation are computed.
type moments struct {
	n, sum, squares float64
}

func (m *moments) add(score float32) {
	m.n++
	m.sum += float64(score)
	m.squares += float64(score) * float64(score)
}

func (m *moments) meanAndDeviation() (mean, deviation float32) {
	if m.n == 0 {
		return 0, 0
	}
	mu := m.sum / m.n
	return float32(mu), float32(math.Sqrt(max(0, m.squares/m.n-mu*mu)))
}
