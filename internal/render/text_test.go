package render

import (
	"strings"
	"testing"
)

func TestPrefixAndCut(t *testing.T) {
	for _, test := range []struct {
		text       string
		n          int
		bytes      string
		characters string
	}{
		{"abc", 5, "abc", "abc"}, {"abc", 2, "ab", "ab"}, {"äöü", 3, "ä", "äöü"}, {"äöü", 1, "", "ä"}, {"äöü", 0, "", ""},
		{"äöü", -4, "", ""}, {"a\nbcd", 3, "a\nb", "a"}, {"", 0, "", ""},
	} {
		if got := Prefix(test.text, test.n); got != test.bytes {
			t.Errorf("Prefix(%q, %d) = %q, want %q", test.text, test.n, got, test.bytes)
		}
		if got := Lines(test.text, test.n); got != test.characters {
			t.Errorf("Lines(%q, %d) = %q, want %q", test.text, test.n, got, test.characters)
		}
	}
}

func TestAPartTakesNoFewerTokensThanItsShareOfTheWhole(t *testing.T) {
	for n := range 40 {
		for m := range 40 {
			a, b := strings.Repeat("x", n), strings.Repeat("x", m)
			if Tokens(a)+Tokens(b) < Tokens(a+b) {
				t.Fatalf("%d and %d bytes take %d and %d tokens, together %d", n, m, Tokens(a), Tokens(b), Tokens(a+b))
			}
		}
	}
}

func TestSafeLine(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "a": "a", "a b": "a b", " a": "a", "a ": "a", "a  b": "a b", "a\nb\r\n": "a b", "ü  ü": "ü ü", "a\u2028b": "a b",
		"a\u202eb": "a b", "\x1b[2Ja": "[2Ja", "a\u00a0b": "a b", "\x7f": "", "✓": "✓", " ": "",
	} {
		if got := SafeLine(text); got != want {
			t.Errorf("SafeLine(%q) = %q, want %q", text, got, want)
		}
	}
}
