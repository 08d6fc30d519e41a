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
// Columns how wide a table may be, the last column is cut to that, and a line that is
// still too long is.
func Table(w io.Writer, rows [][]string) {
	most := columns(w)
	if most > 0 {
		rows = fitLast(rows, most)
	}
	var text bytes.Buffer
	aligned := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(aligned, strings.Join(row, "\t"))
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
	Table(w, fitLast(rows, cmp.Or(columns(w), TerminalWidth)))
}

// fitLast cuts the last column so that lines are no longer than most, as far as the other
// columns allow. A row with fewer columns has no last one.
func fitLast(rows [][]string, most int) [][]string {
	if len(rows) == 0 {
		return rows
	}
	last, left := len(rows[0])-1, most
	for column := range last {
		width := 0
		for _, row := range rows {
			if column < len(row) {
				width = max(width, utf8.RuneCountInString(row[column]))
			}
		}
		left -= width + 2
	}
	fitted := make([][]string, len(rows))
	for i, row := range rows {
		fitted[i] = row
		if last < len(row) {
			fitted[i] = slices.Clone(row)
			fitted[i][last] = ShortLine(row[last], max(left, MinLast))
		}
	}
	return fitted
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
