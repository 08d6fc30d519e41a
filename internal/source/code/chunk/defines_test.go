package chunk

import (
	"slices"
	"strings"
	"testing"
)

// TestDefinesGo: what go/parser reads is defined, and nothing else.
func TestDefinesGo(t *testing.T) {
	src := `package a

import "io"

const (
	One, two = iota, 2
	Three    = 3
)

var _ io.Reader = (*T)(nil)
var x, y = 1, 2; var z = 3

type (
	T[K comparable] struct {
		field int
		io.Writer
	}
	I interface {
		io.Reader
		Do(x int) error
		~int | ~string
	}
)

func (t *T[K]) Read(p []byte) (int, error) {
	local := 1
	type inner struct{}
	return local, nil
}

func init() {}
`
	var got []string
	for _, p := range Split("", "go", []byte(src)) {
		got = append(got, p.Defines...)
	}
	want := strings.Fields("One two Three x y z T I Do Read init")
	if !slices.Equal(got, want) {
		t.Errorf("defines %q, want %q", got, want)
	}
}

// TestDefinesOnce: of a function that is cut, only the part with its head
// defines its name, and a part that overlaps does not define again.
func TestDefinesOnce(t *testing.T) {
	long := strings.Repeat("\tif call(x) {\n\t\treturn\n\t}\n", 200)
	for lang, src := range map[string]string{
		"go":         "package a\n\nfunc long() {\n" + long + "}\n\nfunc next() {\n" + long + "}\n",
		"javascript": "function long() {\n" + long + "}\n\nfunction next() {\n" + long + "}\n",
		"python":     "def long():\n" + strings.Repeat("    if call(x):\n        return\n", 200) + "\n\ndef next():\n    pass\n",
	} {
		count := map[string]int{}
		chunks := Split("", lang, []byte(src))
		for _, p := range chunks {
			for _, name := range p.Defines {
				count[name]++
			}
		}
		if len(chunks) < 4 || len(count) != 2 || count["long"] != 1 || count["next"] != 1 {
			t.Errorf("%s: %d chunks define %v", lang, len(chunks), count)
		}
	}
}
