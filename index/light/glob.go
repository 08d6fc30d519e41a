package light

import (
	"strings"
	"unicode/utf8"
)

// glob is a pattern over paths.
type glob struct {
	segments []segment
	// nameOnly says that the glob has no slash and is of names.
	nameOnly bool
	// literals are the texts that every path it matches has.
	literals []string
}

// segment is the part of a glob between two slashes.
type segment struct {
	// folders says that it is **: any number of folders, none included.
	folders bool
	// pieces are what stands between the stars.
	pieces []string
}

// newGlob reads a folded glob. There is none that is not valid.
func newGlob(pattern string) glob {
	pattern = strings.TrimPrefix(pattern, "./")
	pattern = strings.Trim(pattern, "/")
	g := glob{nameOnly: !strings.Contains(pattern, "/")}
	for text := range strings.SplitSeq(pattern, "/") {
		if text == "**" && !g.nameOnly {
			g.segments = append(g.segments, segment{folders: true})
			continue
		}
		g.segments = append(g.segments, segment{pieces: strings.Split(text, "*")})
		g.literals = append(g.literals, strings.FieldsFunc(text, func(r rune) bool { return r == '*' || r == '?' })...)
	}
	return g
}

// matches says whether a folded path is of the glob. Like the stars of one segment,
// ** need only be given one folder more when what follows does not fit: whatever an
// earlier ** could take, the last one can take as well.
func (g *glob) matches(path string) bool {
	if g.nameOnly {
		return g.segments[0].matches(path[strings.LastIndexByte(path, '/')+1:])
	}
	var after []segment // the last **
	var taken string    // what it has not taken
	wide := false       // there was a **
	segments, rest, more := g.segments, path, true
	for more {
		if len(segments) > 0 && segments[0].folders {
			if segments = segments[1:]; len(segments) == 0 {
				return true
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

// matches says whether the name of a file or folder is of the segment: it begins with
// the first piece, ends with the last, and has the others in between in their order.
// The leftmost place of each is as good as any.
func (s *segment) matches(name string) bool {
	last := len(s.pieces) - 1
	if last == 0 {
		n, ok := begins(name, s.pieces[0])
		return ok && n == len(name)
	}
	n, ok := begins(name, s.pieces[0])
	if !ok {
		return false
	}
	name = name[n:]
	for _, piece := range s.pieces[1:last] {
		end := after(name, piece)
		if end < 0 {
			return false
		}
		name = name[end:]
	}
	return ends(name, s.pieces[last])
}

// begins says whether a name begins with a piece, in which ? is any character, and
// how many bytes that takes.
func begins(name, piece string) (int, bool) {
	if !strings.Contains(piece, "?") {
		return len(piece), strings.HasPrefix(name, piece)
	}
	at := 0
	for i := 0; i < len(piece); i++ {
		switch {
		case at == len(name):
			return 0, false
		case piece[i] == '?':
			_, size := utf8.DecodeRuneInString(name[at:])
			at += size
		case piece[i] == name[at]:
			at++
		default:
			return 0, false
		}
	}
	return at, true
}

// after returns where the leftmost place of a piece in a name ends, or -1.
func after(name, piece string) int {
	if !strings.Contains(piece, "?") {
		if at := strings.Index(name, piece); at >= 0 {
			return at + len(piece)
		}
		return -1
	}
	for at := 0; at <= len(name); at++ {
		if piece[0] != '?' {
			next := strings.IndexByte(name[at:], piece[0])
			if next < 0 {
				return -1
			}
			at += next
		} else if at < len(name) && !utf8.RuneStart(name[at]) {
			continue
		}
		if n, ok := begins(name[at:], piece); ok {
			return at + n
		}
	}
	return -1
}

// ends says whether a name ends with a piece.
func ends(name, piece string) bool {
	if !strings.Contains(piece, "?") {
		return strings.HasSuffix(name, piece)
	}
	// A piece has as many characters as what it fits.
	at := len(name)
	for range utf8.RuneCountInString(piece) {
		if at == 0 {
			return false
		}
		_, size := utf8.DecodeLastRuneInString(name[:at])
		at -= size
	}
	n, ok := begins(name[at:], piece)
	return ok && n == len(name)-at
}
