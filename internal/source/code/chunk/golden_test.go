package chunk

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/language"
)

var update = flag.Bool("update", false, "write the golden files")

// TestGolden holds the pieces of testdata/chunks, and the units that they are
// made of, against what was read over: a change of them shows in review.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/chunks/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, ".golden") {
			continue
		}
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		chunks := Split(file, "", src)
		if wrong := checkChunks(src, chunks); wrong != "" {
			t.Errorf("%s: %s", file, wrong)
		}
		got := describe(file, src, chunks)
		golden := file + ".golden"
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s: -update accepts what is cut now:\n%s\ninstead of:\n%s", file, got, want)
		}
		// Other line ends move nothing.
		other := strings.ReplaceAll(strings.ReplaceAll(string(src), "\r\n", "\n"), "\n", "\r\n")
		if crlf := describe(file, []byte(other), Split(file, "", []byte(other))); definitions(crlf) != definitions(got) {
			t.Errorf("%s with CRLF defines:\n%s\ninstead of:\n%s", file, definitions(crlf), definitions(got))
		}
	}
}

// describe writes the chunks of a file, and its definitions with their lines.
func describe(file string, src []byte, chunks []Chunk) string {
	var b strings.Builder
	lang := language.Of(file, src)
	fmt.Fprintf(&b, "%s\n\nchunks: lines, symbol\n", lang)
	for _, p := range chunks {
		fmt.Fprintf(&b, "%d-%d", p.StartLine, p.EndLine)
		if p.Overlap > 0 {
			fmt.Fprintf(&b, " (%d overlap)", p.Overlap)
		}
		if p.Declares {
			b.WriteString(" declares")
		}
		if p.Test {
			b.WriteString(" test")
		}
		fmt.Fprintf(&b, "  %s\n", p.Symbol)
	}
	t := newText(src)
	units := unitsOf(t, lang)
	b.WriteString("\nunits: lines, name\n")
	for _, u := range units {
		if u.name != "" {
			fmt.Fprintf(&b, "%d-%d  %s\n", u.first+1, u.last+1, u.name)
		}
	}
	t.sortDefines()
	b.WriteString("\ndefines: line, name\n")
	for _, d := range t.defines {
		fmt.Fprintf(&b, "%d  %s\n", d.line+1, d.name)
	}
	return b.String()
}

func definitions(described string) string {
	_, after, _ := strings.Cut(described, "\ndefines:")
	return after
}
