package lexical

import (
	"unicode"
	"unicode/utf8"
)

// kind classifies a character for the analysis.
type kind uint8

const (
	separator kind = iota
	underscore
	digit
	upper
	lower  // every letter that is not upper case, and marks
	paired // a letter of a script written without spaces
)

// asciiKinds is kindOf for the first 128 characters.
var asciiKinds = func() (kinds [utf8.RuneSelf]kind) {
	for c := range kinds {
		switch {
		case c == '_':
			kinds[c] = underscore
		case '0' <= c && c <= '9':
			kinds[c] = digit
		case 'A' <= c && c <= 'Z':
			kinds[c] = upper
		case 'a' <= c && c <= 'z':
			kinds[c] = lower
		}
	}
	return kinds
}()

// unspaced are the scripts that write words without spaces.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// kindOf classifies a character. The replacement character, which stands for
// bytes that are not UTF-8, separates.
func kindOf(r rune) kind {
	switch {
	case r < utf8.RuneSelf:
		return asciiKinds[r]
	case unicode.IsLetter(r), unicode.IsMark(r):
		switch {
		case unicode.In(r, unspaced...):
			return paired
		case unicode.IsUpper(r) || unicode.IsTitle(r):
			return upper
		}
		return lower
	case unicode.IsDigit(r):
		return digit
	}
	return separator
}

// nextRun finds the first run at or after start. Characters of scripts without spaces form
// separate runs. At the end of the text begin equals end.
func nextRun(text string, start int) (begin, end int, isPaired bool) {
	begin = start
	for begin < len(text) {
		k, width := kindAt(text, begin)
		if k != separator {
			isPaired = k == paired
			break
		}
		begin += width
	}
	end = begin
	for end < len(text) {
		// Fast path for nearly every byte.
		if c := text[end]; c < utf8.RuneSelf && !isPaired {
			if asciiKinds[c] == separator {
				break
			}
			end++
			continue
		}
		k, width := kindAt(text, end)
		if k == separator || (k == paired) != isPaired {
			break
		}
		end += width
	}
	return begin, end, isPaired
}

func kindAt(text string, i int) (kind, int) {
	if c := text[i]; c < utf8.RuneSelf {
		return asciiKinds[c], 1
	}
	r, width := utf8.DecodeRuneInString(text[i:])
	return kindOf(r), width
}

// split sets parts and lower to the run's parts and its lower-case text, without
// underscores. The parts are ranges of lower.
func (a *analyzer) split(run string) {
	a.parts, a.lower = a.parts[:0], a.lower[:0]
	start := 0
	cut := func() {
		if len(a.lower) > start {
			a.parts = append(a.parts, span{start, len(a.lower)})
			start = len(a.lower)
		}
	}
	before := separator
	for i := 0; i < len(run); {
		r, width := utf8.DecodeRuneInString(run[i:])
		k := kindOf(r)
		i += width
		switch {
		case k == underscore:
			cut()
		case k == digit && before != digit,
			k != digit && before == digit,
			k == upper && before == lower,
			k == upper && before == upper && beginsWord(run[i:]):
			cut()
		}
		if k != underscore {
			a.lower = utf8.AppendRune(a.lower, unicode.ToLower(r))
		}
		before = k
	}
	cut()
}

// beginsWord reports whether an upper-case letter followed by rest begins a new
// word after other upper-case letters: the S of HTTPServer does, the L of URLs,
// a plural, does not.
func beginsWord(rest string) bool {
	if rest == "" {
		return false
	}
	if k, _ := kindAt(rest, 0); k != lower {
		return false
	}
	if rest[0] != 's' {
		return true
	}
	if len(rest) == 1 {
		return false
	}
	k, _ := kindAt(rest, 1)
	return k == lower
}
