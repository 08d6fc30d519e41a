package recall

import (
	"fmt"
	"strings"
	"testing"

	"github.com/recalld/recalld/index/lexical"
	"github.com/recalld/recalld/internal/memory"
)

func TestDeclarationOf(t *testing.T) {
	for name, test := range map[string]struct {
		name, text string
		want       int
	}{
		"go, called before":    {"readAll", "func first() {\n\treadAll()\n}\n\n// readAll reads.\nfunc readAll() {}", 5},
		"a method":             {"serve", "class A:\n    def other(self):\n        self.serve()\n    def serve(self):\n        pass", 3},
		"in another style":     {"read_all", "x = 1\ndef readAll(): pass", 1},
		"beside another style": {"modInverse", "func ModInverse() {}\nfunc modInverse() {}", 1},
		"not a part of a word": {"read", "func reader() {}\nfunc read() {}", 1},
		"a macro":              {"MAX_SIZE", "# MAX_SIZE is large\n#define MAX_SIZE 10", 1},
		"not there":            {"gone", "func here() {}", -1},
		"only in a comment":    {"gone", "// gone\nfunc here() {}", -1},
	} {
		if got := declarationOf(test.name, test.text); got != test.want {
			t.Errorf("%s: line %d, want %d", name, got, test.want)
		}
	}
}

// TestSnippetHasItsFocus: whatever line is asked for, it is shown, in whole lines and
// within the limit.
func TestSnippetHasItsFocus(t *testing.T) {
	var text strings.Builder
	for i := range 60 {
		fmt.Fprintf(&text, "line %d %s\n", i, strings.Repeat("needle ", i%3))
		if i%7 == 6 {
			text.WriteString("\n")
		}
	}
	lines := strings.Split(strings.TrimRight(text.String(), "\n"), "\n")
	for focus, line := range lines {
		for _, limit := range []int{30, 120, 400} {
			got, from, to := snippet(text.String(), 1, limit, focus, lexical.Analyze("needle"), lexical.Analyze)
			if len(got) > limit || from > focus+1 || to < focus+1 || !strings.Contains("\n"+got+"\n", "\n"+line+"\n") {
				t.Fatalf("line %d within %d bytes: lines %d to %d are shown:\n%s", focus+1, limit, from, to, got)
			}
			if got != strings.Join(lines[from-1:to], "\n") {
				t.Fatalf("lines %d to %d are not what is shown:\n%s", from, to, got)
			}
		}
	}
}

// TestFocusOfALine: it is counted from where the chunk is now.
func TestFocusOfALine(t *testing.T) {
	c := &candidate{mention: mentionMatch{at: memory.CodeLocation{Path: "a.go", Line: 12}}}
	if got := focus(c, "a\nb\nc", 10); got != 2 {
		t.Errorf("line 12 of a chunk from 10 is its line %d, want 2", got)
	}
	if got := focus(&candidate{}, "a", 1); got != -1 {
		t.Errorf("nothing was asked for, and the focus is %d", got)
	}
}
