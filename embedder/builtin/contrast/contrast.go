// Package contrast learns a table of token vectors from pairs of texts that belong
// together, such as a question and its answer. It is the core of training. It reads no
// files and works on tokens rather than words. It serves a long run over a corpus as well
// as a short one over a user's own repositories.
//
// Vocabulary. A bag is a text as its distinct tokens with their counts. A model has one row
// and one weight for each token; the vector of a text is the weighted sum of the rows of
// its tokens, made unit length. A pair is two bags, a and b. A batch is the pairs of one
// step. A step moves each a nearer to its b than to the b of any other pair, and each b
// nearer to its a, at every width at once. A width is a number of leading components: a
// vector cut to it is scaled to unit length again (nested widths, Kusupati et al.,
// "Matryoshka Representation Learning", 2022). A cohort is a set of similar pairs from
// which a part of a batch is drawn, so that the batch has hard negatives.
package contrast

import "slices"

// Bag is a text: its distinct tokens, ascending, and how often each occurs.
type Bag struct {
	Tokens []uint32
	Counts []uint8
}

// maxCount is where the count of a token saturates. Texts of pairs are some thousand
// characters long at most.
const maxCount = 255

// Bags holds the bags of many texts in little memory: five bytes for each
// distinct token of a text. The zero value is empty.
type Bags struct {
	tokens []uint32
	counts []uint8
	ends   []uint64

	sorted []uint32
}

// Add appends the bag of a text with these tokens, in any order. A text without tokens has
// an empty bag.
func (b *Bags) Add(tokens []uint32) {
	b.sorted = append(b.sorted[:0], tokens...)
	slices.Sort(b.sorted)
	for i, t := range b.sorted {
		last := len(b.counts) - 1
		switch {
		case i == 0 || b.sorted[i-1] != t:
			b.tokens, b.counts = append(b.tokens, t), append(b.counts, 1)
		case b.counts[last] < maxCount:
			b.counts[last]++
		}
	}
	b.ends = append(b.ends, uint64(len(b.tokens)))
}

// Append appends all bags of other.
func (b *Bags) Append(other *Bags) {
	before := uint64(len(b.tokens))
	b.tokens, b.counts = append(b.tokens, other.tokens...), append(b.counts, other.counts...)
	for _, end := range other.ends {
		b.ends = append(b.ends, before+end)
	}
}

func (b *Bags) append(bag Bag) {
	b.tokens, b.counts = append(b.tokens, bag.Tokens...), append(b.counts, bag.Counts...)
	b.ends = append(b.ends, uint64(len(b.tokens)))
}

// Len returns the number of bags.
func (b *Bags) Len() int { return len(b.ends) }

// At returns the i-th bag, which must not be written to.
func (b *Bags) At(i int) Bag {
	start := uint64(0)
	if i > 0 {
		start = b.ends[i-1]
	}
	end := b.ends[i]
	return Bag{b.tokens[start:end:end], b.counts[start:end:end]}
}

// Pairs are two lists of bags of the same length: the i-th bags of both belong together.
type Pairs struct{ A, B Bags }

// Len returns the number of pairs.
func (p *Pairs) Len() int { return p.A.Len() }
