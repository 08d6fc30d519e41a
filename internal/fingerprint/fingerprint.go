// Package fingerprint gives an error message a name that is the same whatever its paths,
// numbers, addresses, times and colours, so that a lesson about an error is found by the
// error itself, on any machine.
//
// A line is normalised: parts that differ between machines or runs are replaced by a mark
// (<path>, <url>, <n>), and case, quotes and white space are unified. The core of a line
// says what went wrong, without the tool and the position. A generic core ("exit status 1",
// "build failed") has no fingerprint. A code is a word that a tool documents (E0382,
// TS2345, ERESOLVE): it has a separate fingerprint, so that a lesson which only names the
// code is found.
package fingerprint

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// Max is the most fingerprints of a text.
	Max = 8
	// maxLine is how much of a line is read, in bytes: the distinctive part of an error
	// comes early, and the rest is often data.
	maxLine = 1000
	// maxCore is how much of a core counts, in bytes.
	maxCore = 300
	// maxText is how much of a text is read, in bytes: half from the front, half from the
	// end, where the errors of a long output are.
	maxText = 256 << 10
)

// Of returns the fingerprints of the errors in a text, the most specific first, at most
// Max; none for a text without errors. A fingerprint is 16 hexadecimal digits: the first
// half of the SHA-256 of the normalised core. It takes time linear in the text.
func Of(text string) []string {
	var found []finding
	seen := make(map[string]int) // core to its place in found
	add := func(f finding) {
		if i, ok := seen[f.core]; ok {
			found[i].weight = max(found[i].weight, f.weight)
			return
		}
		seen[f.core] = len(found)
		found = append(found, f)
	}
	for line := range lines(text) {
		if readsAsCode(line) {
			continue
		}
		// People quote an error in the middle of a sentence.
		for part := range quotations(line) {
			if f, ok := judge(normalise(part)); ok {
				add(f)
			}
		}
		normal := normalise(line)
		if f, ok := judge(normal); ok {
			add(f)
		}
		for _, f := range codes(normal) {
			add(f)
		}
	}
	slices.SortStableFunc(found, func(a, b finding) int { return cmp.Compare(b.weight, a.weight) })
	var prints []string
	for _, f := range found[:min(len(found), Max)] {
		sum := sha256.Sum256([]byte(f.core))
		prints = append(prints, hex.EncodeToString(sum[:8]))
	}
	return prints
}

// finding is an error in a line.
type finding struct {
	core   string
	weight int // how specific it is
}

// lines yields the lines of a text, each cut at maxLine. It skips the middle of a text
// over maxText.
func lines(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		parts := []string{text}
		if len(text) > maxText {
			parts = []string{cut(text, maxText/2), text[len(text)-maxText/2:]}
		}
		for _, part := range parts {
			for line := range strings.Lines(part) {
				if !yield(cut(strings.TrimRight(line, "\r\n"), maxLine)) {
					return
				}
			}
		}
	}
}

// quotations yields the texts in double quotes or backticks, of two words or more. Single
// quotes do not count, because messages contain them.
func quotations(line string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for {
			// IndexAny looks up each character among several that are not all ASCII: three times as slow.
			start := strings.IndexFunc(line, func(r rune) bool { return r == '"' || r == '`' || r == '“' })
			if start < 0 {
				return
			}
			r, size := utf8.DecodeRuneInString(line[start:])
			if r == '“' {
				r = '”'
			}
			rest := line[start+size:]
			end := closing(rest, r)
			if end < 0 {
				return
			}
			if strings.Contains(strings.TrimSpace(rest[:end]), " ") && !yield(rest[:end]) {
				return
			}
			line = rest[end+utf8.RuneLen(r):]
		}
	}
}

// closing finds the quote that is not after a backslash.
func closing(s string, quote rune) int {
	for i, r := range s {
		if r == quote && (i == 0 || s[i-1] != '\\') {
			return i
		}
	}
	return -1
}

// cut returns the first limit bytes of s, or fewer so as not to split a rune.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}
