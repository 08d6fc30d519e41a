package lexical

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/recalld/recalld/index"
)

// Names are kept beside a document's words: what it declares, for a question that
// asks for exactly that. They are stored among its terms, in front of them, and
// change nothing of what words find: they have no score, add nothing to a length and
// are counted in no statistics.

const (
	// namePrefix begins a name among terms. No analysed term does, and it sorts
	// before all that can begin one.
	namePrefix = "#"
	// maxName is the longest name that is kept, in bytes.
	maxName = 160
)

// WithNames returns the terms of a document with the names that it declares. Names
// that are empty, too long or not UTF-8 are left out.
func WithNames(words index.Terms, names []string) index.Terms {
	if len(names) == 0 {
		return words
	}
	all := make(index.Terms, 0, len(names)+len(words))
	for _, name := range names {
		if name != "" && len(name) <= maxName && utf8.ValidString(name) {
			all = append(all, index.Term{Text: namePrefix + name, Count: 1})
		}
	}
	slices.SortFunc(all, func(a, b index.Term) int { return strings.Compare(a.Text, b.Text) })
	all = slices.CompactFunc(all, func(a, b index.Term) bool { return a.Text == b.Text })
	return append(all, words...)
}

// SplitNames takes apart what WithNames put together. The names are as written.
func SplitNames(terms index.Terms) (names []string, words index.Terms) {
	for len(terms) > 0 && strings.HasPrefix(terms[0].Text, namePrefix) {
		names = append(names, terms[0].Text[len(namePrefix):])
		terms = terms[1:]
	}
	return names, terms
}

// appendFolded appends a name as it is looked up: in lower case and without
// underscores, as a run is, so that read_file, readFile and READ_FILE are one.
// Nothing but underscores stays what it is.
func appendFolded(b []byte, name string) []byte {
	start := len(b)
	for i := range len(name) {
		switch c := name[i]; {
		case c >= utf8.RuneSelf:
			return append(b[:start], strings.ReplaceAll(strings.ToLower(name), "_", "")...)
		case c >= 'A' && c <= 'Z':
			b = append(b, c+'a'-'A')
		case c != '_':
			b = append(b, c)
		}
	}
	if len(b) == start {
		b = append(b, name...)
	}
	return b
}

// nameHash is how the dictionary knows a name; it reuses buffer.
func (d *dictionary) nameHash(name string, buffer []byte) (uint64, []byte) {
	buffer = appendFolded(append(buffer[:0], namePrefix...), name)
	return d.hashBytes(buffer), buffer
}

// Named returns the documents, among those that are allowed (nil is all), that
// declare a name, in whatever case and style it is written, in order of their numbers.
// It costs a look at every document that does.
func (x *Index) Named(name string, allow *roaring.Bitmap) []uint32 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	s := &x.state
	hash, _ := s.dictionary.nameHash(name, nil)
	id, ok := s.dictionary.find(hash)
	if !ok {
		return nil
	}
	var docs []uint32
	var slots, tfs [64]uint32
	c := s.lists[id].cursor()
	for n := c.fill(slots[:], tfs[:]); n > 0; n = c.fill(slots[:], tfs[:]) {
		for _, slot := range slots[:n] {
			if doc := s.docs[slot]; !s.dead.has(slot) && (allow == nil || allow.Contains(doc)) {
				docs = append(docs, doc)
			}
		}
	}
	slices.Sort(docs)
	return docs
}
