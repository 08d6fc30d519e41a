package recall

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/internal/memory"
)

func TestKindOf(t *testing.T) {
	for kind, paths := range map[fileKind]string{
		implementation: "a.go src/x.py latest/x.go contest.py a/attest.go lib/docs.go CMakeLists.txt Makefile cmd/main.go types/x.d.ts web/app.css",
		testFile: "a/b_test.go tests/x.py src/test_x.py a/__tests__/x.ts x.spec.ts x.test.js testdata/x.go spec/x_spec.rb conftest.py docs/tests/x.md " +
			"types/x.test-d.ts tests/README.md examples/x_test.go",
		exampleFile:   "examples/x.go example/README.md benches/x.rs",
		documentation: "README.md docs/x.go doc/en/x.rst CHANGELOG.md notes.txt",
		settingsFile:  "package.json .github/workflows/ci.yml go.mod Cargo.toml setup.cfg go.sum",
	} {
		for p := range strings.FieldsSeq(paths) {
			if got := kindOf(p); got != kind {
				t.Errorf("%s is of kind %q, want %q", p, got, kind)
			}
		}
	}
}

func TestAsksForKind(t *testing.T) {
	for question, want := range map[string]fileKind{
		"which tests cover the retry loop":          testFile,
		"is there a unit test for the parser":       testFile,
		"an example of a custom handler":            exampleFile,
		"where is the retry loop documented":        documentation,
		"which workflow publishes the release":      settingsFile,
		"what a test prints":                        implementation,
		"how are failed tests of the last run kept": implementation,
		"where is the retry loop":                   implementation,
	} {
		got := implementation
		for kind := range asksForKind() {
			if kind.asksFor(question) {
				got = kind
			}
		}
		if got != want {
			t.Errorf("%q asks for %q, want %q", question, got, want)
		}
	}
}

func TestSpelled(t *testing.T) {
	names := spelledBy("How does it read file headers, or one HTTP-Server, naïve?")
	for name, want := range map[string]int{
		"readFile": 2, "read_file": 2, "ReadFileHeaders": 3, "read-file": 2, "headers": 1, "httpServer": 2, "naïve": 1,
		"fileRead": 0, "or": 0, "readheaders": 0, "": 0, "__": 0,
	} {
		if got := names[memory.FoldName(name)]; got != want {
			t.Errorf("%q is spelled by %d words, want %d", name, got, want)
		}
	}
	if long := spelledBy(strings.Repeat("word ", 10_000)); len(long) > maxSpelled*maxWords {
		t.Errorf("a long question spells %d names", len(long))
	}
}

// code asks for code alone.
func (s *shelf) code(t *testing.T, query string, change ...func(*memory.RecallRequest)) *memory.RecallResponse {
	t.Helper()
	req := memory.RecallRequest{Query: query, Kinds: []memory.Kind{memory.Chunk}, Limit: 10, MaxTokens: 4000, Explain: true}
	for _, c := range change {
		c(&req)
	}
	return s.ask(t, req)
}

// TestDefinesFirst: what defines comes before what tests, shows and documents it, unless
// the question asks for these, and the factors say why.
func TestDefinesFirst(t *testing.T) {
	s := newShelf()
	for _, path := range []string{"docs/backoff.md", "backoff_test.go", "examples/wait.go", "other.go", "backoff.go", "more.go"} {
		s.chunk("text in "+strings.Repeat(path+" ", 9), at(path))
	}
	a := s.code(t, "wait longer after every failure")
	if got := ids(a); got[0] != "other.go" || got[1] != "backoff.go" || got[2] != "more.go" {
		t.Errorf("the answer is %v, want the implementations first, in their order", got)
	}
	for _, item := range a.Items {
		f := item.RankFactors
		if want := map[string]string{"docs/backoff.md": "documentation", "backoff_test.go": "test", "examples/wait.go": "example"}[item.Source.Path]; f.FileKind != want {
			t.Errorf("%s is of kind %q, want %q", item.Source.Path, f.FileKind, want)
		}
	}
	if part := ", file test\n"; !strings.Contains(a.Text, part) {
		t.Errorf("the text lacks %q:\n%s", part, a.Text)
	}
	if got := ids(s.code(t, "which tests wait longer")); got[0] != "backoff_test.go" {
		t.Errorf("asked for tests: %v, want the test first", got)
	}
	if got := ids(s.code(t, "where is the waiting documented")); got[0] != "docs/backoff.md" {
		t.Errorf("asked for documentation: %v, want the page first", got)
	}
}

// TestSpelledNameFirst: code that declares a name which the question spells in words is
// lifted, unless many places declare it.
func TestSpelledNameFirst(t *testing.T) {
	s := newShelf()
	for _, path := range []string{"a.go", "b.go", "c.go"} {
		s.chunk("text of "+path, at(path))
	}
	readFile := memory.Name{Name: "readfile"}
	s.defines(readFile, "c.go", memory.Definition{Within: true})
	a := s.code(t, "how does it read file after file")
	if got := ids(a); got[0] != "c.go" || a.Items[0].RankFactors.Named != "readfile" {
		t.Errorf("the answer is %v with %+v, want c.go first", got, a.Items[0].RankFactors)
	}
	for range maxSpelling {
		s.defines(readFile, "b.go", memory.Definition{Within: true})
	}
	if got := ids(s.code(t, "how does it read file after file")); got[0] != "a.go" {
		t.Errorf("a name of many places: %v, want the order as found", got)
	}
}

// TestCodeTakesItsOwnPlaces: the order of code moves no record, and without an
// implementation nothing moves.
func TestCodeTakesItsOwnPlaces(t *testing.T) {
	s := newShelf()
	s.chunk("a page", at("docs/a.md"))
	s.lesson("l-1")
	s.chunk("code", at("a.go"))
	all := func(req *memory.RecallRequest) { req.Kinds = []memory.Kind{memory.Lesson, memory.Chunk} }
	scores := map[string]float64{}
	a := s.code(t, "needle", all)
	for i, id := range ids(a) {
		scores[id] = a.Items[i].RankFactors.Score
	}
	if len(scores) != 3 || scores["a.go"] != 1 || scores["l-1"] >= 1 || scores["docs/a.md"] >= scores["l-1"] {
		t.Errorf("the scores are %v, want the code at the page's place and the lesson at its own", scores)
	}
	s = newShelf()
	s.chunk("a test", at("b_test.go"))
	s.chunk("a page", at("docs/a.md"))
	if got, want := ids(s.code(t, "needle")), []string{"b_test.go", "docs/a.md"}; !slices.Equal(got, want) {
		t.Errorf("without an implementation: %v, want %v", got, want)
	}
}

// nearWords is an embedder whose vectors are near if texts share a word of its list.
type nearWords struct {
	embedder.Embedder
	words []string
	err   error
}

func (e nearWords) Embed(_ context.Context, _ embedder.Purpose, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = make([]float32, len(e.words)+1)
		vectors[i][len(e.words)] = 0.1
		for k, word := range e.words {
			if strings.Contains(text, word) {
				vectors[i][k] = 1
			}
		}
	}
	return vectors, e.err
}

// TestPlacesCount: of code that matches alike, what is called like the question comes first.
func TestPlacesCount(t *testing.T) {
	s := newShelf()
	for _, path := range []string{"a.go", "b.go", "c.go", "proxy/d.go"} {
		s.chunk("text in "+strings.Repeat(path+" ", 9), at(path))
	}
	s.symbols = map[string]string{"c.go": "Client.proxy"}
	ask := func(e embedder.Embedder) []string {
		req := memory.RecallRequest{Query: "believe the proxy", Kinds: []memory.Kind{memory.Chunk}, Limit: 10, MaxTokens: 4000}
		return ids(s.ask(t, req, func(o *Options) { o.Embedder = e }))
	}
	without := []string{"a.go", "b.go", "c.go", "proxy/d.go"}
	for name, test := range map[string]struct {
		e    embedder.Embedder
		want []string
	}{
		"no embedder":      {nil, without},
		"it fails":         {nearWords{words: []string{"proxy"}, err: embedder.ErrUnavailable}, without},
		"all are as near":  {nearWords{words: []string{"go"}}, without},
		"symbol and path":  {nearWords{words: []string{"proxy"}}, []string{"c.go", "proxy/d.go", "a.go", "b.go"}},
		"the path's alone": {nearWords{words: []string{"proxy/"}}, without}, // the question has no slash
	} {
		if got := ask(test.e); !slices.Equal(got, test.want) {
			t.Errorf("%s: the order is %v, want %v", name, got, test.want)
		}
	}
}
