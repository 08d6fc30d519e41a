package indexer

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/testkit/underrace"
)

// putDefining writes a file of one chunk that declares names.
func (r *rig) putDefining(project, sandbox, path, text string, names ...string) {
	r.t.Helper()
	f, _ := r.disk.write(project, sandbox, path, text)
	d := docOf(r.t, text)
	d.Terms = Analyze(memory.Document{ID: d.ID, Text: text, Defines: names})
	if _, err := r.store.Commit(r.t.Context(), memory.Batch{Files: []memory.File{f}, Docs: []memory.Doc{d}}); err != nil {
		r.t.Fatalf("commit %s: %v", path, err)
	}
}

// found writes definitions as their first paths, = where the name is exact and ! where
// it is elsewhere than was asked.
func found(defs []memory.Definition) string {
	var out []string
	for _, d := range defs {
		s := d.Places[0].File.Path
		if d.Exact {
			s += "="
		}
		if !d.Within {
			s += "!"
		}
		out = append(out, s)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func TestDefinitions(t *testing.T) {
	r := newRig(t, nil)
	code := memory.Selection{Project: "p-1", Kinds: []memory.Kind{memory.Chunk}}
	r.putDefining("p-1", "s-1", "net/http/server.go", "go Server.Serve serve one", "Serve", "Server.Serve")
	r.putDefining("p-1", "s-1", "rpc/server.go", "go Server.Serve serve two", "Serve", "Server.Serve", "serve_all")
	r.putDefining("p-1", "s-1", "http/cgi.go", "go serve three", "serve")
	r.putDefining("p-1", "s-1", "a/tests/pool.py", "python Pool.serve four", "serve", "Pool.serve")
	r.putDefining("p-2", "s-2", "x/y.go", "go Serve five", "Serve")
	r.putDefining("p-1", "s-1", "a/core.clj", "clojure read-only six", "read-only", "save!", "*path*")
	r.putDefining("p-1", "s-1", "b/flags.go", "go readOnly seven", "readOnly")
	r.putFile("p-1", "s-1", "caller.go", "go caller Serve Serve Serve")
	check := func(when string) {
		t.Helper()
		for _, c := range []struct {
			name memory.Name
			sel  memory.Selection
			want string
		}{
			{memory.Name{Name: "Serve"}, code, "a/tests/pool.py http/cgi.go net/http/server.go= rpc/server.go="},
			{memory.Name{Name: "SERVE"}, code, "a/tests/pool.py http/cgi.go net/http/server.go rpc/server.go"},
			{memory.Name{Name: "serveAll"}, code, "rpc/server.go"},
			{memory.Name{Name: "Serve", In: "Server"}, code, "net/http/server.go= rpc/server.go="},
			{memory.Name{Name: "serve", In: "pool"}, code, "a/tests/pool.py="},
			{memory.Name{Name: "Serve", In: "http"}, code, "http/cgi.go net/http/server.go="},
			{memory.Name{Name: "serveAll", In: "conn"}, code, "rpc/server.go!"},
			{memory.Name{Name: "read-only"}, code, "a/core.clj="},
			{memory.Name{Name: "read_only"}, code, "a/core.clj b/flags.go"},
			{memory.Name{Name: "save"}, code, "a/core.clj="},
			{memory.Name{Name: "path"}, code, "a/core.clj="},
			{memory.Name{Name: "Serve"}, memory.Selection{Project: "p-2"}, "x/y.go="},
			{memory.Name{Name: "Serve"}, memory.Selection{Project: "p-1", Path: "rpc"}, "rpc/server.go="},
			{memory.Name{Name: "Serve"}, memory.Selection{Project: "p-1", Kinds: []memory.Kind{memory.Lesson}}, ""},
			{memory.Name{Name: "caller"}, code, ""},
		} {
			if got := found(r.index.Definitions(c.name, c.sel)); got != c.want {
				t.Errorf("%s: %s of %+v: %q, want %q", when, c.name, c.sel, got, c.want)
			}
		}
	}
	check("applied")
	r.reopen()
	check("loaded")
	if _, err := r.store.Commit(t.Context(), memory.Batch{DropFiles: []memory.FileKey{{Sandbox: "s-1", Path: "rpc/server.go"}}}); err != nil {
		t.Fatal(err)
	}
	if got := found(r.index.Definitions(memory.Name{Name: "serveAll"}, code)); got != "" {
		t.Errorf("the file is gone and still declares it at %q", got)
	}
}

// TestHeldKnowsNames: a stored document of which other names are known now is analysed
// again, and then declares those.
func TestHeldKnowsNames(t *testing.T) {
	r := newRig(t, nil)
	doc := memory.Document{ID: memory.DocumentID("go f"), Text: "go f"}
	r.putFile("p", "s", "f.go", doc.Text)
	if !r.index.Held(doc) {
		t.Error("a stored document is not held")
	}
	doc.Defines = []string{"f"}
	if r.index.Held(doc) {
		t.Error("a document without its names is held")
	}
	r.putDefining("p", "s", "f.go", doc.Text, "f")
	if !r.index.Held(doc) {
		t.Error("after its names were stored it is not held")
	}
	if got := found(r.index.Definitions(memory.Name{Name: "f"}, memory.Selection{})); got != "f.go=" {
		t.Errorf("it is declared at %q, want f.go", got)
	}
}

// TestDefinitionInManyPlaces: one text in two sandboxes is one definition.
func TestDefinitionInManyPlaces(t *testing.T) {
	r := newRig(t, nil)
	for _, box := range []string{"s-1", "s-2"} {
		r.putDefining("p", box, "pkg/f.go", "go f", "f")
	}
	r.putDefining("p", "s-3", "mod/f.go", "go f", "f")
	defs := r.index.Definitions(memory.Name{Name: "f", In: "mod"}, memory.Selection{Project: "p"})
	if len(defs) != 1 || len(defs[0].Places) != 3 || defs[0].Places[0].File.Path != "mod/f.go" {
		t.Errorf("got %+v, want one definition in three places, that in mod first", defs)
	}
}

func TestAt(t *testing.T) {
	r := newRig(t, nil)
	put := func(box, path string, starts ...int) {
		t.Helper()
		f := memory.File{Project: "p", Sandbox: box, Path: path, Lang: "go", ModTime: testTime}
		var texts []string
		for i, start := range starts {
			text := fmt.Sprintf("%s %s %d", box, path, start)
			texts = append(texts, text)
			end := start + 9
			if i+1 < len(starts) {
				end = starts[i+1] - 1
			}
			f.Chunks = append(f.Chunks, memory.FileChunk{Doc: memory.DocumentID(text), StartLine: start, EndLine: end})
		}
		r.commit(memory.Batch{Files: []memory.File{f}}, texts...)
	}
	if _, err := r.store.Commit(t.Context(), memory.Batch{Sandboxes: []memory.Sandbox{{ID: "s-1", Project: "p", Root: "/home/me/shop"}, {ID: "s-2", Project: "p", Root: "/tmp/shop2"}}}); err != nil {
		t.Fatal(err)
	}
	put("s-1", "net/http/transfer.go", 1, 50, 100)
	put("s-1", "vendor/net/http/transfer.go", 1)
	put("s-2", "net/http/transfer.go", 1, 50, 100)
	put("s-1", "main.go", 1, 10)
	put("s-1", "empty.go")
	check := func(when string) {
		t.Helper()
		for _, c := range []struct {
			path string
			line int
			sel  memory.Selection
			want string
		}{
			{"net/http/transfer.go", 60, memory.Selection{Project: "p"}, "s-1/net/http/transfer.go#1 s-2/net/http/transfer.go#1 s-1/vendor/net/http/transfer.go#0"},
			{"./http/transfer.go", 100, memory.Selection{Project: "p"}, "s-1/net/http/transfer.go#2 s-2/net/http/transfer.go#2 s-1/vendor/net/http/transfer.go#0"},
			{`C:\src\net\http\transfer.go`, 1, memory.Selection{Project: "p"}, "s-1/net/http/transfer.go#0 s-2/net/http/transfer.go#0"},
			{"/usr/src/http/transfer.go", 1, memory.Selection{Project: "p"}, ""},
			{"transfer.go", 9999, memory.Selection{Project: "p", Path: "net"}, "s-1/net/http/transfer.go#2 s-2/net/http/transfer.go#2"},
			{"ansfer.go", 1, memory.Selection{Project: "p"}, ""},
			{"/home/me/shop/main.go", 12, memory.Selection{Project: "p"}, "s-1/main.go#1"},
			{"/ci/build/shop/main.go", 0, memory.Selection{Project: "p"}, "s-1/main.go#0 s-1/main.go#1"},
			{"/usr/lib/main.go", 12, memory.Selection{Project: "p"}, ""},
			{"main.go", 3, memory.Selection{Project: "other"}, ""},
			{"main.go", 3, memory.Selection{Project: "p", Kinds: []memory.Kind{memory.Step}}, ""},
			{"empty.go", 3, memory.Selection{Project: "p"}, ""},
			{"", 3, memory.Selection{}, ""},
		} {
			var got []string
			for _, x := range r.index.At(memory.CodeLocation{Path: c.path, Line: c.line}, c.sel) {
				got = append(got, fmt.Sprintf("%s/%s#%d", x.File.Sandbox, x.File.Path, x.Ord))
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%s: %s:%d in %+v: %v, want %s", when, c.path, c.line, c.sel, got, c.want)
			}
		}
	}
	check("applied")
	r.reopen()
	check("loaded")
	if _, err := r.store.Commit(t.Context(), memory.Batch{DropFiles: []memory.FileKey{{Sandbox: "s-1", Path: "main.go"}}}); err != nil {
		t.Fatal(err)
	}
	if got := r.index.At(memory.CodeLocation{Path: "main.go"}, memory.Selection{}); len(got) != 0 {
		t.Errorf("a file that is gone is at %v", got)
	}
}

// TestDefinitionsBesideVeryMany: however many declare a name elsewhere, or outside of
// the type that is named, those that are asked for are found.
func TestDefinitionsBesideVeryMany(t *testing.T) {
	underrace.Skip(t, "one goroutine asks for definitions, as in TestDefinitions, of very many files")
	r := newRig(t, nil)
	var all memory.Batch
	for i := range maxDefinitions + 1 {
		text := fmt.Sprintf("go main number %d", i)
		f, _ := r.disk.write("p-1", "s-1", fmt.Sprintf("cmd/c%d/run.go", i), text)
		d := docOf(t, text)
		d.Terms = Analyze(memory.Document{ID: d.ID, Text: text, Defines: []string{"main"}})
		all.Files, all.Docs = append(all.Files, f), append(all.Docs, d)
	}
	if _, err := r.store.Commit(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	r.putDefining("p-1", "s-1", "z/tool.go", "go Tool.main", "main", "Tool.main")
	r.putDefining("p-2", "s-2", "z/own.go", "go main own", "main")
	for _, c := range []struct {
		name    memory.Name
		project string
		want    string
	}{
		{memory.Name{Name: "main"}, "p-2", "z/own.go="},
		{memory.Name{Name: "main", In: "Tool"}, "p-1", "z/tool.go="},
		{memory.Name{Name: "main", In: "Tool"}, "p-2", "z/own.go=!"},
	} {
		if got := found(r.index.Definitions(c.name, memory.Selection{Project: c.project})); got != c.want {
			t.Errorf("%s of %s: %.200q, want %q", c.name, c.project, got, c.want)
		}
	}
	if got := r.index.Definitions(memory.Name{Name: "main"}, memory.Selection{Project: "p-1"}); len(got) != maxDefinitions {
		t.Errorf("%d definitions of main, want no more than %d", len(got), maxDefinitions)
	}
}
