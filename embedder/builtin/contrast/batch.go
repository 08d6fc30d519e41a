package contrast

import (
	"math/rand/v2"
	"slices"
)

// batch is the texts of a step: first the a of all pairs, then their b.
type batch struct {
	pairs int
	// vectors holds the unit vectors of the texts, lengths their lengths before
	// normalisation.
	vectors, lengths []float32
	// Text i is made of uses[ends[i-1]:ends[i]], by ascending token.
	uses []use
	ends []int
	// masked lists for each pair the indices of other pairs with the same a or the same b.
	// They are not negatives for it.
	masked [][]int
}

// use is a token of a text; share is the factor of its weight there.
type use struct {
	token uint32
	share float32
}

// gather makes the batch of the pairs at these indices.
func gather(pairs *Pairs, at []int, dropout float64, draw *rand.Rand) *batch {
	b := &batch{pairs: len(at)}
	for _, side := range []*Bags{&pairs.A, &pairs.B} {
		for _, i := range at {
			b.add(side.At(i), dropout, draw)
		}
	}
	b.mask(pairs, at)
	return b
}

// add appends a text. It leaves out some of its tokens at random, but never all.
func (b *batch) add(bag Bag, dropout float64, draw *rand.Rand) {
	start := len(b.uses)
	for j, t := range bag.Tokens {
		if dropout > 0 && draw.Float64() < dropout {
			continue
		}
		b.uses = append(b.uses, use{t, shares[bag.Counts[j]]})
	}
	if len(b.uses) == start && len(bag.Tokens) > 0 {
		j := draw.IntN(len(bag.Tokens))
		b.uses = append(b.uses, use{bag.Tokens[j], shares[bag.Counts[j]]})
	}
	b.ends = append(b.ends, len(b.uses))
}

// text returns the tokens of text i.
func (b *batch) text(i int) []use {
	if i == 0 {
		return b.uses[:b.ends[0]]
	}
	return b.uses[b.ends[i-1]:b.ends[i]]
}

// mask finds the pairs that share a text.
func (b *batch) mask(pairs *Pairs, at []int) {
	b.masked = make([][]int, len(at))
	for _, side := range []*Bags{&pairs.A, &pairs.B} {
		same := map[uint64][]int{}
		for i, p := range at {
			key := side.At(p).key()
			for _, j := range same[key] {
				if !slices.Contains(b.masked[i], j) {
					b.masked[i] = append(b.masked[i], j)
					b.masked[j] = append(b.masked[j], i)
				}
			}
			same[key] = append(same[key], i)
		}
	}
}

// key is a hash of the bag: FNV-1a over its tokens and counts.
func (b Bag) key() uint64 {
	h := uint64(0xcbf29ce484222325)
	for i, t := range b.Tokens {
		h = (h ^ (uint64(t)<<8 | uint64(b.Counts[i]))) * 0x100000001b3
	}
	return h
}
