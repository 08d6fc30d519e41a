package redact

import (
	"math"
	"strings"
)

// Bounds for words that look like keys. Words of a language, also joined as in
// identifiers, have 4 or more letters between changes of case or kind; random base64 has
// 1.9, random hexadecimal 2.1, random lower-case base36 2.5.
const (
	minRandom  = 20
	minHex     = 32
	perWord    = 3
	minEntropy = 3.0 // bits a byte; 20 random base64 digits have about 4
)

// DropHighEntropy reports whether a word of code looks like a key or a digest: a run of
// 32 or more hexadecimal digits, or of 20 or more letters and digits in an order that
// words do not have. Such words are not analysed and embedded: they are not searched for,
// and may be secrets.
func DropHighEntropy(word string) bool {
	return len(word) >= minRandom && (isHex(word) || looksRandom(word))
}

// looksMade reports whether a token was made by a machine, not written by a person.
func looksMade(s string) bool {
	return !isPlaceholder(s) && (looksRandom(s) || len(s) >= 32 && kindsOf(s).digits >= 3)
}

func isHex(s string) bool {
	s = strings.TrimPrefix(s, "0x")
	if len(s) < minHex {
		return false
	}
	for i := range len(s) {
		if c := s[i] | 0x20; !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f') {
			return false
		}
	}
	return true
}

// looksRandom judges by how often letters and digits alternate, because entropy alone
// cannot distinguish a long identifier from a key.
func looksRandom(s string) bool {
	if len(s) < minRandom {
		return false
	}
	const (
		none = iota
		lower
		upper
		digit
	)
	words, separators, digits := 0, 0, 0
	last, before := none, none
	for i := range len(s) {
		kind := none
		switch c := s[i]; {
		case c >= 'a' && c <= 'z':
			kind = lower
		case c >= 'A' && c <= 'Z':
			kind = upper
		case c >= '0' && c <= '9':
			kind = digit
			digits++
		default:
			separators++
		}
		switch {
		case kind == none || kind == last:
		case last == upper && kind == lower:
			// "Word" is one word; in "HTTPServer" the second begins at S.
			if before == upper {
				words++
			}
		default:
			words++
		}
		before, last = last, kind
	}
	return digits > 0 && separators*8 <= len(s) && words*perWord >= len(s)-separators && entropy(s) >= minEntropy
}

// entropy is Shannon's entropy, in bits a byte.
func entropy(s string) float64 {
	var count [256]int
	for i := range len(s) {
		count[s[i]]++
	}
	h, n := 0.0, float64(len(s))
	for _, c := range count {
		if c > 0 {
			p := float64(c) / n
			h -= p * math.Log2(p)
		}
	}
	return h
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func isWordByte(c byte) bool { return isAlnum(c) || c == '_' }
