// Package feature takes text apart into hashed features.
//
// Vocabulary. A run is an unbroken stretch of letters, digits and underscores.
// A run is split into words at underscores, at changes between letters and
// digits, and at camelCase humps ("parseHTTPRequest" is parse, HTTP, request).
// A feature is the hash of one of these: a word's stem, a run of several words
// as a whole, a pair of neighbouring runes of a script without spaces, or a
// stretch of letters of a word (a gram). Pairs of words in other scripts were
// tried and made search worse: they take room from the words. Text without a
// single letter or digit yields its symbols as words.
package feature

import (
	"unicode"
	"unicode/utf8"
)

// Kind says what a feature was made from.
type Kind uint8

const (
	// Word is the stem of a word.
	Word Kind = iota
	// Whole is a run of several words, without its underscores.
	Whole
	// Pair is two neighbouring runes of a script without spaces.
	Pair
	// Gram is MinGram to MaxGram letters of a word, its ends marked.
	Gram
	// Kinds is the number of kinds.
	Kinds
)

// MinGram and MaxGram bound the length of grams in code points, the marks of
// the word's ends included.
const (
	MinGram = 3
	MaxGram = 5
)

// maxWord is the longest word in code points; a longer stretch is taken in
// pieces, which bounds the work of a byte of text.
const maxWord = 48

// Extractor takes text apart. It keeps its buffers between texts, so that a
// text costs no allocation. It is for one goroutine at a time.
type Extractor struct {
	emit func(Kind, uint64)

	word  [maxWord]rune // letters of the word being read, lower case
	n     int
	upper int    // how many upper-case letters the word ends in
	class class  // of the word's last rune
	whole uint64 // hash of the run so far
	parts int    // words of the run so far
	prev  uint64 // hash of the ideograph just before, 0 if there was none
	mark  [maxWord + 2]rune
}

type class uint8

const (
	other class = iota
	lower
	upper
	digit
	ideograph
)

// Extract calls emit for every feature of the text, repeats included.
func (x *Extractor) Extract(text string, emit func(Kind, uint64)) {
	*x = Extractor{emit: emit, whole: seedWord}
	words := 0
	for _, r := range text {
		c := classOf(r)
		if c != other {
			words++
			x.add(r, c)
		} else if r == '_' {
			x.endWord()
		} else {
			x.endRun()
			x.prev = 0
		}
	}
	x.endRun()
	if words == 0 {
		x.symbols(text)
	}
	x.emit = nil
}

// symbols takes each rune of a text without words for a word.
func (x *Extractor) symbols(text string) {
	for _, r := range text {
		if !unicode.IsSpace(r) {
			x.word[0], x.n, x.class = r, 1, ideograph
			x.endRun()
		}
	}
}

func (x *Extractor) add(r rune, c class) {
	switch {
	case c == ideograph || x.n > 0 && x.class == ideograph:
		// Each rune is a word, pairs do the rest.
		x.endRun()
	case x.n == 0:
	case (c == digit) != (x.class == digit), c == upper && x.class == lower:
		x.endWord()
	case c == lower && x.upper > 1:
		// "HTTPRequest": the last capital begins the next word.
		last := x.word[x.n-1]
		x.n--
		x.endWord()
		x.word[0], x.n = last, 1
	}
	if x.n == maxWord {
		x.endWord()
	}
	x.class = c
	if c == upper {
		x.upper++
		r = toLower(r)
	} else {
		x.upper = 0
	}
	x.word[x.n] = r
	x.n++
}

// endWord emits what the word gives.
func (x *Extractor) endWord() {
	if x.n == 0 {
		return
	}
	word := x.word[:x.n]
	stem := seedWord
	for _, r := range word[:stemLen(word)] {
		stem = step(stem, r)
	}
	x.emit(Word, finish(stem))
	if x.class == ideograph {
		if x.prev != 0 {
			x.emit(Pair, finish(step(x.prev, 0)^stem*prime))
		}
		x.prev = stem
	} else {
		x.prev = 0
	}
	for _, r := range word {
		x.whole = step(x.whole, r)
	}
	x.parts++
	if x.class != digit && x.n > 1 {
		x.grams(word)
	}
	x.n, x.upper = 0, 0
}

// endRun ends the word and the run it is in.
func (x *Extractor) endRun() {
	x.endWord()
	if x.parts > 1 {
		x.emit(Whole, finish(x.whole))
	}
	x.whole, x.parts = seedWord, 0
}

func (x *Extractor) grams(word []rune) {
	m := x.mark[:0]
	m = append(m, '<')
	m = append(m, word...)
	m = append(m, '>')
	for i := 0; i+MinGram <= len(m); i++ {
		h := seedGram
		for j, r := range m[i:min(i+MaxGram, len(m))] {
			h = step(h, r)
			if j+1 >= MinGram {
				x.emit(Gram, finish(h))
			}
		}
	}
}

// stemLen is how much of an English word to keep: its common endings go, so
// that "indexes", "indexed" and "indexing" meet. Crude on purpose: a wrong cut
// costs little, for the grams still see the whole word.
func stemLen(w []rune) int {
	n := len(w)
	ends := func(s string) bool {
		if n-len(s) < 3 {
			return false
		}
		for i := range len(s) {
			if w[n-len(s)+i] != rune(s[i]) {
				return false
			}
		}
		return true
	}
	if ends("ies") || ends("ied") {
		return n - 3 // as "query" becomes below
	}
	if ends("s") && !ends("ss") {
		n--
	}
	switch {
	case ends("ing"):
		n -= 3
	case ends("ed"), ends("ly"), ends("er"):
		n -= 2
	}
	if n > 3 && (w[n-1] == 'e' || w[n-1] == 'y') {
		n--
	}
	if n > 3 && w[n-1] == w[n-2] { // "stopp" from "stopped", "class" from "classes"
		n--
	}
	return n
}

func classOf(r rune) class {
	if r < utf8.RuneSelf {
		switch {
		case 'a' <= r && r <= 'z':
			return lower
		case 'A' <= r && r <= 'Z':
			return upper
		case '0' <= r && r <= '9':
			return digit
		}
		return other
	}
	switch {
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
		return ideograph
	case unicode.IsUpper(r):
		return upper
	case unicode.IsLetter(r), unicode.IsMark(r):
		return lower
	case unicode.IsDigit(r):
		return digit
	}
	return other
}

func toLower(r rune) rune {
	if r < utf8.RuneSelf {
		return r + 'a' - 'A'
	}
	return unicode.ToLower(r)
}

// FNV-1a over code points (http://www.isthe.com/chongo/tech/comp/fnv/), with
// a seed per kind so that the word "the" and the gram "the" differ.
const (
	prime           = 0x100000001b3
	seedWord uint64 = 0xcbf29ce484222325
	seedGram uint64 = 0x9ae16a3b2f90404f
)

func step(h uint64, r rune) uint64 { return (h ^ uint64(uint32(r))) * prime }

// finish mixes the bits, of which FNV leaves the low ones poor: the finaliser
// of MurmurHash3 (https://github.com/aappleby/smhasher), public domain.
func finish(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
