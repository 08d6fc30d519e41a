package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-isatty"

	"github.com/recalld/recalld/internal/render"
)

// terminalWidth is how wide a line for people should be at most, in characters: as
// wide as terminals have always been.
const terminalWidth = 80

// answer writes a command's result: value as JSON with --json, else what people
// writes.
func (a *App) answer(value any, people func(w io.Writer)) error {
	if !a.json {
		people(a.opts.Out)
		return nil
	}
	text, err := encode(value)
	if err != nil {
		return err
	}
	return a.write(text)
}

// recorded is answer for a result that may hold stored text; stored says whether it
// does. Unless a person reads it at a terminal, it then says that it is data: agents
// run these commands in a shell.
func (a *App) recorded(value any, stored bool, people func(w io.Writer)) error {
	if !stored {
		return a.answer(value, people)
	}
	if a.json {
		text, err := encode(value)
		if err != nil {
			return err
		}
		return a.write(render.WithNotice(text))
	}
	var text bytes.Buffer
	people(&text)
	return a.write([]byte(a.fenced(text.String())))
}

// fenced is stored text as it is for who reads Out: a person knows what recalld is.
func (a *App) fenced(text string) string {
	if a.opts.OutTerminal {
		return text
	}
	return render.Fence(text)
}

func (a *App) write(text []byte) error {
	if _, err := a.opts.Out.Write(text); err != nil {
		return fmt.Errorf("write answer: %w", err)
	}
	return nil
}

func encode(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false) // it is read in a terminal, and code is full of < and &
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	return text.Bytes(), nil
}

// table writes rows in columns; the first row is the heading.
func table(w io.Writer, rows [][]string) {
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

// minLast is the least of the last column of a table that fits, in characters.
const minLast = 20

// fitTable writes a table as wide as a terminal, as far as its other columns allow:
// the last one, a text of any length, is cut.
func fitTable(w io.Writer, rows [][]string) {
	left := terminalWidth
	for column := range len(rows[0]) - 1 {
		width := 0
		for _, row := range rows {
			width = max(width, utf8.RuneCountInString(row[column]))
		}
		left -= width + 2
	}
	for _, row := range rows {
		last := &row[len(row)-1]
		*last = shortText(*last, max(left, minLast))
	}
	table(w, rows)
}

// absolute resolves a path against the working folder.
func (a *App) absolute(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(a.opts.Dir, path)
}

// bytesText writes a size with one decimal, in powers of 1,000.
func bytesText(n int64) string {
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

// timeText writes a time to the minute, in UTC, or what stands for none.
func timeText(t time.Time, none string) string {
	if t.IsZero() {
		return none
	}
	return t.UTC().Format("2006-01-02 15:04Z")
}

// agoText writes how long ago a time was, or what stands for none.
func agoText(t, now time.Time, none string) string {
	if t.IsZero() {
		return none
	}
	return ageText(now.Sub(t)) + " ago"
}

// ageText writes how long ago something was, in one unit: 40s, 5m, 3h, 12d.
func ageText(d time.Duration) string {
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

// countOf writes a number with what is counted, where the plural is not an s.
func countOf(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// shortText brings a text into one line of at most max characters.
func shortText(text string, max int) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= max {
		return text
	}
	return string([]rune(text)[:max-1]) + "…"
}

// printable brings a name or a text of somebody else into one line that a terminal
// shows and does not act on. The writers of every command make the rest visible; a
// line feed within a name would be a line of its own.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' {
			return ' '
		}
		return r
	}, render.Visible(text))
}

// foreignLine brings a text of somebody else into one line of at most max characters.
func foreignLine(text string, max int) string { return shortText(printable(text), max) }

// writeLines writes a text of somebody else's line by line, each behind an indent.
func writeLines(w io.Writer, indent, text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintf(w, "%s%s\n", indent, printable(strings.TrimRight(line, "\r\n")))
	}
}

// shellWord writes a path as one word of a command line that is to be copied.
func shellWord(path string) string {
	plain := "/._-+@:,=~" + string(filepath.Separator)
	for _, r := range path {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(plain, r) {
			return "'" + strings.ReplaceAll(printable(path), "'", `'\''`) + "'"
		}
	}
	return path
}

// orEmpty makes an absent list an empty one, which JSON tells apart.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// isTerminal says whether a file is a terminal, Cygwin's included.
func isTerminal(f *os.File) bool {
	return isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd())
}
