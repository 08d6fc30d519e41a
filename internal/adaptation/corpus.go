package adaptation

import (
	"cmp"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
)

// Pair is two texts that belong together: A is like a query, B is what it should find.
type Pair struct{ A, B string }

// maxPairs bounds memory, to some 60 MB of text, and the time of a run.
const maxPairs = 60_000

// maxOfDocument is how many pairs of one document are kept, so that a long list of
// settings does not dominate.
const maxOfDocument = 60

// corpus is the pairs to learn from. Beyond maxPairs it keeps the pairs with the smallest
// hashes: as good as a random choice, and independent of the order of documents. Its zero
// value is empty. It is for one goroutine at a time.
type corpus struct {
	pairs []sample
	// Only pairs whose hashes begin with shift zero bits are kept.
	shift uint
	seen  map[uint64]struct{} // hashes of pairs
}

// sample is a pair with the hash of its document.
type sample struct {
	Pair
	document, hash uint64
}

// addFile adds the pairs of a file of code or documentation. Document names the file,
// the same in every worktree, so that copies are held out together.
func (c *corpus) addFile(document, lang, text string) {
	var found []sample
	pairsOf(lang, text, func(a, b string) {
		if o, ok := newSample(document, a, b); ok {
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
	if o, ok := newSample(document, a, b); ok {
		c.add(o)
	}
}

// newSample cleans a pair and reports whether it is worth learning from.
func newSample(document, a, b string) (sample, bool) {
	a, b = fit(strings.Join(strings.Fields(a), " ")), fit(b)
	return sample{Pair{a, b}, hashOf(document), hashOf(a + "\x00" + b)}, isWorth(a, b)
}

func (c *corpus) add(o sample) {
	if _, known := c.seen[o.hash]; known || !c.wants(o.hash) {
		return
	}
	if c.seen == nil {
		c.seen = map[uint64]struct{}{}
	}
	c.seen[o.hash] = struct{}{}
	c.pairs = append(c.pairs, o)
	for len(c.pairs) > maxPairs {
		c.shift++
		c.pairs = slices.DeleteFunc(c.pairs, func(o sample) bool { return !c.wants(o.hash) })
		maps.DeleteFunc(c.seen, func(hash uint64, _ struct{}) bool { return !c.wants(hash) })
	}
}

// wants reports whether a pair is kept: all are as long as shift is 0.
func (c *corpus) wants(hash uint64) bool { return hash>>(64-c.shift) == 0 }

func byHash(a, b sample) int { return cmp.Compare(a.hash, b.hash) }

// documents counts the documents of the pairs.
func (c *corpus) documents() int {
	all := map[uint64]struct{}{}
	for _, p := range c.pairs {
		all[p.document] = struct{}{}
	}
	return len(all)
}

// hashOf is FNV-1a with the finaliser of MurmurHash3, so that the upper bits, which decide
// what is kept, depend on the whole text.
func hashOf(s string) uint64 {
	f := fnv.New64a()
	_, _ = f.Write([]byte(s)) // never fails
	h := f.Sum64()
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// Of a hundred documents so many are held out for tuning and for judging.
const (
	tunedShare  = 10
	judgedShare = 15
)

// At least so many pairs are held out, or a gain could not be distinguished from chance;
// at most maxJudged, because each is compared with all others.
const (
	minTuned  = 50
	minJudged = 100
	maxJudged = 3000
)

// minLearned is how many pairs must be left to learn from: one batch.
const minLearned = 512

// parts are the pairs of a corpus by their use.
type parts struct{ learned, tuned, judged []sample }

// split divides documents by their hashes, so that a document has the same use in every
// adaptation. A pair that shares a text with a pair that is held out, as copies of a file
// do, is not learned from.
func (c *corpus) split() parts {
	var p parts
	for _, o := range slices.SortedFunc(slices.Values(c.pairs), byHash) {
		// The lower bits choose documents, the upper bits of a pair's hash choose pairs.
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
	isHeld := func(o sample) bool { return held[keyOf(o.A)] || held[keyOf(o.B)] }
	hold := func(list []sample) []sample {
		list = slices.DeleteFunc(list, isHeld)
		list = list[:min(len(list), maxJudged)]
		for _, o := range list {
			held[keyOf(o.A)], held[keyOf(o.B)] = true, true
		}
		return list
	}
	p.judged = hold(p.judged)
	p.tuned = hold(p.tuned)
	p.learned = slices.DeleteFunc(p.learned, isHeld)
	return p
}
