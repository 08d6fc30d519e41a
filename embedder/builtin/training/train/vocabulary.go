package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/recalld/recalld/embedder/builtin/table"
)

// counter counts the texts that contain each piece, by kind.
type counter struct {
	kinds  []string
	texts  []int            // of each kind
	pieces map[string][]int // texts that contain a piece, by kind, up to the last kind with any
}

// minTexts is the least number of texts for a piece, since little is learned about rarer
// ones. Within one file a piece needs two texts, or it is dropped at once: names used once
// would fill the memory.
const (
	minTexts     = 5
	minFileTexts = 2
)

// countFiles counts the pieces of files of pairs.
func countFiles(files []string) (*counter, error) {
	all := &counter{pieces: map[string][]int{}}
	var mu sync.Mutex // guards all; sums do not depend on the order of files
	err := eachFile(files, func(_ int, name string) error {
		one := &counter{pieces: map[string][]int{}}
		last := map[string]int{} // the last text with the piece
		var splitter table.Splitter
		text := 0
		names := newSpeakers()
		err := readPairs(name, func(p pair) error {
			names.rename(&p)
			kind := one.kind(p.Kind)
			for _, side := range []string{p.A, p.B} {
				text++
				one.texts[kind]++
				splitter.Split(side, func(_ table.Kind, piece []byte) {
					if len(piece) <= table.MaxPiece && last[string(piece)] != text {
						last[string(piece)] = text
						one.count(string(piece), kind, 1)
					}
				})
			}
			return nil
		})
		mu.Lock()
		defer mu.Unlock()
		all.add(one)
		return err
	})
	return all, err
}

// kind returns the index of a kind.
func (c *counter) kind(name string) int {
	k := slices.Index(c.kinds, name)
	if k < 0 {
		k = len(c.kinds)
		c.kinds, c.texts = append(c.kinds, name), append(c.texts, 0)
	}
	return k
}

// count counts a piece in n texts of a kind.
func (c *counter) count(piece string, kind, n int) {
	in := c.pieces[piece]
	if len(in) <= kind {
		in = append(in, make([]int, kind+1-len(in))...)
		c.pieces[piece] = in
	}
	in[kind] += n
}

// add adds the counts of another counter.
func (c *counter) add(other *counter) {
	places := make([]int, len(other.kinds))
	for i, name := range other.kinds {
		places[i] = c.kind(name)
		c.texts[places[i]] += other.texts[i]
	}
	for piece, in := range other.pieces {
		if sum(in) < minFileTexts {
			continue
		}
		for i, n := range in {
			if n > 0 {
				c.count(piece, places[i], n)
			}
		}
	}
}

func sum(list []int) (s int) {
	for _, n := range list {
		s += n
	}
	return s
}

// vocabulary returns the n best pieces at most, and the given number of buckets. The score
// of a piece is the sum over kinds of the texts that contain it, divided by the root of the
// number of texts of the kind: a kind ten times as large has three times the weight.
func (c *counter) vocabulary(n, buckets int) (*table.Vocabulary, error) {
	type scored struct {
		piece string
		score float64
	}
	// Kinds in the order of names, so that rounding does not depend on their order in the
	// corpus.
	order := make([]int, len(c.kinds))
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(c.kinds[a], c.kinds[b]) })
	var list []scored
	for piece, in := range c.pieces {
		if sum(in) < minTexts {
			continue
		}
		score := 0.0
		for _, k := range order {
			if k < len(in) {
				score += float64(in[k]) / math.Sqrt(float64(c.texts[k]))
			}
		}
		list = append(list, scored{piece, score})
	}
	slices.SortFunc(list, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.piece, b.piece))
	})
	pieces := make([]string, min(n, len(list)))
	for i := range pieces {
		pieces[i] = list[i].piece
	}
	v, err := table.NewVocabulary(pieces, buckets)
	if err != nil {
		return nil, fmt.Errorf("make vocabulary: %w", err)
	}
	return v, nil
}
