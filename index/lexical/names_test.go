package lexical

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/recalld/recalld/index"
)

func TestNamed(t *testing.T) {
	x := newIndex(t)
	x.Upsert(1, WithNames(Analyze("func readTransfer"), []string{"readTransfer", "Transfer.read"}))
	x.Upsert(2, WithNames(Analyze("def read_transfer"), []string{"read_transfer", "__init__", "_"}))
	x.Upsert(3, Analyze("read the transfer, readTransfer"))
	x.UpsertFields(4, WithNames(Analyze("class Größe"), []string{"Größe", "READTRANSFER"}), Analyze("src/größe.py"))
	for name, want := range map[string][]uint32{
		"readTransfer": {1, 2, 4}, "READ_TRANSFER": {1, 2, 4}, "readtransfer": {1, 2, 4}, "transfer.READ": {1}, "größe": {4}, "gro\u0308ße": {4}, "GRÖSSE": nil,
		"init": {2}, "_": {2}, "__": nil, "": nil, "read": nil, "transfer": nil, "#readTransfer": nil,
	} {
		if got := x.Named(name, nil); !slices.Equal(got, want) {
			t.Errorf("Named(%q) = %v, want %v", name, got, want)
		}
	}
	if got := x.Named("readTransfer", roaring.BitmapOf(2, 3, 4)); !slices.Equal(got, []uint32{2, 4}) {
		t.Errorf("among 2, 3 and 4: %v, want 2 and 4", got)
	}
	x.Upsert(1, Analyze("func readTransfer"))
	x.Delete(4)
	if got := x.Named("readTransfer", nil); !slices.Equal(got, []uint32{2}) {
		t.Errorf("after a replacement without names and a deletion: %v, want 2", got)
	}
}

// TestNamesChangeNoScores: what words find is the same, to the bit, whatever
// documents declare, through replacements and compactions.
func TestNamesChangeNoScores(t *testing.T) {
	c := newCorpus(5, 3000)
	with, without := newIndex(t), newIndex(t)
	for doc := range uint32(3000) {
		text := c.text(40)
		names := []string{fmt.Sprintf("name%d", doc%700), strings.Fields(text)[0], "x.y"}
		for range 1 + doc%3 {
			with.UpsertFields(doc, WithNames(Analyze(text), names), Analyze("a/b.go"))
			without.UpsertFields(doc, Analyze(text), Analyze("a/b.go"))
		}
		if doc%5 == 0 {
			with.Delete(doc / 2)
			without.Delete(doc / 2)
		}
	}
	for range 50 {
		q := index.Query{Text: c.text(5) + " name7 x.y", Limit: 20}
		a, errA := with.Retrieve(t.Context(), q)
		b, errB := without.Retrieve(t.Context(), q)
		if errA != nil || errB != nil || !slices.Equal(a.Hits, b.Hits) || a.Best != b.Best || a.Content != b.Content {
			t.Fatalf("%q: with names %+v (%v), without %+v (%v)", q.Text, a, errA, b, errB)
		}
	}
	if got := with.Named("Name_7", nil); len(got) == 0 {
		t.Error("no document is found by its name")
	}
}

func TestNamesAreStored(t *testing.T) {
	long := strings.Repeat("n", maxName+1)
	terms := WithNames(Analyze("some words 123 état"), []string{"b", "", "A", "b", "a\xffb", long, "Server.Serve"})
	decoded, err := DecodeTerms(EncodeTerms(terms))
	if err != nil || !slices.Equal(decoded, terms) {
		t.Fatalf("stored and read again: %v, %v, want %v", decoded, err, terms)
	}
	names, words := SplitNames(decoded)
	if want := []string{"A", "Server.Serve", "b"}; !slices.Equal(names, want) {
		t.Errorf("names are %q, want %q", names, want)
	}
	if !slices.Equal(words, Analyze("some words 123 état")) {
		t.Errorf("words are %v", words)
	}
	if names, words := SplitNames(Analyze("# no name #no_name")); names != nil || len(words) == 0 {
		t.Errorf("text gives the names %q beside %v, want none", names, words)
	}
}

func FuzzNames(f *testing.F) {
	f.Add("readTransfer", "read_transfer")
	f.Add("Größe", "größe")
	f.Add("__", "_")
	f.Add("a\xff", "İ")
	f.Fuzz(func(t *testing.T, a, b string) {
		x := newIndex(t)
		terms := WithNames(Analyze("word"), []string{a, b})
		if decoded, err := DecodeTerms(EncodeTerms(terms)); err != nil || !slices.Equal(decoded, terms) {
			t.Fatalf("stored and read again: %v, %v, want %v", decoded, err, terms)
		}
		x.Upsert(7, terms)
		names, _ := SplitNames(terms)
		for _, name := range names {
			if !slices.Equal(x.Named(name, nil), []uint32{7}) {
				t.Errorf("%q is declared and not found", name)
			}
		}
		folded := func(name string) string { return string(appendFolded(nil, name)) }
		same := slices.ContainsFunc(names, func(name string) bool { return folded(name) == folded(b+"x") })
		if found := len(x.Named(b+"x", nil)) > 0; found != same {
			t.Errorf("%q is found: %v, though %q are declared", b+"x", found, names)
		}
	})
}
