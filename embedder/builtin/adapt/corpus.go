package adapt

import (
	"cmp"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"github.com/recalld/recalld/embedder/builtin/training/mine/clean"
	"github.com/recalld/recalld/embedder/builtin/training/mine/scan"
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

// maxLine is how long a line is at most that is read. Longer ones are data or made
// by machines, and what scanners do in a line takes time by its length squared.
const maxLine = 4000

// Corpus is the pairs to learn from. Past maxPairs it keeps those of the smallest
// hashes, as good as a choice by chance, and the same whatever the order that
// documents come in. Its zero value is empty. It is for one goroutine at a time.
type Corpus struct {
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

// Len returns the number of pairs.
func (c *Corpus) Len() int { return len(c.pairs) }

// AddFile adds what a file of code or documentation says of itself. Document names
// it, the same in every worktree, so that copies are held out together; name is
// its path, by which its format is told.
func (c *Corpus) AddFile(document, name, text string) {
	scanner, _, ok := scan.File(name)
	if !ok {
		return
	}
	var found []owned
	scanner(written(text), func(p scan.Pair) {
		if o, ok := own(document, p.A, p.B); ok {
			found = append(found, o)
		}
	})
	slices.SortFunc(found, byHash)
	for _, o := range found[:min(len(found), maxOfDocument)] {
		c.add(o)
	}
}

// written returns a text without lines that nobody wrote by hand, with line breaks of
// one sort.
func written(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for line := range strings.Lines(text) {
		if len(line) <= maxLine {
			b.WriteString(strings.ReplaceAll(line, "\r\n", "\n"))
		}
	}
	return b.String()
}

// AddPair adds two texts of one document.
func (c *Corpus) AddPair(document, a, b string) {
	if o, ok := own(document, a, b); ok {
		c.add(o)
	}
}

// own makes a pair fit to be learned from, and says whether it is worth it.
func own(document, a, b string) (owned, bool) {
	a, b = clean.Text(strings.Join(strings.Fields(a), " ")), clean.Text(b)
	// Whoever writes in another language wants it learned.
	if why, drop := clean.Check(a, b); drop && (why != clean.Foreign || clean.Key(a) == clean.Key(b)) {
		return owned{}, false
	}
	return owned{Pair{a, b}, hashOf(document), hashOf(a + "\x00" + b)}, true
}

func (c *Corpus) add(o owned) {
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

func (c *Corpus) wants(o owned) bool { return c.shift == 0 || o.hash>>(64-c.shift) == 0 }

func byHash(a, b owned) int { return cmp.Compare(a.hash, b.hash) }

// documents counts the documents that pairs are of.
func (c *Corpus) documents() int {
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
