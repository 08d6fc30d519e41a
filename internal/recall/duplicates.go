package recall

import (
	"hash/fnv"
	"slices"
	"strings"
	"unicode"

	"github.com/recalld/recalld/internal/memory"
)

// nearDuplicate is the share of common pairs of words (Jaccard) from which two items of a kind
// are duplicates. Two texts of less than some forty words that differ in one are none: the
// word may be the port, the name or the "not" that the text is about.
const nearDuplicate = 0.9

// wordPairs are the hashes of the pairs of neighbouring words of a text, sorted. The words
// alone would not tell "from A to B" and "from B to A" apart.
type wordPairs []uint64

func pairsOf(text string) wordPairs {
	var pairs wordPairs
	h, before := fnv.New64a(), uint64(0)
	for word := range strings.FieldsFuncSeq(text, separates) {
		h.Reset()
		h.Write([]byte(strings.ToLower(strings.TrimRight(word, "!"))))
		this := h.Sum64()
		const odd = 0x9e3779b97f4a7c15 // so that the order counts
		pairs = append(pairs, before*odd^this)
		before = this
	}
	slices.Sort(pairs)
	return slices.Compact(pairs)
}

// separates reports whether a rune stands between words. Symbols belong to words, and so do "#"
// and "!": "C++" and "C#", "if ok" and "if !ok" differ by them. A "!" that ends a word is cut off.
func separates(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.IsPunct(r) && r != '!' && r != '#'
}

// like is the number of pairs that two texts share, divided by the number of all their pairs.
func (p wordPairs) like(other wordPairs) float64 {
	common := 0
	for a, b := p, other; len(a) > 0 && len(b) > 0; {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			common, a, b = common+1, a[1:], b[1:]
		}
	}
	if union := len(p) + len(other) - common; union > 0 {
		return float64(common) / float64(union)
	}
	return 0
}

// Alike says whether two texts are near-duplicates. An answer shows only one of them.
func (s *Service) Alike(a, b string) bool {
	return a == b || pairsOf(a).like(pairsOf(b)) >= nearDuplicate
}

// isDuplicate says whether the answer has a near-duplicate of an item, and counts it there with
// those that it stands for.
func (r *run) isDuplicate(item memory.Item, pairs wordPairs) bool {
	for i, other := range r.itemPairs {
		if r.items[i].Kind == item.Kind && pairs.like(other) >= nearDuplicate {
			r.items[i].Similar += 1 + item.Similar
			return true
		}
	}
	return false
}
