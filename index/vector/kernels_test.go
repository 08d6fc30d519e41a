package vector

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func randomRow(random *rand.Rand, dim int) ([]int8, []int16) {
	row, query := make([]int8, dim), make([]int16, dim)
	for i := range row {
		row[i] = int8(random.IntN(255) - 127)
		query[i] = int16(random.IntN(2*math.MaxInt16+1) - math.MaxInt16)
	}
	return row, query
}

// randomCodes returns codes of 256 bits in the order of random slots, and a query.
func randomCodes(random *rand.Rand, n int) (codes []uint64, slots []uint32, planes *[4 * queryBits]uint64) {
	planes = new([4 * queryBits]uint64)
	for i := range planes {
		planes[i] = random.Uint64()
	}
	for range 4 * n {
		codes = append(codes, random.Uint64())
	}
	for _, slot := range random.Perm(n) {
		slots = append(slots, uint32(slot))
	}
	return codes, slots, planes
}

// TestDotRow compares the processor's own form with the plain one, over widths around those
// that it takes at once, and at the largest sums.
func TestDotRow(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for _, dim := range []int{0, 1, 15, 16, 17, 31, 32, 256, 1_001, 4_095, 4_096, 4_112, 65_536} {
		for _, step := range []int16{0, math.MaxInt16, -math.MaxInt16} {
			row, query := randomRow(random, dim)
			for i := range row {
				if step != 0 {
					row[i], query[i] = math.MaxInt8, step
				}
			}
			var want int64
			for i, c := range row {
				want += int64(c) * int64(query[i])
			}
			for name, f := range map[string]func([]int8, []int16) int64{"plain": dotRowPlain, "fastest": dotRow} {
				if got := f(row, query); got != want {
					t.Errorf("%s, width %d: got %d, want %d", name, dim, got, want)
				}
			}
		}
	}
}

// TestDistances256 compares the processor's own form with the plain one and with the general
// product.
func TestDistances256(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 1))
	for _, n := range []int{0, 1, 2, 1_000} {
		codes, slots, planes := randomCodes(random, n)
		if n > 1 { // no bit, and every bit
			clear(codes[:4])
			for i := range 4 {
				codes[4+i] = math.MaxUint64
			}
		}
		own, plain := make([]uint32, n), make([]uint32, n)
		distances256(codes, slots, planes, own)
		distances256Plain(codes, slots, planes, plain)
		if !slices.Equal(own, plain) {
			t.Errorf("%d codes: %v, want %v", n, own, plain)
		}
		for i, slot := range slots {
			if want := 4*256 - product(codes[4*slot:][:4], planes[:]); int(own[i]) != want {
				t.Errorf("code %d of %d: %d, want %d", slot, n, own[i], want)
			}
		}
	}
}

// TestDistancesChecksBounds: the assembly itself reads wherever it is told to.
func TestDistancesChecksBounds(t *testing.T) {
	codes, _, planes := randomCodes(rand.New(rand.NewPCG(3, 1)), 4)
	for name, call := range map[string]func(){
		"a slot without a code": func() { distances256(codes, []uint32{1, 4, 0}, planes, make([]uint32, 3)) },
		"no room":               func() { distances256(codes, []uint32{1, 2, 0}, planes, make([]uint32, 2)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			call()
		}()
	}
}
