package chunk

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// TestNamedUnits: a unit has its own lines where the chunk that holds it has others too, and
// where it is split.
func TestNamedUnits(t *testing.T) {
	long := strings.Repeat("\twork()\n", 400)
	for _, test := range []struct{ path, src, want string }{
		{"a.go", "package a\n\n// A is a.\nfunc A() {}\n\nfunc (s *S) B() {}\n", "3-4 A [A], 6-6 S.B [B]"},
		{"a.go", "package a\n\nfunc A() {\n" + long + "}\n", "3-404 A [A]"},
		{"a.py", "class C:\n    def m(self):\n        pass\n\n\ndef f():\n    pass\n", "1-3 C [C m], 6-7 f [f]"},
		{"a.md", "# One\n\ntext\n\n## Two\n\nmore\n", "1-3 One [], 5-7 One > Two []"},
		{"a.txt", "nothing is named\n", ""},
		{"a.go", "", ""},
	} {
		var got []string
		for _, u := range Units(test.path, "", []byte(test.src)) {
			if u.Symbol != "package a" && !strings.HasPrefix(u.Symbol, "package") {
				got = append(got, fmt.Sprintf("%d-%d %s %v", u.StartLine, u.EndLine, u.Symbol, u.Defines))
			}
		}
		if have := strings.Join(got, ", "); have != test.want {
			t.Errorf("%s: %s, want %s", test.path, have, test.want)
		}
	}
}

// TestByteOrderMark: a text with a mark at its start has the units and names of one without.
func TestByteOrderMark(t *testing.T) {
	for _, s := range samples {
		want := Units("", s.lang, []byte(s.src))
		if got := Units("", s.lang, []byte("\uFEFF"+s.src)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v with a byte order mark, %v without", s.lang, got, want)
		}
	}
	if got := Units("", "go", []byte("\uFEFF")); len(got) > 0 {
		t.Errorf("a mark alone has units: %v", got)
	}
}
