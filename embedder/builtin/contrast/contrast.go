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
// distinct token of a text. The zero value is empty. Its fields are for a file of it;
// write them by its methods.
type Bags struct {
	Tokens []uint32
	Counts []uint8
	Ends   []uint64 // of each bag in the others

	sorted []uint32
}

// Add appends the bag of a text with these tokens, in any order. A text without tokens has
// an empty bag.
func (b *Bags) Add(tokens []uint32) {
	b.sorted = append(b.sorted[:0], tokens...)
	slices.Sort(b.sorted)
	for i, t := range b.sorted {
		last := len(b.Counts) - 1
		switch {
		case i == 0 || b.sorted[i-1] != t:
			b.Tokens, b.Counts = append(b.Tokens, t), append(b.Counts, 1)
		case b.Counts[last] < maxCount:
			b.Counts[last]++
		}
	}
	b.Ends = append(b.Ends, uint64(len(b.Tokens)))
}

// Append appends a bag.
func (b *Bags) Append(bag Bag) {
	b.Tokens, b.Counts = append(b.Tokens, bag.Tokens...), append(b.Counts, bag.Counts...)
	b.Ends = append(b.Ends, uint64(len(b.Tokens)))
}

// Len returns the number of bags.
func (b *Bags) Len() int { return len(b.Ends) }

// At returns the i-th bag, which must not be written to.
func (b *Bags) At(i int) Bag {
	start := uint64(0)
	if i > 0 {
		start = b.Ends[i-1]
	}
	end := b.Ends[i]
	return Bag{b.Tokens[start:end:end], b.Counts[start:end:end]}
}

// Pairs are two lists of bags of the same length: the i-th bags of both belong together.
type Pairs struct{ A, B Bags }

// Len returns the number of pairs.
func (p *Pairs) Len() int { return p.A.Len() }
