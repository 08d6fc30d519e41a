package files

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// glob is a pattern over paths.
type glob struct {
	segments []segment
	// nameOnly says that the glob has no slash and matches file names.
	nameOnly bool
	// literals are texts that every matching path contains.
	literals []string
}

// segment is the part of a glob between two slashes.
type segment struct {
	// folders says that the segment is **, which matches any number of folders, including
	// none.
	folders bool
	// pieces are the texts between the stars.
	pieces []piece
}

// piece is text in which ? is any character.
type piece struct {
	text string
	wild bool // contains ?
	size int  // in characters
}

// newGlob reads a folded glob. Every string is a valid glob.
func newGlob(pattern string) glob {
	pattern = strings.TrimPrefix(pattern, "./")
	pattern = strings.Trim(pattern, "/")
	g := glob{nameOnly: !strings.Contains(pattern, "/")}
	for text := range strings.SplitSeq(pattern, "/") {
		if text == "**" && !g.nameOnly {
			g.segments = append(g.segments, segment{folders: true})
			continue
		}
		var s segment
		for p := range strings.SplitSeq(text, "*") {
			s.pieces = append(s.pieces, piece{text: p, wild: strings.Contains(p, "?"), size: utf8.RuneCountInString(p)})
		}
		g.segments = append(g.segments, s)
		g.literals = append(g.literals, strings.FieldsFunc(text, func(r rune) bool { return r == '*' || r == '?' })...)
	}
	return g
}

// matches says whether the glob matches a folded path and the name at its end. As with the
// stars inside a segment, no backtracking beyond the last ** is needed: whatever an earlier
// ** could take, a later one can take as well. What follows the last ** must match the end
// of the path.
func (g *glob) matches(path, name string) bool {
	if g.nameOnly {
		return g.segments[0].matches(name)
	}
	var after []segment // the last **
	var taken string    // the rest of the path when ** was met
	wide := false       // there was a **
	segments, rest, more := g.segments, path, true
	for more {
		if len(segments) > 0 && segments[0].folders {
			if segments = segments[1:]; !slices.ContainsFunc(segments, isFolders) {
				return endsWith(rest, segments)
			}
			after, taken, wide = segments, rest, true
			continue
		}
		name, below, deeper := strings.Cut(rest, "/")
		if len(segments) > 0 && segments[0].matches(name) {
			segments, rest, more = segments[1:], below, deeper
			continue
		}
		if !wide {
			return false
		}
		if _, taken, more = strings.Cut(taken, "/"); !more {
			return false
		}
		segments, rest = after, taken
	}
	for len(segments) > 0 && segments[0].folders {
		segments = segments[1:]
	}
	return len(segments) == 0
}

func isFolders(s segment) bool { return s.folders }

// endsWith says whether the last names of a path match the segments. It compares from the
// end, since the file name rules out most paths.
func endsWith(path string, segments []segment) bool {
	for i := len(segments) - 1; i >= 0; i-- {
		slash := strings.LastIndexByte(path, '/')
		if !segments[i].matches(path[slash+1:]) || slash < 0 && i > 0 {
			return false
		}
		path = path[:max(slash, 0)]
	}
	return true
}

// matches says whether the segment matches the name of a file or folder: the name begins
// with the first piece, ends with the last, and has the others in between in their order.
// The leftmost occurrence of each is enough.
func (s *segment) matches(name string) bool {
	last := len(s.pieces) - 1
	begin, ok := s.pieces[0].begins(name)
	if !ok || last == 0 {
		return ok && begin == len(name)
	}
	name = name[begin:]
	end, ok := s.pieces[last].ends(name)
	if !ok {
		return false
	}
	name = name[:end]
	for i := 1; i < last; i++ {
		next := s.pieces[i].after(name)
		if next < 0 {
			return false
		}
		name = name[next:]
	}
	return true
}

// begins says whether a name begins with the piece, and returns where it ends in the name.
func (p *piece) begins(name string) (end int, ok bool) {
	if !p.wild {
		return len(p.text), strings.HasPrefix(name, p.text)
	}
	for i := range len(p.text) {
		switch {
		case end == len(name):
			return 0, false
		case p.text[i] == '?':
			_, size := utf8.DecodeRuneInString(name[end:])
			end += size
		case p.text[i] == name[end]:
			end++
		default:
			return 0, false
		}
	}
	return end, true
}

// ends says whether a name ends with the piece, and returns where it begins in the name.
func (p *piece) ends(name string) (begin int, ok bool) {
	begin = len(name)
	if !p.wild {
		return begin - len(p.text), strings.HasSuffix(name, p.text)
	}
	for range p.size {
		if begin == 0 {
			return 0, false
		}
		_, size := utf8.DecodeLastRuneInString(name[:begin])
		begin -= size
	}
	n, ok := p.begins(name[begin:])
	return begin, ok && n == len(name)-begin
}

// after returns the end of the leftmost occurrence of the piece in a name, or -1.
func (p *piece) after(name string) int {
	if !p.wild {
		if at := strings.Index(name, p.text); at >= 0 {
			return at + len(p.text)
		}
		return -1
	}
	for at := 0; at <= len(name); at++ {
		if first := p.text[0]; first != '?' {
			next := strings.IndexByte(name[at:], first)
			if next < 0 {
				return -1
			}
			at += next
		} else if at < len(name) && !utf8.RuneStart(name[at]) {
			continue
		}
		if n, ok := p.begins(name[at:]); ok {
			return at + n
		}
	}
	return -1
}
