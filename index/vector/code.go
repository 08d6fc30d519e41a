package vector

import (
	"math/bits"
	"math/rand/v2"
)

// coder turns vectors into codes. A vector is first rotated, then compared with
// the rotated centre, one bit for each dimension.
//
// Embeddings of text share a large common part and put most of their variance
// into few dimensions. Without the centre most signs would be the same for all;
// without the rotation a dimension that tells nothing would weigh as much as
// one that tells a lot. The rotation is the randomised Hadamard transform
// (Ailon and Chazelle, The fast Johnson–Lindenstrauss transform, 2009): signs
// flipped by chance, then sums and differences in log2(width) rounds, n log n
// additions instead of n² products. It needs a power of two, so narrower
// vectors are padded, which also gives their codes the bits to be told apart.
type coder struct {
	width int // a power of two, the bits of a code
	words int // 64-bit words of a code
	// flips holds 1 or -1 for each dimension, the same in every process.
	flips []float32
	// centre is the rotated mean of the vectors when it was last taken.
	centre []float32
}

func newCoder(dim int) *coder {
	c := &coder{width: 1, flips: make([]float32, dim)}
	for c.width < dim {
		c.width *= 2
	}
	c.words = (c.width + 63) / 64
	c.centre = make([]float32, c.width)
	random := rand.New(rand.NewPCG(0x7265_6361_6c6c, 0x64))
	for i := range c.flips {
		c.flips[i] = 1 - 2*float32(random.IntN(2))
	}
	return c
}

// setCentre makes mean the centre. Codes made before are void.
func (c *coder) setCentre(mean []float32) { c.rotate(mean, c.centre) }

// encode writes the code of vec into code, which has c.words words. rotated is
// room for c.width numbers.
func (c *coder) encode(vec, rotated []float32, code []uint64) {
	c.rotate(vec, rotated)
	clear(code)
	for i, x := range rotated {
		if x > c.centre[i] {
			code[i/64] |= 1 << (i % 64)
		}
	}
}

// rotate writes the rotated vec into out, longer by the square root of width.
func (c *coder) rotate(vec, out []float32) {
	for i, x := range vec {
		out[i] = x * c.flips[i]
	}
	clear(out[len(vec):])
	for half := 1; half < c.width; half *= 2 {
		for at := 0; at < c.width; at += 2 * half {
			low, high := out[at:at+half], out[at+half:at+2*half]
			for i, x := range low {
				y := high[i]
				low[i], high[i] = x+y, x-y
			}
		}
	}
}

// differing is the number of bits in which two codes of the same width differ.
func differing(a, b []uint64) int {
	n := 0
	b = b[:len(a)]
	for i, x := range a {
		n += bits.OnesCount64(x ^ b[i])
	}
	return n
}
