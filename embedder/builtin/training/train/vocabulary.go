package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/recalld/recalld/embedder/builtin/internal/token"
)

// counter counts in how many texts a piece occurs, kind by kind.
type counter struct {
	splitter token.Splitter
	texts    map[string]int // of each kind
	pieces   map[string]*tally
	kinds    []string
	text     int // the number of the text being counted
}

// tally is how often a piece was met.
type tally struct {
	last  int             // the text that it was last met in
	texts map[uint8]int32 // texts that it is in, by kind
}

func newCounter() *counter {
	return &counter{texts: map[string]int{}, pieces: map[string]*tally{}}
}

// add counts the two texts of a pair. It fails at the first kind too many.
func (c *counter) add(p pair) error {
	kind := slices.Index(c.kinds, p.Kind)
	if kind < 0 {
		if len(c.kinds) == maxKinds {
			return fmt.Errorf("more than %d kinds of pairs", maxKinds)
		}
		kind = len(c.kinds)
		c.kinds = append(c.kinds, p.Kind)
	}
	for _, text := range []string{p.A, p.B} {
		c.text++
		c.texts[p.Kind]++
		c.splitter.Split(text, func(_ token.Kind, piece []byte) {
			if len(piece) > token.MaxPiece {
				return
			}
			t := c.pieces[string(piece)]
			if t == nil {
				t = &tally{texts: map[uint8]int32{}}
				c.pieces[string(piece)] = t
			}
			if t.last != c.text {
				t.last = c.text
				t.texts[uint8(kind)]++
			}
		})
	}
	if c.text%sweepEvery < 2 {
		c.sweep()
	}
	return nil
}

// sweepEvery is after how many texts pieces that were met but once are
// forgotten, sweepFrom the number of pieces that is worth it. Few of them would
// have come to anything, and all of them together would fill the memory.
const (
	sweepEvery = 200_000
	sweepFrom  = 3_000_000
)

func (c *counter) sweep() {
	if len(c.pieces) < sweepFrom {
		return
	}
	maps.DeleteFunc(c.pieces, func(_ string, t *tally) bool {
		n := int32(0)
		for _, texts := range t.texts {
			n += texts
		}
		return n == 1
	})
}

// minTexts is in how many texts a piece is at least, or little is learned of it.
const minTexts = 5

// vocabulary returns the pieces that count most, n at most, and so many buckets.
// A piece counts the sum over kinds of the texts that it is in, divided by the
// root of the texts of the kind: a kind ten times as large has three times the
// say.
func (c *counter) vocabulary(n, buckets int) (*token.Vocabulary, error) {
	type scored struct {
		piece string
		score float64
	}
	var list []scored
	for piece, t := range c.pieces {
		score, texts := 0.0, int32(0)
		for kind := range c.kinds { // in order, so that sums are rounded alike
			in := t.texts[uint8(kind)]
			texts += in
			score += float64(in) / math.Sqrt(float64(c.texts[c.kinds[kind]]))
		}
		if texts >= minTexts {
			list = append(list, scored{piece, score})
		}
	}
	slices.SortFunc(list, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.piece, b.piece))
	})
	list = list[:min(n, len(list))]
	pieces := make([]string, len(list))
	for i, s := range list {
		pieces[i] = s.piece
	}
	return token.NewVocabulary(pieces, buckets)
}
