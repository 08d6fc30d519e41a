package recall

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/render"
)

const (
	// digestLength is the length of a digest, and of the longest question that is searched
	// as it is, in characters.
	digestLength = 8000
	// pieceLength is where a long line is cut, in bytes, so that a log without line ends
	// is digested as well.
	pieceLength = 400
)

// Digest shortens a question of over digestLength characters, such as a pasted log, to what
// it is searched by: its first and last lines, its errors, and the lines that name code.
// Of lines that differ only in digits it keeps the first. A shorter question stays as it
// is.
func Digest(question string) string {
	if !isLong(question) {
		return question
	}
	pieces := distinct(question)
	d := digestion{pieces: pieces, keep: make([]bool, len(pieces)), room: digestLength}
	first, last := slices.All(d.pieces), slices.Backward(d.pieces)
	any := func(string) bool { return true }
	// Each group has a share, so that none fills the digest alone; the first lines get
	// what is left.
	d.add(first, digestLength*3/16, any)
	d.add(last, digestLength*3/16, any)
	d.add(first, digestLength*3/8, saysError)
	d.add(last, digestLength/4, namesCode)
	d.add(first, d.room, any)
	var b strings.Builder
	for i, kept := range d.keep {
		if kept {
			b.WriteString(d.pieces[i])
			b.WriteByte('\n')
		}
	}
	if b.Len() == 0 { // digits and blanks alone
		return string([]rune(question)[:digestLength])
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// isLong says that a question is not searched as it is.
func isLong(question string) bool {
	return len(question) > digestLength && utf8.RuneCountInString(question) > digestLength
}

// digestion collects the pieces of a text that stay.
type digestion struct {
	pieces []string
	keep   []bool
	room   int // in characters
}

// add keeps pieces in this order, as many as fit into a share of the room.
func (d *digestion) add(order iter.Seq2[int, string], share int, wanted func(piece string) bool) {
	share = min(share, d.room)
	for i, piece := range order {
		if d.keep[i] || !wanted(piece) {
			continue
		}
		n := utf8.RuneCountInString(piece) + 1
		if n > share {
			return
		}
		d.keep[i] = true
		share, d.room = share-n, d.room-n
	}
}

// distinct returns the lines of a text, cut at pieceLength and without blank ones and those
// that differ from an earlier one only in digits.
func distinct(text string) []string {
	var pieces []string
	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		for len(line) > 0 {
			piece := firstPiece(line)
			line = line[len(piece):]
			alike := strings.Map(func(r rune) rune {
				if unicode.IsDigit(r) || unicode.IsSpace(r) {
					return -1
				}
				return r
			}, piece)
			if alike != "" && !seen[alike] {
				seen[alike] = true
				pieces = append(pieces, piece)
			}
		}
	}
	return pieces
}

// firstPiece returns the beginning of a line, at most pieceLength bytes, and whole words if it
// can.
func firstPiece(line string) string {
	piece := render.Prefix(line, pieceLength)
	if space := strings.LastIndexAny(piece, " \t,;"); len(piece) < len(line) && space > pieceLength/2 {
		piece = piece[:space+1]
	}
	return piece
}

// errorWords are parts of lines that say what went wrong.
var errorWords = []string{"error", "exception", "panic", "fatal", "fail", "assert", "expected", "caused by", "denied", "cannot ", "not found", "undefined", "timed out"}

func saysError(line string) bool {
	line = strings.ToLower(line)
	return slices.ContainsFunc(errorWords, func(w string) bool { return strings.Contains(line, w) })
}

// namesCode says that a line names a file or a declared name.
func namesCode(line string) bool { return len(mentions(line).mentions) > 0 }
