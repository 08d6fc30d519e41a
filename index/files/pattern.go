package files

import (
	"math/bits"
	"strings"
	"unicode"
)

// part is one word or glob of a pattern.
type part struct {
	word string
	glob *glob // nil for a word
	rows []uint16
}

// parse reads a pattern. Its parts are separated by white space. A part with * or ? is a
// glob, any other a word.
func parse(pattern string) []part {
	var parts []part
	seen := map[string]bool{}
	for text := range strings.FieldsFuncSeq(fold(pattern), isGap) {
		if seen[text] {
			continue
		}
		seen[text] = true
		if strings.ContainsAny(text, "*?") {
			g := newGlob(text)
			parts = append(parts, part{glob: &g, rows: rowsOf(g.literals...)})
		} else {
			parts = append(parts, part{word: text, rows: rowsOf(text)})
		}
	}
	return parts
}

// isGap says whether a character separates words. NUL does, because it separates path and
// head.
func isGap(r rune) bool { return unicode.IsSpace(r) || r == 0 }

// fit returns the best place of the part in a file. A glob that matches the name counts
// like a word in the name.
func (p *part) fit(v view) place {
	if p.glob == nil {
		return v.find(p.word)
	}
	if p.glob.matches(v.folded()) {
		return inName
	}
	return nowhere
}

// Search returns at most limit files that match a pattern, best first, and the number of
// all matches. The pattern is a list of words, each a substring of the path or of the head,
// and of globs, in which * is any part of a name, ? one character and ** any folders; a
// glob without a slash is matched against the name of a file, one with slashes against the
// whole path. All parts must match. Files with more parts in the name come first, then
// files with more in the folders; then the shorter path, then the order of paths.
//
// Only files that allow accepts are returned and counted; nil accepts all. It must not use
// the index. A pattern without parts matches nothing.
func (x *Index) Search(pattern string, allow func(id uint32) bool, limit int) (matches []Match, total int) {
	parts := parse(pattern)
	if len(parts) == 0 {
		return nil, 0
	}
	var all []uint16
	for _, p := range parts {
		all = append(all, p.rows...)
	}
	best := newBest(limit)
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, page := range x.pages {
		for mask := page.may(all); mask != 0; mask &= mask - 1 {
			v := page.view(bits.TrailingZeros64(mask))
			places, fits := fitAll(parts, v)
			if fits && (allow == nil || allow(v.id)) {
				total++
				best.offer(hit{file: v.file, rank: float64(places), share: 1})
			}
		}
	}
	return best.matches(), total
}

// Fits says whether Search would find a file with this path and head.
func Fits(pattern, path, head string) bool {
	parts := parse(pattern)
	_, fits := fitAll(parts, newView(0, path, head))
	return fits && len(parts) > 0
}

// fitAll returns the sum of the places of all parts, and whether all parts match.
func fitAll(parts []part, v view) (places int, all bool) {
	for i := range parts {
		at := parts[i].fit(v)
		if at == nowhere {
			return 0, false
		}
		places += int(at)
	}
	return places, true
}
