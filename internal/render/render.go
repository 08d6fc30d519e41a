// Package render writes every text that people at a terminal and models read: answers,
// records, tasks, contexts, receipts and replays.
//
// Vocabulary. A text is visible when it has no control characters, direction marks or
// characters without a glyph, which a terminal would obey or hide. The frame is the pair
// of lines around stored text that a model gets; it says that the text between them is
// data. The notice says the same in a JSON object. A mark is a note behind an item, as
// where it comes from or that it was cut.
package render

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Visible shows what a terminal would act on or hide: a control character of ASCII, and
// a byte that is no UTF-8, as \x1b, any other character as U+202E. Line feeds and tabs
// stay, and a carriage return before a line feed is left out. The result is valid
// UTF-8, and Visible of it changes nothing.
func Visible(text string) string {
	return replaceHidden(text, func(b *strings.Builder, r rune, raw byte) {
		if r == invalid || r < utf8.RuneSelf {
			fmt.Fprintf(b, `\x%02x`, raw)
		} else {
			fmt.Fprintf(b, "U+%04X", r)
		}
	})
}

// JSON does what Visible does for a text that is JSON: what it shows are escapes
// of a JSON string, so that the decoded value stays the same. What is no UTF-8
// becomes U+FFFD, as in every decoder.
func JSON(text string) string {
	return replaceHidden(text, func(b *strings.Builder, r rune, _ byte) {
		switch {
		case r == invalid:
			b.WriteString(`\ufffd`)
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(b, `\u%04x`, r)
		}
	})
}

// invalid stands for a byte that is no UTF-8.
const invalid rune = -1

// replaceHidden has replace write something else for every hidden character, and for
// every byte that is no UTF-8; raw is the first byte of what it replaces.
func replaceHidden(text string, replace func(b *strings.Builder, r rune, raw byte)) string {
	at := firstHidden(text)
	if at == len(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + 16)
	b.WriteString(text[:at])
	for at < len(text) {
		r, n := utf8.DecodeRuneInString(text[at:])
		switch {
		case r == utf8.RuneError && n == 1:
			replace(&b, invalid, text[at])
		case r == '\r' && strings.HasPrefix(text[at+1:], "\n"):
		case hidden(r):
			replace(&b, r, text[at])
		default:
			b.WriteString(text[at : at+n])
		}
		at += n
	}
	return b.String()
}

// firstHidden returns the place of the first byte that is not shown as it is, or
// the length of the text. Nearly all texts are ASCII and have none.
func firstHidden(text string) int {
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if c < ' ' && c != '\n' && c != '\t' || c == 0x7F {
				return i
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && n == 1 || hidden(r) {
			return i
		}
		i += n
	}
	return len(text)
}

// hidden says whether a terminal interprets a character or does not show it. Cf contains
// direction marks, joiners, tags and other format characters. The plane of the tags also
// has invisible variation selectors, which can hide text.
func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x7F:
		return r < ' '
	case r <= 0x9F:
		return true
	case r < 0xAD:
		return false
	case r >= 0xE0000 && r <= 0xE0FFF:
		return true
	}
	return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point)
}
