package recall

import (
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// defines has the shelf's chunk at a path declare a name.
func (s *shelf) defines(name memory.Name, path string, d memory.Definition) {
	for _, places := range s.docs {
		if slices.ContainsFunc(places, func(c memory.Candidate) bool { return c.File.Path == path }) {
			d.Places = places
		}
	}
	if s.definitions == nil {
		s.definitions = map[memory.Name][]memory.Definition{}
	}
	s.definitions[name] = append(s.definitions[name], d)
}

// lies has the shelf's chunk at a path lie at a place that a question names.
func (s *shelf) lies(place memory.CodeLocation, path string) {
	if s.at == nil {
		s.at = map[memory.CodeLocation][]memory.Candidate{}
	}
	for _, places := range s.docs {
		for _, c := range places {
			if c.File.Path == path {
				s.at[place] = append(s.at[place], c)
			}
		}
	}
}

var serve = memory.Name{Name: "serveHTTP"}

// TestDefinitionsFirst: what declares the name comes before what retrievers rank
// higher, marked, relevant above any floor, the exact name before another style,
// tests last.
func TestDefinitionsFirst(t *testing.T) {
	s := newShelf()
	s.chunk("serveHTTP serveHTTP a caller", at("caller.go"))
	s.chunk("func ServeHTTP() { other style }", at("style.go"))
	s.chunk("func serveHTTP() { of a test }", at("x_test.go"))
	s.chunk("func serveHTTP() { the definition }", at("def.go"))
	for path, exact := range map[string]bool{"style.go": false, "x_test.go": true, "def.go": true} {
		s.defines(serve, path, memory.Definition{Exact: exact, Within: true})
	}
	for _, query := range []string{"serveHTTP", "where is serveHTTP defined", "what does `serveHTTP` do"} {
		a := s.ask(t, memory.RecallRequest{Query: query, MinRelevance: new(.9), Explain: true, Kinds: []memory.Kind{memory.Chunk}, Limit: 4})
		if got, want := ids(a), []string{"def.go", "x_test.go", "style.go"}; len(got) < 3 || !slices.Equal(got[:3], want) {
			t.Errorf("%q: %v, want %v first", query, got, want)
			continue
		}
		for i, item := range a.Items[:3] {
			if item.RankFactors.Definition != "serveHTTP" || item.Relevance < .9 {
				t.Errorf("%q: item %d has relevance %v and factors %+v", query, i, item.Relevance, item.RankFactors)
			}
		}
		if !strings.Contains(a.Text, ", defines serveHTTP") {
			t.Errorf("%q: nothing explains the definition:\n%s", query, a.Text)
		}
	}
	// The floor holds for what was not asked for.
	s.scale = .0001
	if a := s.ask(t, memory.RecallRequest{Query: "serveHTTP", MinRelevance: new(.75)}); slices.Contains(ids(a), "caller.go") || len(a.Items) != 3 {
		t.Errorf("above the floor there are %v, want the definitions alone", ids(a))
	}
	if a := s.ask(t, memory.RecallRequest{Query: "serve the page", MinRelevance: new(.75)}); !a.NothingRelevant {
		t.Errorf("a question without the name finds %v", ids(a))
	}
	if a := s.ask(t, memory.RecallRequest{Query: "serveHTTP", Kinds: []memory.Kind{memory.Lesson}}); len(a.Items) != 0 {
		t.Errorf("asked for lessons, it answers with %v", ids(a))
	}
}

// TestDefinitionOfTheOwnFolder: of the same name in several sandboxes that of the
// caller's comes first.
func TestDefinitionOfTheOwnFolder(t *testing.T) {
	s := newShelf()
	key := func(box, path string) memory.FileKey { return memory.FileKey{Sandbox: box, Path: path} }
	s.chunk("func serveHTTP() { theirs }", key("/other", "a.go"))
	s.chunk("func serveHTTP() { ours }", key("/box", "b.go"))
	for _, path := range []string{"a.go", "b.go"} {
		s.defines(serve, path, memory.Definition{Exact: true, Within: true})
	}
	for dir, want := range map[string]string{"/box/sub": "b.go", "/other": "a.go", "": "a.go"} {
		a := s.ask(t, memory.RecallRequest{Query: "serveHTTP", Caller: memory.Caller{Dir: dir}})
		if got := ids(a); len(got) == 0 || got[0] != want {
			t.Errorf("from %q the answer is %v, want %s first", dir, got, want)
		}
	}
}

// TestDefinitionElsewhere: declared in another type than was said, a definition is
// meant only where there are few.
func TestDefinitionElsewhere(t *testing.T) {
	s := newShelf()
	name := memory.Name{Name: "close", In: "conn"}
	for i, path := range []string{"a.go", "b.go", "c.go", "d.go"} {
		s.chunk("func close() { "+strings.Repeat("x", i+1)+" }", at(path))
	}
	s.defines(name, "d.go", memory.Definition{Exact: true})
	if a := s.ask(t, memory.RecallRequest{Query: "conn.close()", Explain: true, Kinds: []memory.Kind{memory.Chunk}}); ids(a)[0] != "d.go" || a.Items[0].Relevance < elsewhere {
		t.Errorf("one definition: %v, want d.go first", ids(a))
	}
	for _, path := range []string{"a.go", "b.go", "c.go"} {
		s.defines(name, path, memory.Definition{Exact: true})
	}
	a := s.ask(t, memory.RecallRequest{Query: "conn.close()", Explain: true, Kinds: []memory.Kind{memory.Chunk}})
	if strings.Contains(a.Text, ", defines") {
		t.Errorf("four definitions elsewhere: some is taken for what was asked for:\n%s", a.Text)
	}
}

// TestDefinitionPassesTheGates: one whose text is gone from the disk is withheld, and
// the next is shown.
func TestDefinitionPassesTheGates(t *testing.T) {
	s := newShelf()
	s.chunk("func serveHTTP() { one }", at("a.go"))
	s.chunk("func serveHTTP() { two }", at("b.go"))
	for _, path := range []string{"a.go", "b.go"} {
		s.defines(serve, path, memory.Definition{Exact: true, Within: true})
	}
	s.gates = map[memory.FileKey]error{at("a.go"): &memory.GateError{Reason: memory.Changed, Path: "a.go"}}
	a := s.ask(t, memory.RecallRequest{Query: "serveHTTP"})
	if got := ids(a); !slices.Equal(got, []string{"b.go"}) || reasons(a)["a.go"] != memory.Changed {
		t.Errorf("answer %v, withheld %v; want a.go withheld", got, reasons(a))
	}
}

// TestPlacesFirst: the chunk at a line comes first, then those of other frames.
func TestPlacesFirst(t *testing.T) {
	s := newShelf()
	s.chunk("likest by words", at("other.go"))
	s.chunk("first frame", at("net/a.go"))
	s.chunk("second frame", at("net/b.go"))
	s.lies(memory.CodeLocation{Path: "a.go", Line: 10}, "net/a.go")
	s.lies(memory.CodeLocation{Path: "/usr/net/b.go", Line: 20}, "net/b.go")
	req := memory.RecallRequest{Query: "panic: boom\n\ta.go:10 +0x1d\n\t/usr/net/b.go:20", MinRelevance: new(.75), Explain: true}
	a := s.ask(t, req)
	if got := ids(a); len(got) < 2 || got[0] != "net/a.go" || got[1] != "net/b.go" {
		t.Fatalf("answer %v, want the frames in their order", got)
	}
	if f := a.Items[0].RankFactors; f.Place != "a.go:10" || !strings.Contains(a.Text, ", at a.go:10") {
		t.Errorf("the place is not told: %+v\n%s", f, a.Text)
	}
}

// TestNamedFile: of a file without a line the chunks that fit the other words come
// first; alone, its beginning.
func TestNamedFile(t *testing.T) {
	s := newShelf()
	s.chunk("likest by words", at("other.go"))
	s.chunk("the best of it", at("a.go"))
	place := memory.CodeLocation{Path: "a.go"}
	s.lies(place, "a.go")
	if got := ids(s.ask(t, memory.RecallRequest{Query: "what is best in a.go"})); got[0] != "a.go" {
		t.Errorf("answer %v, want a.go first", got)
	}
	many := memory.CodeLocation{Path: "index.ts"}
	for i := range maxNamedFiles + 1 {
		path := strings.Repeat("d/", i) + "index.ts"
		s.chunk("index "+path, at(path))
		s.lies(many, path)
	}
	a := s.ask(t, memory.RecallRequest{Query: "index.ts", Explain: true})
	if strings.Contains(a.Text, ", at index.ts") {
		t.Errorf("one of many files of a name is taken for the one that is meant:\n%s", a.Text)
	}
}
