package code

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

const anchored = `package retry

import "time"

// Backoff returns how long to wait before an attempt.
func Backoff(attempt int) time.Duration {
	wait := 100 * time.Millisecond << attempt
	if wait > time.Minute {
		return time.Minute
	}
	return wait
}

// Close ends it.
func (c *Client) Close() error {
	return c.conn.Close()
}

// Close ends it as well.
func (s *Server) Close() error {
	return s.listener.Close()
}
`

// anchorOf makes an anchor that must be accepted.
func anchorOf(t *testing.T, root string, want memory.AnchorRequest) memory.Anchor {
	t.Helper()
	a, err := NewVerifier().Anchor(t.Context(), memory.Location{Root: root, Path: want.Path}, want)
	if err != nil {
		t.Fatalf("anchor %+v: %v", want, err)
	}
	return a
}

// TestAnchor: an anchor has the lines of what was asked for, whatever chunk they are in.
func TestAnchor(t *testing.T) {
	root := tree(t, map[string]string{"a.go": anchored, "blank.go": "\n\n", "a.md": "# Install\n\nmake\n\n## From source\n\ngo build\n"})
	for _, test := range []struct {
		want        memory.AnchorRequest
		first, last int
		whole       bool
		field       string // of the error
	}{
		{memory.AnchorRequest{Path: "a.go"}, 1, 22, true, ""},
		{memory.AnchorRequest{Path: "a.go", Symbol: "Backoff"}, 5, 12, false, ""},
		{memory.AnchorRequest{Path: "a.go", Symbol: "Backoff()"}, 5, 12, false, ""},
		{memory.AnchorRequest{Path: "a.go", Symbol: "Server.Close"}, 19, 22, false, ""},
		{memory.AnchorRequest{Path: "a.go", Symbol: "(*Server).Close"}, 19, 22, false, ""},
		{memory.AnchorRequest{Path: "a.md", Symbol: "From source"}, 5, 7, false, ""},
		{memory.AnchorRequest{Path: "a.go", Lines: []int{6, 7}}, 6, 7, false, ""},
		{memory.AnchorRequest{Path: "a.go", Lines: []int{13, 15}}, 14, 15, false, ""}, // without the blank one
		{memory.AnchorRequest{Path: "a.go", Symbol: "Close"}, 0, 0, false, "symbol"},
		{memory.AnchorRequest{Path: "a.go", Symbol: "Open"}, 0, 0, false, "symbol"},
		{memory.AnchorRequest{Path: "a.go", Lines: []int{20, 23}}, 0, 0, false, "lines"},
		{memory.AnchorRequest{Path: "a.go", Lines: []int{4, 4}}, 0, 0, false, "path"},
		{memory.AnchorRequest{Path: "blank.go"}, 0, 0, false, "path"},
	} {
		a, err := NewVerifier().Anchor(t.Context(), memory.Location{Root: root, Path: test.want.Path}, test.want)
		if e, ok := errors.AsType[*memory.Error](err); ok != (test.field != "") || ok && e.Field != test.field {
			t.Errorf("%+v: %v, want an error of %q", test.want, err, test.field)
		}
		if test.field == "" && (a.Code.StartLine != test.first || a.Code.EndLine != test.last || a.Whole != test.whole || len(a.Sketch) == 0) {
			t.Errorf("%+v: %+v, want the lines %d to %d", test.want, a, test.first, test.last)
		}
	}
}

// TestCompare: what an edit of a file does to an anchor of one of its declarations.
func TestCompare(t *testing.T) {
	for _, test := range []struct {
		name, disk string
		want       memory.AnchorFound
	}{
		{"as it was", anchored, memory.AnchorFound{Same: true, StartLine: 5, EndLine: 12}},
		{"further down", "// new\n" + anchored, memory.AnchorFound{Same: true, StartLine: 6, EndLine: 13}},
		{"another declaration changed", strings.Replace(anchored, "ends it.", "ends it now.", 1), memory.AnchorFound{Same: true, StartLine: 5, EndLine: 12}},
		{"a line changed", strings.Replace(anchored, "100 *", "250 *", 1), memory.AnchorFound{Changed: 1. / 6}},
		{"a line more", strings.Replace(anchored, "return time.Minute", "log()\n\t\treturn time.Minute", 1), memory.AnchorFound{Changed: 1. / 6}},
		{"indented", strings.Replace(anchored, "\twait", "\t\twait", 1), memory.AnchorFound{Changed: 1. / 6}},
		{"written anew", "package retry\n\nvar Backoff = exponential(10, 20)\n", memory.AnchorFound{Changed: 1}},
		{"removed", "package retry\n\nvar backoffs, unBackoff, Backoffs int\n", memory.AnchorFound{Changed: 1, Gone: true}},
		{"emptied", "", memory.AnchorFound{Changed: 1, Gone: true}},
		{"binary", anchored + "\x00", memory.AnchorFound{Changed: 1, Gone: true}},
		{"very large", anchored + strings.Repeat("x\n", maxVerified/2), memory.AnchorFound{Changed: 1, Gone: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := tree(t, map[string]string{"a.go": anchored})
			a := anchorOf(t, root, memory.AnchorRequest{Path: "a.go", Symbol: "Backoff"})
			must(t, os.WriteFile(filepath.Join(root, "a.go"), []byte(test.disk), 0o600))
			got, err := NewVerifier().Compare(t.Context(), memory.Location{Root: root, Path: "a.go"}, []memory.Anchor{a})
			if err != nil || len(got) != 1 || got[0] != test.want {
				t.Errorf("compared: %+v, %v; want %+v", got, err, test.want)
			}
		})
	}
}

// TestCompareWhatIsNoFile: the file of an anchor has become something else.
func TestCompareWhatIsNoFile(t *testing.T) {
	for name, test := range map[string]struct {
		replace func(path string) error
		want    memory.Reason
	}{
		"nothing":               {func(string) error { return nil }, memory.Gone},
		"a folder":              {func(path string) error { return os.Mkdir(path, 0o700) }, memory.Gone},
		"a link that leads out": {func(path string) error { return os.Symlink(filepath.Join(os.TempDir(), "x"), path) }, memory.Outside},
	} {
		root := tree(t, map[string]string{"a.go": anchored})
		a := anchorOf(t, root, memory.AnchorRequest{Path: "a.go"})
		path := filepath.Join(root, "a.go")
		must(t, os.Remove(path))
		if err := test.replace(path); err != nil {
			t.Skipf("this system makes no such thing: %v", err)
		}
		_, err := NewVerifier().Compare(t.Context(), memory.Location{Root: root, Path: "a.go"}, []memory.Anchor{a})
		if gate, ok := errors.AsType[*memory.GateError](err); !ok || gate.Reason != test.want {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
	root := tree(t, map[string]string{"a.go": anchored})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := NewVerifier().Compare(ended, memory.Location{Root: root, Path: "a.go"}, nil)
	if gate, ok := errors.AsType[*memory.GateError](err); !ok || gate.Reason != memory.TooSlow {
		t.Errorf("after the deadline: %v, want %s", err, memory.TooSlow)
	}
}

// TestSketch: a sketch of a long text is an even sample of its lines and has its bound; it
// has nothing of a line with a secret.
func TestSketch(t *testing.T) {
	var long strings.Builder
	for i := range 1000 {
		long.WriteString("line number " + strings.Repeat("i", i%31+1) + strings.Repeat("j", i/31) + "\n")
	}
	old := long.String()
	root := tree(t, map[string]string{"a.txt": old})
	a := anchorOf(t, root, memory.AnchorRequest{Path: "a.txt"})
	if len(a.Sketch) != memory.MaxSketch {
		t.Errorf("a sketch of 1000 lines has %d bytes, want %d", len(a.Sketch), memory.MaxSketch)
	}
	half := strings.Replace(old, "line number", "another line", 400)
	must(t, os.WriteFile(filepath.Join(root, "a.txt"), []byte(half), 0o600))
	found, err := NewVerifier().Compare(t.Context(), memory.Location{Root: root, Path: "a.txt"}, []memory.Anchor{a})
	if err != nil || found[0].Changed < .25 || found[0].Changed > .55 {
		t.Errorf("400 of 1000 lines changed: %+v, %v; want about .4", found, err)
	}
	const plain = "name = value here\n"
	if len(sketch([]byte(plain+"token = ghp"+"_Zx81kQp0aVn7LrT3mWc9Yd5HsBf2Ge6JuIo4\n"))) != len(sketch([]byte(plain))) {
		t.Error("a line with a secret is in the sketch")
	}
}

// TestContainsWord: the end of a longer word is no word of its own, nor is its second half.
func TestContainsWord(t *testing.T) {
	for text, want := range map[string]bool{"Get": true, "x.Get(": true, "GetGet": false, "GetGet Get": true, "Gets": false, "toGet": false, "éGet": false, "": false} {
		if got := containsWord([]byte(text), "Get"); got != want {
			t.Errorf("%q contains the word Get: %t, want %t", text, got, want)
		}
	}
}
