package render

import (
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

const (
	// LineTokens is the most that the line of an item takes, with its bullet and its end.
	LineTokens = 25
	lineBullet = "- "
	// leastAbout is the least room in bytes for what an item is about. Where there is less,
	// its date is left out. leastSymbol is the room that the symbols of code keep beside a
	// long path.
	leastAbout, leastSymbol = 40, 24
)

// Line writes what an item is about on one line of at most LineTokens: the short id, the
// date, and the beginning of about. At the end it has how often a lesson worked and where it
// comes from. Code has its place instead.
func Line(i memory.Item, id, about string) string {
	date, end := "", lineRate(i)
	if i.Kind == memory.Chunk {
		if i.Foreign {
			end += " [elsewhere]"
		}
	} else {
		date, end = " ["+day(i.CreatedAt)+"]", end+anchorMark(i)+Visible(originMark(i))
	}
	about = Visible(OneLine(about))
	room := func() int {
		return MaxBytes(LineTokens-1) - len(lineBullet) - len(id) - len(date) - len(" ") - len(end)
	}
	if len(about) > room() && room() < leastAbout {
		date = ""
	}
	n := max(room(), leastAbout/2)
	if i.Kind == memory.Chunk {
		about = placeLine(Visible(OneLine(place(i))), Visible(OneLine(i.Source.Symbol)), n)
	}
	return id + date + " " + Shorten(about, n) + end
}

// placeLine writes a place and the symbols there in at most n bytes: first the symbols are
// cut, then the beginning of the path, whose end says more.
func placeLine(place, symbol string, n int) string {
	if symbol != "" {
		symbol = " " + Shorten(symbol, max(n-len(place)-len(" "), leastSymbol))
	}
	if room := n - len(symbol); len(place) > room {
		place = Ellipsis + strings.ToValidUTF8(place[len(place)-max(room-len(Ellipsis), 0):], "")
	}
	return place + symbol
}

// lineRate is how often a lesson worked, as a line has it.
func lineRate(i memory.Item) string { return when(i.SuccessRate != "", " ("+i.SuccessRate+")") }
