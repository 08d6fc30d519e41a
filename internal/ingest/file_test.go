package ingest

import (
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// TestNamesInContainers: names are looked up under what a chunk's symbol says they
// are declared in as well.
func TestNamesInContainers(t *testing.T) {
	for name, test := range map[string]struct{ symbol, names, want string }{
		"a method":               {"Server.Serve", "Serve", "Server.Serve"},
		"nested":                 {"shop.Cart.add", "add", "Cart.add"},
		"units joined":           {"Server.Serve, Server.Close, New", "Serve Close New", "Server.Serve Server.Close"},
		"a class with members":   {"Cart", "Cart add total", "Cart.add Cart.total"},
		"a part of a class":      {"shop.Cart", "add total", "Cart.add Cart.total"},
		"a function":             {"serve", "serve", ""},
		"nothing declared":       {"Server.Serve", "", ""},
		"no symbol":              {"", "serve", ""},
		"a list that was cut":    {"A.one, A.tw", "one two", "A.one"},
		"a name of another kind": {"Guide > Install", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(inContainers(test.symbol, strings.Fields(test.names)), " ")
			if !sameWords(got, test.want) {
				t.Errorf("inContainers(%q, %q) = %q, want %q", test.symbol, test.names, got, test.want)
			}
		})
	}
}

// sameWords says that two lists have the same words; a name may be said twice.
func sameWords(a, b string) bool {
	have, want := map[string]bool{}, map[string]bool{}
	for w := range strings.FieldsSeq(a) {
		have[w] = true
	}
	for w := range strings.FieldsSeq(b) {
		want[w] = true
		if !have[w] {
			return false
		}
	}
	return len(have) == len(want)
}

// TestQualifiedLeavesDocuments: what a caller hands over is not written to.
func TestQualifiedLeavesDocuments(t *testing.T) {
	id := memory.DocumentID("go A.b")
	docs := []memory.Document{{ID: id, Text: "go A.b", Defines: make([]string, 1, 8)}}
	docs[0].Defines[0] = "b"
	f := memory.File{Chunks: []memory.FileChunk{{Doc: id, Symbol: "A.b"}}}
	out := qualified(f, docs)
	if len(out[0].Defines) < 2 || len(docs[0].Defines) != 1 || docs[0].Defines[:2][1] != "" {
		t.Errorf("qualified gives %q and leaves %q, want A.b added to a copy", out[0].Defines, docs[0].Defines[:2])
	}
}
