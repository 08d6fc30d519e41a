package vector

import (
	"slices"

	"golang.org/x/sys/cpu"
)

var hasAVX2 = cpu.X86.HasAVX2

// distances256 is distances for codes of 256 bits, the width of the built-in model. Most
// processors have AVX2, which looks up the set bits of 32 groups of four bits at once.
func distances256(codes []uint64, slots []uint32, planes *[4 * queryBits]uint64, out []uint32) {
	if !hasAVX2 || len(slots) == 0 {
		distances256Plain(codes, slots, planes, out)
		return
	}
	// The assembly checks no bounds.
	highest := len(slots) - 1
	if &slots[0] != &inTurn[0] {
		highest = int(slices.Max(slots))
	}
	_, _ = out[len(slots)-1], codes[4*highest+3]
	var nibbles [2 * queryBits][4]uint64 // the low four bits of each byte by plane, then the high ones
	const low = 0x0f0f0f0f0f0f0f0f
	for word := range 4 {
		for bit := range queryBits {
			plane := planes[word*queryBits+bit]
			nibbles[bit][word], nibbles[queryBits+bit][word] = plane&low, plane>>4&low
		}
	}
	distancesAVX2(&codes[0], &slots[0], len(slots), &nibbles, &out[0])
}

// distancesAVX2 needs n slots of codes of 256 bits, and room for as many distances.
//
//go:noescape
func distancesAVX2(codes *uint64, slots *uint32, n int, planes *[2 * queryBits][4]uint64, out *uint32)

// dotRow is the product of a row with a query.
func dotRow(row []int8, query []int16) (sum int64) {
	query = query[:len(row)]
	for hasAVX2 && len(row) >= 16 {
		n := min(len(row), mostAtOnce) &^ 15
		sum += productAVX2(&row[0], &query[0], n)
		row, query = row[n:], query[n:]
	}
	return sum + dotRowPlain(row, query)
}

// mostAtOnce is how many components fit the eight sums of 32 bits that productAVX2 makes:
// 512 times 127 times 32,767 is less than 2³¹.
const mostAtOnce = 4096

// productAVX2 needs n components, a multiple of 16.
//
//go:noescape
func productAVX2(row *int8, query *int16, n int) int64
