package lexical

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/RoaringBitmap/roaring/v2"
	"golang.org/x/text/unicode/norm"

	"github.com/recalld/recalld/index"
)

// Names are stored beside a document's words, among its terms and in front of them. Only
// Named finds them: they have no score, add nothing to the document's length and are in no
// statistics.

const (
	// namePrefix begins a name among terms. No analysed term begins with it, and it sorts
	// before all characters of terms.
	namePrefix = "#"
	// maxName is the longest name kept, in bytes.
	maxName = 160
)

// WithNames returns the terms of a document with its declared names. Names that are empty,
// too long or not UTF-8 are left out.
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

// SplitNames is the inverse of WithNames. The names are as written.
func SplitNames(terms index.Terms) (names []string, words index.Terms) {
	for len(terms) > 0 && strings.HasPrefix(terms[0].Text, namePrefix) {
		names = append(names, terms[0].Text[len(namePrefix):])
		terms = terms[1:]
	}
	return names, terms
}

// nameSigns are written in names, or left out, by habit: read_file, read-file, *file*, file?.
const nameSigns = "_-*!?"

// appendFolded appends a name in the form in which it is looked up: lower case and without
// nameSigns, so that read_file, readFile, read-file and READ_FILE are one. A name of such signs
// only is unchanged.
func appendFolded(b []byte, name string) []byte {
	start := len(b)
	for i := range len(name) {
		switch c := name[i]; {
		case c >= utf8.RuneSelf:
			bare := strings.Map(func(r rune) rune {
				if strings.ContainsRune(nameSigns, r) {
					return -1
				}
				return r
			}, strings.ToLower(norm.NFC.String(name)))
			return append(b[:start], bare...)
		case c >= 'A' && c <= 'Z':
			b = append(b, c+'a'-'A')
		case strings.IndexByte(nameSigns, c) < 0:
			b = append(b, c)
		}
	}
	if len(b) == start {
		b = append(b, name...)
	}
	return b
}

// nameHash identifies a name in the dictionary; it reuses buffer.
func (d *dictionary) nameHash(name string, buffer []byte) (uint64, []byte) {
	buffer = appendFolded(append(buffer[:0], namePrefix...), name)
	return d.hashBytes(buffer), buffer
}

// Named returns the allowed documents (nil is all) that declare a name, in any case and
// style, in order of their numbers. Its cost grows with the number of documents that
// declare it.
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
	list, _ := s.postings.read(id, nil)
	for slots := range list.all() {
		for _, slot := range slots {
			if doc := s.docs[slot]; !s.dead.has(slot) && (allow == nil || allow.Contains(doc)) {
				docs = append(docs, doc)
			}
		}
	}
	slices.Sort(docs)
	return docs
}
