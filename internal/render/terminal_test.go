package render

import (
	"bytes"
	"strings"
	"testing"
)

// terminal is a writer with the width of a terminal.
type terminal struct {
	bytes.Buffer
	width int
}

func (t *terminal) Columns() int { return t.width }

// TestWideCharacters: a wide character takes two cells of a terminal, and a line of them is
// no wider than others.
func TestWideCharacters(t *testing.T) {
	rows := [][]string{{"名前", "n", "TEXT"}, {"a", "12", "日本語の文には空白がないので長い文は途中で折り返す"}, {"cafe\u0301", "3", "💻 short"}}
	for _, tt := range []struct {
		name  string
		write func(w *terminal)
		want  string
	}{
		{"Table", func(w *terminal) { Table(w, rows) }, `
名前  n   TEXT
a     12  日本語の文には空白が
          ないので長い文は途中
          で折り返す
café  3   💻 short
`},
		{"List", func(w *terminal) { List(w, rows) }, `
名前  n   TEXT
a     12  日本語の文には空白…
café  3   💻 short
`},
		{"Fold", func(w *terminal) { w.WriteString(Fold("one 日本 語の文 two", 8)) }, `
one 日本
語の文
two
`},
		{"ShortLine", func(w *terminal) { w.WriteString(ShortLine("日本語の\n文", 6) + "\n") }, `
日本…
`},
	} {
		w := &terminal{width: 30}
		tt.write(w)
		want := strings.ReplaceAll(strings.TrimPrefix(tt.want, "\n"), "café", "cafe\u0301")
		if w.String() != want {
			t.Errorf("%s:\n%swant\n%s", tt.name, w, want)
		}
	}
}
