// Package lexical finds documents by their words: it analyses text into terms and ranks
// documents with BM25 over an index held in memory.
//
// Vocabulary. A run is an unbroken stretch of letters, digits and underscores in a text. A
// part is what a run splits into at underscores, at changes of case and between letters and
// digits. A term is the indexed unit: the stem of a part or of a whole run. A slot is the
// index's own number for one version of a document: every upsert takes the next slot and
// the old one becomes dead, so that posting lists grow only at their end. A posting is a
// slot and the weighted frequency of a term in it. A block is 128 postings of a term that
// were sealed together; the directory of a list has what bounds the scores of each block. A
// window is a range of slots that is scored at once. A name is an identifier that a document
// declares; it is found only as a whole and does not affect scores.
//
// # Bounds that hold for every project
//
// A query counts its statistics over its own universe, such as the documents of a project, so
// neither the idf nor the mean length is known when a block is sealed. What a term adds to the
// score of a document factors into
//
//	w·idf·(k1+1) · f(tf, len),   f(tf, len) = tf / (tf + k1·(1 - b + b·len/mean))
//
// The first factor belongs to the query: it is computed once for each term. For every mean
// above 0, f grows with tf and falls with len. So for any set of postings, f of the highest tf
// and the shortest len is a bound, whatever the mean turns out to be. One pair for a block
// would be loose: a single short document and a single long one that repeats the term make it
// so. A block therefore states two: the shortest length among the postings of one occurrence at
// most, whose highest tf is one occurrence; and the highest tf and the shortest length among
// the others. The larger of both values bounds the block. 16 bits hold each, as every
// length: a longer text counts as one of 65,535. A frequency of 65,535 units stands for any above
// it, for which f is taken as its limit, 1.
//
// search.scan says how a search uses the bounds. Document frequencies of a universe are
// exact, too: those of a set of slots that was counted before, plus the difference.
//
// Documents and queries are analysed by the same function. A query is never an AND of its
// words: a document with any of them can be found.
package lexical

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/recalld/recalld/index"
)

var _ index.Retriever = (*Index)(nil)

// Name is the name of the index in receipts and settings.
const Name = "lexical"

// Options tune the ranking. The zero value of a field stands for its default.
type Options struct {
	// K1 is BM25's saturation of repeated words, above 0 and at most 10. The
	// default is DefaultK1.
	K1 float64
	// B is BM25's share of length normalisation, above 0 and at most 1. The
	// default is DefaultB.
	B float64
	// ExtraWeight is what one occurrence in a document's extra field counts,
	// against 1 in its body: a multiple of 0.25, at most 16. The default is
	// DefaultExtraWeight.
	ExtraWeight float64
}

// Defaults of Options. K1 and B lie inside the range that Robertson and Zaragoza recommend
// (k1 1.2 to 2, b 0.5 to 0.8; "The Probabilistic Relevance Framework: BM25 and Beyond",
// 2009); the values were tuned over nine retrieval sets of conversations, questions and
// code.
const (
	DefaultK1          = 1.2
	DefaultB           = 0.75
	DefaultExtraWeight = 0.5
)

// tfUnit is the units of stored frequency per occurrence in a body, so that an extra field
// can count fractions of an occurrence.
const tfUnit = 4

// withDefaults replaces zero fields by their defaults.
func (o Options) withDefaults() Options {
	o.K1 = cmp.Or(o.K1, DefaultK1)
	o.B = cmp.Or(o.B, DefaultB)
	o.ExtraWeight = cmp.Or(o.ExtraWeight, DefaultExtraWeight)
	return o
}

// validate reports the first option out of its range. The comparisons are
// written so that NaN fails them.
func (o Options) validate() error {
	if !(o.K1 > 0 && o.K1 <= 10) {
		return fmt.Errorf("lexical: k1 %v is not above 0 and at most 10", o.K1)
	}
	if !(o.B > 0 && o.B <= 1) {
		return fmt.Errorf("lexical: b %v is not above 0 and at most 1", o.B)
	}
	units := o.ExtraWeight * tfUnit
	if !(units >= 1 && units <= 16*tfUnit) || units != float64(int(units)) {
		return fmt.Errorf("lexical: extra weight %v is not a multiple of %v between it and 16", o.ExtraWeight, 1.0/tfUnit)
	}
	return nil
}

// errLimit is returned when a query wants no hits.
var errLimit = errors.New("lexical: the limit of a query must be positive")
