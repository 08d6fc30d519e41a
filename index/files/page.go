package files

import (
	"strings"
)

const (
	// pageSize is the number of files of a page: the bits of a row.
	pageSize = 64
	// rows is the number of hashes of trigrams. A file of 150 distinct trigrams sets
	// a quarter of 512: a word of five letters, which has three, lets one file in 60
	// through that does not have it.
	rowBits = 9
	rows    = 1 << rowBits
	// gram is the length of a trigram in bytes.
	gram = 3
)

// separator stands between path and head, so that no word matches across both.
const separator = "\x00"

// page holds up to 64 files, with their signature and their texts. The texts are
// contiguous, because searching many files is bound by memory access.
type page struct {
	present uint64 // a bit for every file
	rows    [rows]uint64
	files   [pageSize]file
	texts   strings.Builder
	waste   int // bytes of texts of removed files
}

// file locates a file's texts in its page.
type file struct {
	id   uint32
	path string // as written
	// The file's text is its folded path and head: start to end in the page's texts. name
	// and head are offsets in this text.
	start, end, name, head int32
}

// view is a file prepared for search.
type view struct {
	*file
	text string
}

// newView folds a file that is in no page.
func newView(id uint32, path, head string) view {
	folded := fold(path)
	text := folded + separator + fold(head)
	return view{text: text, file: &file{
		id: id, path: path, end: int32(len(text)),
		name: int32(strings.LastIndexByte(folded, '/') + 1), head: int32(len(folded) + len(separator)),
	}}
}

// folded returns the path without its case, and the file name in it.
func (v view) folded() (path, name string) {
	path = v.text[:v.head-int32(len(separator))]
	return path, path[v.name:]
}

// view returns the file of a slot.
func (p *page) view(slot int) view {
	f := &p.files[slot%pageSize]
	return view{file: f, text: p.texts.String()[f.start:f.end]}
}

// set puts a file into an empty slot.
func (p *page) set(slot uint32, v view) {
	bit := uint64(1) << (slot % pageSize)
	p.present |= bit
	for i := 0; i+gram <= len(v.text); i++ {
		p.rows[row(v.text[i:])] |= bit
	}
	v.start = int32(p.texts.Len())
	v.end = v.start + int32(len(v.text))
	p.texts.WriteString(v.text)
	p.files[slot%pageSize] = *v.file
}

// clear empties a slot.
func (p *page) clear(slot uint32) {
	bit := uint64(1) << (slot % pageSize)
	p.present &^= bit
	for i := range p.rows {
		p.rows[i] &^= bit
	}
	f := &p.files[slot%pageSize]
	p.waste += int(f.end - f.start)
	*f = file{}
	if p.waste > p.texts.Len()/2 {
		p.pack()
	}
}

// pack drops the texts of removed files.
func (p *page) pack() {
	old := p.texts.String()
	p.texts, p.waste = strings.Builder{}, 0
	for i := range p.files {
		if f := &p.files[i]; p.present>>i&1 == 1 {
			text := old[f.start:f.end]
			f.start = int32(p.texts.Len())
			f.end = f.start + int32(len(text))
			p.texts.WriteString(text)
		}
	}
}

// row is the hash of the trigram that a text begins with: Fibonacci hashing
// (Knuth, The Art of Computer Programming, 6.4), by the golden ratio of 2³².
func row(text string) uint16 {
	n := uint32(text[0])<<16 | uint32(text[1])<<8 | uint32(text[2])
	return uint16(n * 0x9E3779B1 >> (32 - rowBits))
}

// rowsOf returns the rows of the texts' trigrams. A text of less than three bytes has none:
// any file may contain it.
func rowsOf(texts ...string) []uint16 {
	var out []uint16
	for _, text := range texts {
		for i := 0; i+gram <= len(text); i++ {
			out = append(out, row(text[i:]))
		}
	}
	return out
}

// may returns the files that may contain the texts that the rows were made from.
func (p *page) may(rows []uint16) uint64 {
	mask := p.present
	for _, r := range rows {
		if mask &= p.rows[r]; mask == 0 {
			break
		}
	}
	return mask
}

// place is where a file contains a word; lower places count more.
type place uint8

const (
	inName place = iota
	inFolder
	inHead
	nowhere
)

// find returns the best place of a folded word.
func (v view) find(word string) place {
	path, name := v.folded()
	switch at := strings.Index(path, word); {
	case at >= int(v.name):
		return inName
	case at >= 0 && strings.Contains(name, word):
		return inName
	case at >= 0:
		return inFolder
	case contains(v.text[v.head:], word):
		return inHead
	}
	return nowhere
}

// block is the longest text that strings.Index searches with vector instructions in one
// step. In longer texts it stops at every byte equal to the word's first.
const block = 64

// contains is strings.Contains for texts of a few blocks, in half the time.
func contains(text, word string) bool {
	if len(word) <= block/2 {
		for ; len(text) > block; text = text[block-len(word)+1:] {
			if strings.Contains(text[:block], word) {
				return true
			}
		}
	}
	return strings.Contains(text, word)
}
