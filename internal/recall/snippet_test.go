package recall

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/recalld/recalld/index/lexical"
)

func TestSnippet(t *testing.T) {
	numbered := func(lines ...string) string { return strings.Join(lines, "\n") + "\n" }
	long := strings.Repeat("filler words of no matter ", 20) + "the needle stands here " + strings.Repeat("and more filler follows ", 20)
	for name, test := range map[string]struct {
		text, query string
		limit       int
		want        string
		from, to    int
	}{
		"all of it":            {numbered("one", "two", "three"), "needle", 100, "one\ntwo\nthree", 10, 12},
		"exactly fits":         {"one\ntwo", "x", 7, "one\ntwo", 10, 11},
		"one byte too long":    {"one\ntwo", "x", 6, "one", 10, 10},
		"nothing matches":      {numbered("one", "two", "three"), "needle", 8, "one\ntwo", 10, 11},
		"the best line":        {numbered("aaa", "bbb", "needle", "ccc"), "needle", 8, "needle", 12, 12},
		"with what follows":    {numbered("aaaaaaaa", "needle", "bb", "cccccccc"), "needle", 10, "needle\nbb", 11, 12},
		"the earliest of two":  {numbered("needle", "aaaaaaaa", "needle"), "needle", 9, "needle", 10, 10},
		"more terms win":       {numbered("needle", "aaaaaaaaaaaa", "needle thread"), "needle thread", 13, "needle thread", 12, 12},
		"terms of two lines":   {numbered("needle", "aaaaaaaa", "thread", "needle"), "needle thread", 14, "thread\nneedle", 12, 13},
		"last line, no end":    {"aaaaaaaa\nneedle", "needle", 6, "needle", 11, 11},
		"words of a long line": {numbered("short", long, "after"), "needle", 40, "the needle stands here and more filler ", 11, 11},
		"one endless word":     {strings.Repeat("ü", 50), "x", 9, "üüüü", 10, 10},
		"no room":              {"needle needle", "needle", 0, "", 10, 10},
		"a rune does not fit":  {"üüü", "ü", 1, "", 10, 10},
		"empty":                {"", "needle", 10, "", 10, 10},
	} {
		got, from, to := snippet(test.text, 10, test.limit, -1, lexical.Analyze(test.query), lexical.Analyze)
		if name == "words of a long line" { // where it begins is of no matter
			if !strings.Contains(got, "needle") || len(got) > test.limit || from != test.from || to != test.to {
				t.Errorf("%s: %q, lines %d–%d; want the needle in %d bytes of line %d", name, got, from, to, test.limit, test.from)
			}
			continue
		}
		if got != test.want || from != test.from || to != test.to {
			t.Errorf("%s: %q, lines %d–%d; want %q, lines %d–%d", name, got, from, to, test.want, test.from, test.to)
		}
	}
}

// FuzzSnippet holds for any text: valid, within the limit, lines of the text as
// numbered, and at least as many of the query's terms as its best line has.
func FuzzSnippet(f *testing.F) {
	f.Add("func needle() {\n\treturn thread\n}\n", "needle thread", 20)
	f.Add(strings.Repeat("a line of text\n", 30)+"needle", "needle", 100)
	f.Add("ä\r\n\n\nö needle ü\n", "needle ö", 9)
	f.Add(strings.Repeat("x{needle}", 40), "needle", 30)
	f.Fuzz(func(t *testing.T, text, query string, limit int) {
		text = strings.ToValidUTF8(text, "?")
		limit = limit & 0x3ff
		terms := lexical.Analyze(query)
		got, from, to := snippet(text, 1, limit, -1, terms, lexical.Analyze)
		if !utf8.ValidString(got) {
			t.Fatalf("snippet %q of %q is cut inside a rune", got, text)
		}
		if len(got) > limit {
			t.Fatalf("snippet %q has %d bytes, the limit is %d", got, len(got), limit)
		}
		if from < 1 || to < from || to > 1+strings.Count(text, "\n") {
			t.Fatalf("lines %d–%d of %d", from, to, 1+strings.Count(text, "\n"))
		}
		lines := strings.Split(text, "\n")
		for i, line := range strings.Split(got, "\n") {
			if !strings.Contains(lines[from-1+i], line) {
				t.Fatalf("line %d is shown as %q, it is %q", from+i, line, lines[from-1+i])
			}
		}
		most := 0
		for _, line := range lines {
			if len(line) <= limit {
				most = max(most, len(common(terms, lexical.Analyze(line))))
			}
		}
		// Its lines one by one: what is a word across a line's end is none.
		seen := map[int]bool{}
		for line := range strings.SplitSeq(got, "\n") {
			for _, n := range common(terms, lexical.Analyze(line)) {
				seen[n] = true
			}
		}
		if len(seen) < most {
			t.Fatalf("snippet %q holds %d of the terms %q, one line of %q holds %d", got, len(seen), query, text, most)
		}
	})
}
