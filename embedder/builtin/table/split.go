package table

import (
	"unicode"
	"unicode/utf8"
)

// Kind says what a piece is, which determines what happens if the vocabulary does not
// contain it.
type Kind uint8

const (
	// Word is an unbroken sequence of letters. An unknown word counts by its grams.
	Word Kind = iota
	// Number is the first MaxNumber digits of a sequence of digits. An unknown number
	// counts as one token.
	Number
	// Pair is two neighbouring runes of a script without spaces, or a single one between
	// other text. An unknown pair counts as one token.
	Pair
	// Whole is a run of several words without the signs between them, so that "file_name",
	// "fileName", "file-name" and the word "filename" are one piece. An unknown one is
	// ignored: its words are pieces too.
	Whole
	// Flag is a run after a space and one or two dashes, written with one dash: "-r",
	// "-maxdepth" from "--max-depth". An unknown flag is ignored.
	Flag
	// Operator is one to three adjacent ASCII signs: "|", "->", "!=". Brackets, quotes,
	// commas and semicolons are not operators. An unknown operator is ignored.
	Operator
)

const (
	// MaxWord is the longest word in code points. A longer one is split into pieces of this
	// length, which bounds the work per byte of text.
	MaxWord = 32
	// MaxNumber is how many digits of a number count: enough for codes, ports and years.
	// Longer numbers seldom occur twice.
	MaxNumber = 6
	// MaxPiece is the longest piece in bytes; a longer run is ignored as a whole.
	MaxPiece = 64
	// maxOperator is the longest operator; longer sequences of signs are lines and
	// decoration.
	maxOperator = 3
)

// Splitter splits text into pieces. It reuses its buffers, so that a text costs no
// allocation. Its zero value is ready; it is for one goroutine at a time.
type Splitter struct {
	emit func(Kind, []byte)

	buf   []byte // a dash, and the run so far: its words end to end, lower case
	start int    // where in buf the current word begins
	n     int    // code points of that word
	upper int    // number of upper-case letters at its end
	last  int    // bytes of its last code point
	class class  // of its last code point
	parts int    // words of the run so far
	long  bool   // the run is too long for a piece
	flag  bool   // the run follows a dash that follows a space
}

type class uint8

const (
	other class = iota
	lower
	upper
	digit
	ideograph
	sign
)

// Split calls emit for every piece of the text, repeats included. The bytes
// are valid only during the call.
func (s *Splitter) Split(text string, emit func(Kind, []byte)) {
	*s = Splitter{emit: emit, buf: append(s.buf[:0], '-'), start: 1}
	spaced := true // the position is after a space, or the text's beginning
	for i := 0; i < len(text); {
		r, size, c := next(text[i:])
		switch {
		case c == lower || c == upper || c == digit:
			s.add(r, c)
			if c == lower {
				size += s.addLower(text[i+size:])
			}
		case r == '_' || joins(r) && s.n > 0 && i+size < len(text) && isWord(text[i+size:]):
			s.endWord()
		default:
			s.endRun()
			switch c {
			case sign:
				size = signs(text[i:])
				s.signs(text[i:i+size], spaced && i+size < len(text) && isWord(text[i+size:]))
			case ideograph:
				size = s.ideographs(text[i:])
			}
		}
		i += size
		spaced = c == other && unicode.IsSpace(r)
	}
	s.endRun()
	s.emit = nil
}

// add appends a rune to the word, or begins another word with it.
func (s *Splitter) add(r rune, c class) {
	switch {
	case s.n == 0:
	case (c == digit) != (s.class == digit), c == upper && s.class == lower, s.n == MaxWord:
		s.endWord()
	case c == lower && s.upper > 1:
		s.splitLast() // "HTTPRequest": the last capital begins the next word
	}
	s.class = c
	if c == upper {
		s.upper++
		r = toLower(r)
	} else {
		s.upper = 0
	}
	before := len(s.buf)
	s.buf = utf8.AppendRune(s.buf, r)
	s.last = len(s.buf) - before
	s.n++
}

// addLower appends the lower-case ASCII letters at the beginning of text to a word that
// ends in one, as far as there is room, and returns their number. It is a fast path of add,
// since most text consists of such letters.
func (s *Splitter) addLower(text string) int {
	n := 0
	for n < min(len(text), MaxWord-s.n) && 'a' <= text[n] && text[n] <= 'z' {
		n++
	}
	s.buf = append(s.buf, text[:n]...)
	s.n += n
	return n
}

// splitLast ends the word before its last code point, which begins the next.
func (s *Splitter) splitLast() {
	var last [utf8.UTFMax]byte
	cut := len(s.buf) - s.last
	size := copy(last[:], s.buf[cut:])
	s.buf = s.buf[:cut]
	s.n--
	s.endWord()
	s.buf = append(s.buf, last[:size]...)
	s.n = 1
}

// endWord emits the word.
func (s *Splitter) endWord() {
	if s.n == 0 {
		return
	}
	word, kind := s.buf[s.start:], Word
	if s.class == digit {
		kind = Number
		if s.n > MaxNumber {
			word = word[:prefix(word, MaxNumber)]
		}
	}
	s.emit(kind, word)
	s.parts++
	if len(s.buf) > MaxPiece {
		s.long = true
		s.buf = s.buf[:1]
	}
	s.start, s.n, s.upper = len(s.buf), 0, 0
}

// endRun ends the word and the run it is in.
func (s *Splitter) endRun() {
	s.endWord()
	if s.parts == 0 {
		return
	}
	if !s.long {
		if s.parts > 1 {
			s.emit(Whole, s.buf[1:])
		}
		if s.flag {
			s.emit(Flag, s.buf)
		}
	}
	s.buf = s.buf[:1]
	s.start, s.parts, s.long, s.flag = 1, 0, false, false
}

// signs handles a row of signs; lead says that it stands between a space and a word.
func (s *Splitter) signs(row string, lead bool) {
	if lead && (row == "-" || row == "--") {
		s.flag = true
		return
	}
	s.flag = false
	if len(row) <= maxOperator {
		s.buf = append(s.buf, row...)
		s.emit(Operator, s.buf[1:])
		s.buf = s.buf[:1]
	}
}

// ideographs emits the pairs of the ideographs at the beginning of text and returns their
// length in bytes.
func (s *Splitter) ideographs(text string) int {
	end, before := 0, 0 // of the last ideograph
	for end < len(text) {
		_, size, c := next(text[end:])
		if c != ideograph {
			break
		}
		if end > 0 {
			s.pair(text[before : end+size])
		}
		before, end = end, end+size
	}
	if before == 0 {
		s.pair(text[:end])
	}
	return end
}

func (s *Splitter) pair(p string) {
	s.buf = append(s.buf, p...)
	s.emit(Pair, s.buf[1:])
	s.buf = s.buf[:1]
}

// next returns the first rune of text, its length in bytes and its class.
func next(text string) (rune, int, class) {
	if b := text[0]; b < utf8.RuneSelf {
		return rune(b), 1, ascii[b]
	}
	r, size := utf8.DecodeRuneInString(text)
	return r, size, classOf(r)
}

// isWord reports whether text begins with a letter or a digit.
func isWord(text string) bool {
	_, _, c := next(text)
	return c == lower || c == upper || c == digit
}

// joins reports whether a rune between letters or digits belongs to their run:
// "file-name", "don't".
func joins(r rune) bool { return r == '-' || r == '\'' || r == '’' }

// signs returns the number of signs at the beginning of text.
func signs(text string) int {
	n := 0
	for n < len(text) && text[n] < utf8.RuneSelf && ascii[text[n]] == sign {
		n++
	}
	return n
}

// prefix returns the bytes of the first n code points of a word, which has more than n.
func prefix(word []byte, n int) int {
	i := 0
	for range n {
		_, size := utf8.DecodeRune(word[i:])
		i += size
	}
	return i
}

// ascii holds the classes of the first runes.
var ascii = func() (t [utf8.RuneSelf]class) {
	for b := range t {
		switch {
		case 'a' <= b && b <= 'z':
			t[b] = lower
		case 'A' <= b && b <= 'Z':
			t[b] = upper
		case '0' <= b && b <= '9':
			t[b] = digit
		}
	}
	for _, b := range "!#$%&*+-./:<=>?@\\^|~" {
		t[b] = sign
	}
	return t
}()

func classOf(r rune) class {
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
