package render

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"
)

// TerminalWidth is how wide a line for people should be at most, in characters: as
// wide as terminals have always been.
const TerminalWidth = 80

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
		rows = cutLast(rows, most)
	}
	table(w, rows, most)
}

// table writes columns, and cuts lines that are longer than most, 0 for none. A line end or
// tab in a cell makes no row or column: a message may have the name of any file.
func table(w io.Writer, rows [][]string, most int) {
	var text bytes.Buffer
	aligned := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = Printable(cell)
		}
		fmt.Fprintln(aligned, strings.Join(cells, "\t"))
	}
	_ = aligned.Flush() // a buffer takes everything
	for line := range strings.Lines(text.String()) {
		line = strings.TrimRight(line, " \n")
		if most > 0 {
			line = Characters(line, most)
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

// MinLast is the least width of the last column of a FitTable, in characters.
const MinLast = 20

// FitTable writes a table as wide as a terminal, as far as its other columns allow:
// the last one, a text of any length, is cut.
func FitTable(w io.Writer, rows [][]string) {
	most := columns(w)
	table(w, cutLast(rows, cmp.Or(most, TerminalWidth)), most)
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
		if len(row) < len(rows[0]) || utf8.RuneCountInString(row[last]) <= room {
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

// lastRoom is the room that the other columns leave to the last one.
func lastRoom(rows [][]string, most int) int {
	if len(rows) == 0 {
		return most
	}
	for column := range len(rows[0]) - 1 {
		width := 0
		for _, row := range rows {
			if column < len(row) {
				width = max(width, utf8.RuneCountInString(row[column]))
			}
		}
		most -= width + 2
	}
	return max(most, MinLast)
}

// Fold breaks a text after words into lines of at most so many characters; a longer word
// has a line of its own.
func Fold(text string, most int) string {
	var b strings.Builder
	line := 0
	for word := range strings.FieldsSeq(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case line == 0:
		case line+1+n <= most:
			b.WriteByte(' ')
			line++
		default:
			b.WriteByte('\n')
			line = 0
		}
		b.WriteString(word)
		line += n
	}
	return b.String() + "\n"
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

// ShortLine puts a text on one line of at most n characters.
func ShortLine(text string, n int) string { return Characters(OneLine(text), n) }

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

// ForeignLine turns an untrusted text into one line of at most max characters.
func ForeignLine(text string, max int) string { return ShortLine(Printable(text), max) }

// WriteLines writes an untrusted text line by line, each after an indent.
func WriteLines(w io.Writer, indent, text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintf(w, "%s%s\n", indent, Printable(strings.TrimRight(line, "\r\n")))
	}
}
