package adaptation

import (
	"cmp"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
)

// Pair is two texts that belong together: A such as one asks with, B what is to
// be found.
type Pair struct{ A, B string }

// maxPairs bounds what a corpus holds, and with it memory: some 60 MB of text, and
// as long as a run may take.
const maxPairs = 60_000

// maxOfDocument is how many pairs of one document are kept: a long list of
// settings must not rule.
const maxOfDocument = 60

// corpus is the pairs to learn from. Past maxPairs it keeps those of the smallest
// hashes, as good as a choice by chance, and the same whatever the order that
// documents come in. Its zero value is empty. It is for one goroutine at a time.
type corpus struct {
	pairs []owned
	// shift halves what is kept: hashes whose upper shift bits are not 0 are not.
	shift uint
	seen  map[uint64]struct{} // hashes of pairs
}

// owned is a pair with the hash of the document it is of.
type owned struct {
	Pair
	document, hash uint64
}

// addFile adds the pairs of a file of code or documentation. Document names the file,
// the same in every worktree, so that copies are held out together.
func (c *corpus) addFile(document, lang, text string) {
	var found []owned
	pairsOf(lang, text, func(a, b string) {
		if o, ok := own(document, a, b); ok {
			found = append(found, o)
		}
	})
	slices.SortFunc(found, byHash)
	for _, o := range found[:min(len(found), maxOfDocument)] {
		c.add(o)
	}
}

// addPair adds two texts of one document.
func (c *corpus) addPair(document, a, b string) {
	if o, ok := own(document, a, b); ok {
		c.add(o)
	}
}

// own makes a pair fit to be learned from, and says whether it is worth it.
func own(document, a, b string) (owned, bool) {
	a, b = fit(strings.Join(strings.Fields(a), " ")), fit(b)
	return owned{Pair{a, b}, hashOf(document), hashOf(a + "\x00" + b)}, isWorth(a, b)
}

func (c *corpus) add(o owned) {
	if _, known := c.seen[o.hash]; known || !c.wants(o) {
		return
	}
	if c.seen == nil {
		c.seen = map[uint64]struct{}{}
	}
	c.seen[o.hash] = struct{}{}
	c.pairs = append(c.pairs, o)
	for len(c.pairs) > maxPairs {
		c.shift++
		c.pairs = slices.DeleteFunc(c.pairs, func(o owned) bool { return !c.wants(o) })
		maps.DeleteFunc(c.seen, func(hash uint64, _ struct{}) bool { return hash>>(64-c.shift) != 0 })
	}
}

func (c *corpus) wants(o owned) bool { return c.shift == 0 || o.hash>>(64-c.shift) == 0 }

func byHash(a, b owned) int { return cmp.Compare(a.hash, b.hash) }

// documents counts the documents that pairs are of.
func (c *corpus) documents() int {
	all := map[uint64]struct{}{}
	for _, p := range c.pairs {
		all[p.document] = struct{}{}
	}
	return len(all)
}

// hashOf is FNV-1a with its bits spread (the finaliser of MurmurHash3), so that
// its upper ones, which decide what is kept, depend on all of the text.
func hashOf(s string) uint64 {
	f := fnv.New64a()
	_, _ = f.Write([]byte(s)) // never fails
	h := f.Sum64()
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// Of a hundred documents so many are held out to tune and to judge by.
const (
	tunedShare  = 10
	judgedShare = 15
)

// What is held out is so many pairs at least, or a gain cannot be told from chance,
// and maxJudged at most, which are compared with one another.
const (
	minTuned  = 50
	minJudged = 100
	maxJudged = 3000
)

// minLearned is how many pairs must be left to learn from: those of one batch.
const minLearned = 512

// parts are the pairs of a corpus by what they are for.
type parts struct{ learned, tuned, judged []owned }

// split divides documents by their hashes, so that a document is on the same side
// whenever it is adapted to anew. A pair to learn from that has a text in common
// with one held out, as copies of a file have, is left out.
func (c *corpus) split() parts {
	var p parts
	pairs := slices.SortedFunc(slices.Values(c.pairs), byHash)
	for _, o := range pairs {
		// The lower bits of the document; the upper ones of the pair choose pairs.
		switch share := o.document % 100; {
		case share < tunedShare:
			p.tuned = append(p.tuned, o)
		case share < tunedShare+judgedShare:
			p.judged = append(p.judged, o)
		default:
			p.learned = append(p.learned, o)
		}
	}
	held := map[uint64]bool{}
	hold := func(list []owned) []owned {
		list = slices.DeleteFunc(list, func(o owned) bool { return held[keyOf(o.A)] || held[keyOf(o.B)] })
		list = list[:min(len(list), maxJudged)]
		for _, o := range list {
			held[keyOf(o.A)], held[keyOf(o.B)] = true, true
		}
		return list
	}
	p.judged = hold(p.judged)
	p.tuned = hold(p.tuned)
	p.learned = slices.DeleteFunc(p.learned, func(o owned) bool { return held[keyOf(o.A)] || held[keyOf(o.B)] })
	return p
}
