package recall_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/recall"
)

// TestDigest: a long question keeps its first and last lines, errors and names, once each.
func TestDigest(t *testing.T) {
	var log strings.Builder
	log.WriteString("the nightly import stops half way\n")
	for i := range 20_000 {
		fmt.Fprintf(&log, "2026-01-02 03:04:%02d worker %d took a row from the table of orders\n", i%60, i)
		switch i {
		case 9000:
			log.WriteString("ERROR: relation orders_archive does not exist\n")
		case 11_000:
			log.WriteString("  at flushRows (importer/flush.go:42)\n")
		}
	}
	log.WriteString("exit status 17")
	got := recall.Digest(log.String())
	for _, want := range []string{"the nightly import stops half way\n", "\nERROR: relation orders_archive does not exist\n", "flushRows (importer/flush.go:42)\n", "\nexit status 17"} {
		if !strings.Contains(got, want) {
			t.Errorf("the digest lacks %q:\n%s", want, got)
		}
	}
	if n := strings.Count(got, "took a row"); n != 1 {
		t.Errorf("the digest has a repeated line %d times", n)
	}
}

// TestDigestLength: a digest is valid text of bounded length, and is its own digest.
func TestDigestLength(t *testing.T) {
	words := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, strings.Repeat(string(rune('a'+i%26)), 1+i%7), i)
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"one line":           words(100_000, "%s%d "),
		"one word":           strings.Repeat("x", memory.MaxQuery),
		"only errors":        words(50_000, "error %s %d\n"),
		"different errors":   words(5000, "error %s\n") + strings.Repeat("Ünicode fähler ", 2000),
		"no spaces, no case": strings.Repeat("語", 100_000),
		"only digits":        strings.Repeat("1 2\n", 5000),
		"blank":              strings.Repeat("\n \n", 10_000) + "q",
	} {
		got := recall.Digest(text)
		if n := utf8.RuneCountInString(got); n < 1 || n > 8000 || !utf8.ValidString(got) {
			t.Errorf("%s: the digest has %d characters, valid %v", name, n, utf8.ValidString(got))
		}
		if again := recall.Digest(got); again != got {
			t.Errorf("%s: the digest has another digest", name)
		}
	}
	for _, short := range []string{"", "why?", strings.Repeat("ü\n", 4000)} {
		if got := recall.Digest(short); got != short {
			t.Errorf("a question of %d characters was changed", utf8.RuneCountInString(short))
		}
	}
}
