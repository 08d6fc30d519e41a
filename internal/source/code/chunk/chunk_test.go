package chunk

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/testkit/gosource"
	"github.com/recalld/recalld/internal/testlong"
)

// checkChunks returns what is wrong with the chunks of a text; empty is nothing.
func checkChunks(src []byte, chunks []Chunk) string {
	t := newText(src)
	hidden := hiddenLines(t)
	covered := make([]int, t.lines())
	for n, p := range chunks {
		if p.Start >= p.End || p.End > len(src) || p.StartLine < 1 || p.EndLine > t.lines() {
			return fmt.Sprintf("chunk %d has no extent: %+v", n, p)
		}
		if p.Start != t.starts[p.StartLine-1] || p.End != t.starts[p.EndLine-1]+len(t.line(p.EndLine-1)) {
			return fmt.Sprintf("chunk %d: bytes %d–%d are not lines %d–%d", n, p.Start, p.End, p.StartLine, p.EndLine)
		}
		if t.blank(p.StartLine-1) || t.blank(p.EndLine-1) {
			return fmt.Sprintf("chunk %d begins or ends blank", n)
		}
		if size := p.End - p.Start; size > maxChunk+maxOverlap && p.StartLine != p.EndLine {
			return fmt.Sprintf("chunk %d has %d bytes in lines %d–%d", n, size, p.StartLine, p.EndLine)
		}
		if n > 0 {
			before := chunks[n-1]
			if p.StartLine+p.Overlap <= before.EndLine || p.Overlap > 0 && p.StartLine > before.EndLine {
				return fmt.Sprintf("chunk %d, lines %d–%d with %d overlapping, follows lines %d–%d", n, p.StartLine, p.EndLine, p.Overlap, before.StartLine, before.EndLine)
			}
			if p.Overlap > 0 && p.Symbol != before.Symbol {
				return fmt.Sprintf("chunk %d overlaps another unit", n)
			}
		} else if p.Overlap != 0 {
			return "the first chunk overlaps"
		}
		for i := p.StartLine - 1 + p.Overlap; i < p.EndLine; i++ {
			covered[i]++
		}
		own := src[t.starts[p.StartLine-1+p.Overlap]:p.End]
		for i, name := range p.Defines {
			switch {
			case name == "" || !utf8.ValidString(name) || slices.Contains(p.Defines[:i], name):
				return fmt.Sprintf("chunk %d defines %q", n, p.Defines)
			case isName([]byte(name)) && !bytes.Contains(own, []byte(name)):
				return fmt.Sprintf("chunk %d, lines %d–%d, defines %q, which it does not hold", n, p.StartLine, p.EndLine, name)
			}
		}
		if !utf8.ValidString(p.Doc) || !utf8.ValidString(p.Symbol) {
			return fmt.Sprintf("chunk %d is not UTF-8", n)
		}
	}
	for i, n := range covered {
		switch {
		case hidden != nil && hidden[i]:
			if n != 0 {
				return fmt.Sprintf("line %d of a secret is in a chunk", i+1)
			}
		case n != 1 && !t.blank(i):
			return fmt.Sprintf("line %d, %q, is in %d chunks", i+1, t.line(i), n)
		}
	}
	return ""
}

// sampleLangs is one language of every kind of scanner, and no language.
var sampleLangs = []string{"go", "markdown", "python", "yaml", "ruby", "javascript", "rust", "cpp", "java", "shell", "sql", "toml", "css", "json", "text", "lua", "php",
	"kotlin", "swift", "scala", "csharp", "dart", "zig", "perl", "elixir", "vue", "asm", "make", "cmake", "graphql", "proto", "dockerfile", "hcl", "objc", "r"}

func FuzzChunk(f *testing.F) {
	for _, s := range samples {
		f.Add(s.src)
	}
	files, err := filepath.Glob("testdata/chunks/*")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(src))
	}
	f.Add("")
	f.Add("\n\n \r\n")
	f.Add("a\r\nb\r\n\r\nc")
	f.Add(strings.Repeat("ä", 3000))
	f.Add("/* '\n\" ` <<EOF\n{([\n#if x\n$a$")
	f.Add(strings.Repeat("func f() {\n", 300))
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return
		}
		for _, lang := range sampleLangs {
			for _, src := range []string{text, strings.ReplaceAll(text, "\n", "\r\n"), strings.Repeat(text+"\n", 2+4000/(len(text)+1))} {
				chunks := Split("", lang, []byte(src))
				if wrong := checkChunks([]byte(src), chunks); wrong != "" {
					t.Fatalf("%s: %s", lang, wrong)
				}
				for _, p := range chunks {
					if again := DocText(lang, p.Symbol, src[p.Start:p.End]); again != p.Doc {
						t.Fatalf("%s: the document cannot be written again:\n%q\n%q", lang, p.Doc, again)
					}
				}
			}
		}
	})
}

func TestChunkEdges(t *testing.T) {
	long := strings.Repeat("wörd ", 2000)
	for name, test := range map[string]struct {
		src  string
		want int // chunks
	}{
		"empty":                     {"", 0},
		"blank":                     {" \n\t\n\r\n\n", 0},
		"no newline":                {"x = 1", 1},
		"CRLF":                      {"x = 1\r\ny = 2\r\n", 1},
		"a huge line":               {"a\n" + long + "\nb\n", 3},
		"only a huge line":          {long, 1},
		"two huge lines":            {long + "\n" + long, 2},
		"huge lines, small between": {long + "\nx\n" + long + "\ny\n", 4},
	} {
		for _, lang := range sampleLangs {
			chunks := Split("", lang, []byte(test.src))
			if wrong := checkChunks([]byte(test.src), chunks); wrong != "" {
				t.Errorf("%s, %s: %s", name, lang, wrong)
			}
			if len(chunks) != test.want {
				t.Errorf("%s, %s: %d chunks, want %d", name, lang, len(chunks), test.want)
			}
			for _, p := range chunks {
				if len(p.Doc) > maxDocument+maxSymbol+40 || !utf8.ValidString(p.Doc) {
					t.Errorf("%s, %s: a document of %d bytes", name, lang, len(p.Doc))
				}
			}
		}
	}
}

func TestDocuments(t *testing.T) {
	secret := "AKIA" + "IOSFODNN7EXAMPL2"
	src := "package a\n\n// Key is kept.\nconst Key = \"" + secret + "\"\n\nvar sum = \"d41d8cd98f00b204e9800998ecf8427e0001\"\r\nfunc F() {}\n"
	a := Split("some/folder/name.go", "", []byte(src))
	b := Split("other.go", "go", []byte(src))
	if len(a) == 0 || len(a) != len(b) {
		t.Fatalf("%d and %d chunks", len(a), len(b))
	}
	var all strings.Builder
	for i := range a {
		if !reflect.DeepEqual(a[i], b[i]) {
			t.Errorf("another path gives another chunk: %+v and %+v", a[i], b[i])
		}
		all.WriteString(a[i].Doc)
	}
	for _, gone := range []string{secret, "d41d8cd98f", "folder", "name.go", "\r"} {
		if strings.Contains(all.String(), gone) {
			t.Errorf("a document holds %q:\n%s", gone, all.String())
		}
	}
	for _, kept := range []string{"go package a", "Key is kept", "[redacted:aws-key]", "func F()"} {
		if !strings.Contains(all.String(), kept) {
			t.Errorf("no document holds %q:\n%s", kept, all.String())
		}
	}
}

// TestSecretsOfSeveralLines: where a key or private text is cut in two neither
// half can be recognised, so that no chunk may have any line of it.
func TestSecretsOfSeveralLines(t *testing.T) {
	key := "-----BEGIN " + "RSA PRIVATE KEY-----\n" + strings.Repeat("MIIEowIBAAKCAQEAx4UbaDzY5xjW6hc9jwN0mX33XpTDVW9WJ8gkR0Pq1bLc3uHs\n", 60) + "-----END " + "RSA PRIVATE KEY-----"
	for _, secret := range []string{key, "<private>\nmy\nthoughts\n</private>"} {
		src := []byte("package a\n\nvar before = 1\n\nconst key = `" + secret + "`\n\nfunc after() {}\n")
		for _, lang := range sampleLangs {
			chunks := Split("", lang, src)
			if wrong := checkChunks(src, chunks); wrong != "" {
				t.Errorf("%s: %s", lang, wrong)
			}
			text := ""
			for _, p := range chunks {
				text += p.Doc + string(src[p.Start:p.End])
			}
			if strings.Contains(text, "MIIE") || strings.Contains(text, "thoughts") || !strings.Contains(text, "before") || !strings.Contains(text, "after") {
				t.Errorf("%s: the chunks hold:\n%s", lang, text)
			}
		}
	}
}

// TestStandardLibrary cuts real code: all of a few packages of Go, and by the
// scanners what else lies there.
func TestStandardLibrary(t *testing.T) {
	src := gosource.Dir(t)
	files, bytesIn := 0, 0
	for _, dir := range []string{"net/http", "go", "runtime", "strings", "testing", "encoding/json", "html/template"} {
		err := filepath.WalkDir(filepath.Join(src, filepath.FromSlash(dir)), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || d.Name() == "testdata" {
				return err
			}
			b, err := os.ReadFile(path)
			if err != nil || !utf8.Valid(b) {
				return err
			}
			files++
			bytesIn += len(b)
			chunks := Split(path, "", b)
			if wrong := checkChunks(b, chunks); wrong != "" {
				t.Errorf("%s: %s", path, wrong)
			}
			return nil
		})
		if err != nil {
			t.Skipf("Go's own source is needed: install Go with its src folder: %v", err)
		}
	}
	t.Logf("%d files, %d bytes", files, bytesIn)
}

func BenchmarkChunk(b *testing.B) {
	server, err := os.ReadFile(filepath.Join(gosource.Dir(b), "net", "http", "server.go"))
	if err != nil {
		b.Skip("Go's own source is needed: install Go with its src folder")
	}
	run := func(name, lang string, src []byte) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				Split("", lang, src)
			}
		})
	}
	run("go", "go", server)
	for _, s := range samples {
		src := []byte(strings.Repeat(s.src+"\n", 100_000/len(s.src)+1))
		switch s.lang {
		case "typescript", "python", "cpp", "java", "rust", "ruby", "shell", "sql", "markdown", "yaml":
			run(s.lang, s.lang, src)
		}
	}
}

// TestChunkLarge cuts files as large as they are indexed. If each tag were searched for its
// end, each statement for the comment above it, each name among those before it, or each line
// below a long head asked for all of the head, the test would take minutes.
func TestChunkLarge(t *testing.T) {
	var names strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&names, "a%d,", i)
	}
	for what, test := range map[string]struct{ lang, text string }{
		"tags":              {"html", strings.Repeat("<body>\n", 70_000)},
		"scripts":           {"html", strings.Repeat(" <script>\n", 50_000)},
		"comments of Go":    {"go", "package a\nvar (\n" + strings.Repeat("//\n", 80_000) + strings.Repeat("a int;", 40_000) + "\n)\n"},
		"names on one line": {"go", "package a\nvar " + names.String() + "z int\n"},
		"open classes":      {"javascript", "x = " + strings.Repeat("/[", 500_000)},
		"a long head":       {"kotlin", strings.Repeat("x ", 200_000) + "\n" + strings.Repeat(" a\n", 100_000)},
		"an indented head":  {"javascript", strings.Repeat(" ", 500_000) + "x\n" + strings.Repeat(".a\n", 150_000)},
		"blank lines":       {"shell", "\"" + strings.Repeat("\n", 1_000_000) + "x"},
	} {
		if len(Split("", test.lang, []byte(test.text))) == 0 {
			t.Errorf("%s: there is no chunk", what)
		}
	}
}

// TestChunkHostile cuts texts that are as bad as they get for a scanner. If one
// took time that grows with the square of its size, the test would not end.
func TestChunkHostile(t *testing.T) {
	for _, part := range []string{
		"{\n", "}\n", "(\n", "class a {\n", "//\n", "#\n", "# \n", "-- \n", "/*\n", "\"\n", "'", "`\n", "<<A\n", "<A\n", "@a\n", "@a(\n", "@",
		"a:\n ", "- \n", "x\n", "#if\n", "$\n", "$a$\n", "\\\n", "<private>\n", "-----BEGIN PRIVATE KEY-----\n", "password = \n", "```\n", "# h\n", "a\n-\n",
		"class a:\n", "def f():\n\n", "func f() {}; ", "var x, y = 1, 2\n", "\t", "ä", "[", "a=", "end\n", "BEGIN\n", "impl<", "typedef ", "export const a = {\n",
		"~r{", "%w[\n", "<<~ab\n", "@\"\n", "def a(\"\n", "/\n", "\"${\n",
	} {
		for _, lead := range []string{"", "class A {\n"} {
			src := []byte(lead + strings.Repeat(part, testlong.Steps(10_000, 50_000)/len(part)))
			for _, lang := range []string{"go", "markdown", "python", "javascript", "cpp", "sql", "ruby", "elixir", "kotlin"} {
				if wrong := checkChunks(src, Split("", lang, src)); wrong != "" {
					t.Errorf("%q × n, %s: %s", part, lang, wrong)
				}
			}
		}
	}
}
