package render

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"
)

// TerminalWidth is how wide a line for people should be at most, in characters: as
// wide as terminals have always been.
const TerminalWidth = 80

// Table writes rows in columns; the first row is the heading.
func Table(w io.Writer, rows [][]string) {
	var text bytes.Buffer
	columns := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(columns, strings.Join(row, "\t"))
	}
	_ = columns.Flush() // a buffer takes everything
	for line := range strings.Lines(text.String()) {
		fmt.Fprintln(w, strings.TrimRight(line, " \n"))
	}
}

// MinLast is the least width of the last column of a FitTable, in characters.
const MinLast = 20

// FitTable writes a table as wide as a terminal, as far as its other columns allow:
// the last one, a text of any length, is cut.
func FitTable(w io.Writer, rows [][]string) {
	left := TerminalWidth
	for column := range len(rows[0]) - 1 {
		width := 0
		for _, row := range rows {
			width = max(width, utf8.RuneCountInString(row[column]))
		}
		left -= width + 2
	}
	for _, row := range rows {
		last := &row[len(row)-1]
		*last = ShortLine(*last, max(left, MinLast))
	}
	Table(w, rows)
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
