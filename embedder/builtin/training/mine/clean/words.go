package clean

import (
	"iter"
	"strings"
	"unicode"
)

// words yields the runs of letters and digits in a lower-case text.
func words(lower string) iter.Seq[string] {
	return strings.FieldsFuncSeq(lower, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}

// Key returns a hash of the words of a text (FNV-1a, 64 bits): texts that
// differ in case, spaces and marks have the same.
func Key(s string) uint64 {
	h := newHash()
	for word := range words(strings.ToLower(s)) {
		h.add(word)
	}
	return uint64(h)
}

// hash is FNV-1a over words, each followed by a separator byte.
type hash uint64

func newHash() hash { return 14695981039346656037 }

func (h *hash) add(word string) {
	const prime = 1099511628211
	x := uint64(*h)
	for i := 0; i < len(word); i++ {
		x = (x ^ uint64(word[i])) * prime
	}
	*h = hash((x ^ 0xff) * prime)
}
