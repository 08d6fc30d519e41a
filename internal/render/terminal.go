package render

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// TerminalWidth is how wide a line for people should be at most, in cells: as wide as
// terminals have always been.
const TerminalWidth = 80

// Width is how many cells of a terminal a text takes: two for a Chinese character or an
// emoji, none for an accent of its own.
func Width(text string) int {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return uniseg.StringWidth(text)
		}
	}
	return len(text)
}

// Within is the longest beginning of a text that takes at most n cells, but at least its
// first character.
func Within(text string, n int) string {
	end := 0
	for g := uniseg.NewGraphemes(text); g.Next(); {
		if n -= g.Width(); n < 0 && end > 0 {
			break
		}
		_, end = g.Positions()
	}
	return text[:end]
}

// within cuts a line to at most n cells, the last one an Ellipsis.
func within(line string, n int) string {
	if Width(line) <= n {
		return line
	}
	return Within(line, n-1) + Ellipsis
}

// Table writes rows in columns; the first row is the heading. If w says by a method
// Columns how wide a table may be, the last column goes on in the lines below where it is
// longer.
func Table(w io.Writer, rows [][]string) {
	if most := columns(w); most > 0 {
		rows = foldLast(rows, most)
	}
	table(w, rows, 0)
}

// List is Table, but that the last column is cut where a table may be no wider: it is the
// beginning of a text that another command shows in full.
func List(w io.Writer, rows [][]string) {
	most := columns(w)
	if most > 0 {
		rows = fitLast(rows, most)
	}
	table(w, rows, most)
}

// table writes columns, and cuts lines that are longer than most, 0 for none. A line end or
// tab in a cell makes no row or column: a message may have the name of any file.
func table(w io.Writer, rows [][]string, most int) {
	widths := columnWidths(rows)
	for _, row := range rows {
		var b strings.Builder
		for column, cell := range row {
			cell = Printable(cell)
			b.WriteString(cell)
			if column < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[column]-Width(cell)+2))
			}
		}
		line := strings.TrimRight(b.String(), " ")
		if most > 0 {
			line = within(line, most)
		}
		fmt.Fprintln(w, line)
	}
}

// columns is how wide a table may be, 0 without a bound.
func columns(w io.Writer) int {
	if bounded, ok := w.(interface{ Columns() int }); ok {
		return bounded.Columns()
	}
	return 0
}

// MinLast is the least width of the last column of a FitTable, in cells.
const MinLast = 20

// FitTable writes a table as wide as a terminal, as far as its other columns allow:
// the last one, a text of any length, is cut.
func FitTable(w io.Writer, rows [][]string) {
	most := columns(w)
	if most > 0 {
		rows = fitLast(rows, most)
	} else {
		rows = cutLast(rows, TerminalWidth)
	}
	table(w, rows, most)
}

// fitLast cuts the last column so that it fits a terminal. Where the other columns leave it
// less than half of MinLast, it stands in lines of its own below them.
func fitLast(rows [][]string, most int) [][]string {
	left := roomLeft(rows, most)
	if left >= MinLast/2 || !slices.ContainsFunc(rows, func(row []string) bool { return len(row) == len(rows[0]) && Width(row[len(row)-1]) > left }) {
		return cutLast(rows, most)
	}
	var fitted [][]string
	for _, row := range rows {
		last := len(row) - 1
		if len(row) < len(rows[0]) {
			fitted = append(fitted, row)
			continue
		}
		if strings.Join(row[:last], "") != "" {
			fitted = append(fitted, row[:last])
		}
		if row[last] != "" {
			fitted = append(fitted, []string{"  " + ShortLine(row[last], most-2)})
		}
	}
	return fitted
}

// cutLast cuts the last column so that lines are no longer than most, as far as the other
// columns allow. A row with fewer columns has no last one.
func cutLast(rows [][]string, most int) [][]string {
	room := lastRoom(rows, most)
	fitted := make([][]string, len(rows))
	for i, row := range rows {
		fitted[i] = row
		if len(row) == len(rows[0]) {
			fitted[i] = slices.Clone(row)
			fitted[i][len(row)-1] = ShortLine(row[len(row)-1], room)
		}
	}
	return fitted
}

// foldLast breaks the last column after words, into rows of their own.
func foldLast(rows [][]string, most int) [][]string {
	room := lastRoom(rows, most)
	var folded [][]string
	for _, row := range rows {
		last := len(row) - 1
		if len(row) < len(rows[0]) || Width(row[last]) <= room {
			folded = append(folded, row)
			continue
		}
		for n, part := range strings.Split(strings.TrimSuffix(Fold(row[last], room), "\n"), "\n") {
			next := make([]string, len(row))
			if n == 0 {
				copy(next, row)
			}
			next[last] = part
			folded = append(folded, next)
		}
	}
	return folded
}

// columnWidths are the widths of the columns. What ends a row is not followed by a column,
// and may be longer.
func columnWidths(rows [][]string) []int {
	var widths []int
	for _, row := range rows {
		for len(widths) < len(row) {
			widths = append(widths, 0)
		}
		for column := range len(row) - 1 {
			widths[column] = max(widths[column], Width(Printable(row[column])))
		}
	}
	return widths
}

// lastRoom is the room of the last column: what the other columns leave, but at least MinLast.
func lastRoom(rows [][]string, most int) int { return max(roomLeft(rows, most), MinLast) }

// roomLeft is the room that the other columns leave to the last one; it may be negative.
func roomLeft(rows [][]string, most int) int {
	if len(rows) == 0 {
		return most
	}
	for _, width := range columnWidths(rows)[:len(rows[0])-1] {
		most -= width + 2
	}
	return most
}

// Fold breaks a text after words into lines of at most so many cells; a longer word has a
// line of its own, or several if it has wide characters.
func Fold(text string, most int) string {
	var b strings.Builder
	line := 0
	for word := range strings.FieldsSeq(text) {
		for _, part := range pieces(word, most) {
			n := Width(part)
			switch {
			case line == 0:
			case line+1+n <= most:
				b.WriteByte(' ')
				line++
			default:
				b.WriteByte('\n')
				line = 0
			}
			b.WriteString(part)
			line += n
		}
	}
	return b.String() + "\n"
}

// pieces cuts a word with wide characters: Chinese and Japanese write no blanks, so a word
// may be the whole text.
func pieces(word string, most int) []string {
	var cut []string
	if Width(word) > utf8.RuneCountInString(word) {
		for piece := Within(word, most); piece != word; piece = Within(word, most) {
			cut, word = append(cut, piece), word[len(piece):]
		}
	}
	return append(cut, word)
}

// Bytes writes a size with one decimal, in powers of 1,000.
func Bytes(n int64) string {
	const units = "kMGT"
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	value, unit := float64(n)/1000, 0
	for value >= 1000 && unit < len(units)-1 {
		value, unit = value/1000, unit+1
	}
	return fmt.Sprintf("%.1f %cB", value, units[unit])
}

// Time writes a time to the minute, in UTC, or what stands for none.
func Time(t time.Time, none string) string {
	if t.IsZero() {
		return none
	}
	return t.UTC().Format("2006-01-02 15:04Z")
}

// Ago writes how long ago a time was, or what stands for none.
func Ago(t, now time.Time, none string) string {
	if t.IsZero() {
		return none
	}
	return Age(now.Sub(t)) + " ago"
}

// Age writes how long ago something was, in one unit: 40s, 5m, 3h, 12d.
func Age(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours())/24)
}

// ShortLine puts a text on one line of at most n cells.
func ShortLine(text string, n int) string { return within(OneLine(text), n) }

// Printable turns an untrusted name or text into one line that a terminal shows but does
// not interpret. The writers of every command make other characters visible, but a line
// feed within a name would start a new line.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' {
			return ' '
		}
		return r
	}, Visible(text))
}

// ForeignLine turns an untrusted text into one line of at most max cells.
func ForeignLine(text string, max int) string { return ShortLine(Printable(text), max) }

// WriteLines writes an untrusted text line by line, each after an indent.
func WriteLines(w io.Writer, indent, text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintf(w, "%s%s\n", indent, Printable(strings.TrimRight(line, "\r\n")))
	}
}
