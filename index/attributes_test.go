package index

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
)

func one(key, value string) Clause { return Clause{Key: key, Values: []string{value}} }

func TestAttributesMatch(t *testing.T) {
	var a Attributes
	a.Set(1, []Attr{{"kind", "lesson"}, {"tag", "npm"}, {"tag", "ci"}})
	a.Set(2, []Attr{{"kind", "chunk"}, {"lang", "go"}, {"path", "index/fuse.go"}})
	a.Set(3, []Attr{{"kind", "chunk"}, {"lang", "ts"}, {"path", "web/index.ts"}})
	a.Set(4, []Attr{{"kind", "chunk"}, {"lang", "go"}, {"path", "indexer/run.go"}})
	a.Set(5, nil)
	a.Set(70_000, []Attr{{"kind", "lesson"}, {"kind", "lesson"}})

	for _, c := range []struct {
		name    string
		clauses []Clause
		want    []uint32
	}{
		{"no clause", nil, []uint32{1, 2, 3, 4, 5, 70_000}},
		{"one value", []Clause{one("kind", "lesson")}, []uint32{1, 70_000}},
		{"alternatives", []Clause{{Key: "lang", Values: []string{"go", "ts"}}}, []uint32{2, 3, 4}},
		{"alternatives, one unknown", []Clause{{Key: "lang", Values: []string{"zig", "ts"}}}, []uint32{3}},
		{"several values of a key", []Clause{one("tag", "npm"), one("tag", "ci")}, []uint32{1}},
		{"clauses are ANDed", []Clause{one("kind", "chunk"), one("lang", "go")}, []uint32{2, 4}},
		{"contradiction", []Clause{one("kind", "lesson"), one("lang", "go")}, nil},
		{"unknown value", []Clause{one("kind", "step")}, nil},
		{"unknown key", []Clause{one("colour", "red")}, nil},
		{"unknown key after another", []Clause{one("kind", "chunk"), one("colour", "red")}, nil},
		{"no values", []Clause{{Key: "kind"}}, nil},
		{"a value is not a prefix", []Clause{one("path", "index")}, nil},
		{"prefix", []Clause{{Key: "path", Values: []string{"index/"}, Prefix: true}}, []uint32{2}},
		{"prefixes", []Clause{{Key: "path", Values: []string{"index", "web/"}, Prefix: true}}, []uint32{2, 3, 4}},
		{"empty prefix: any value", []Clause{{Key: "path", Values: []string{""}, Prefix: true}}, []uint32{2, 3, 4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := a.Match(c.clauses...).ToArray(); !slices.Equal(got, c.want) {
				t.Errorf("got documents %v, want %v", got, c.want)
			}
		})
	}
}

func TestAttributesMatchBelongsToTheCaller(t *testing.T) {
	var a Attributes
	a.Set(1, []Attr{{"kind", "lesson"}})
	filters := [][]Clause{nil, {one("kind", "lesson")}, {{Key: "kind", Values: []string{"les"}, Prefix: true}}}
	for _, filter := range filters {
		a.Match(filter...).Add(99)
		if got := a.Match(filter...).ToArray(); !slices.Equal(got, []uint32{1}) {
			t.Errorf("filter %v: changing an answer changed the next: %v", filter, got)
		}
	}
}

func TestAttributesEmpty(t *testing.T) {
	var a Attributes
	a.Delete(1)
	if got := a.Match(one("kind", "lesson")); !got.IsEmpty() || !a.Match().IsEmpty() || a.Len() != 0 {
		t.Errorf("an empty index matches %v", got)
	}
}

// TestAttributesAgainstModel changes documents at random and compares with a
// map, then takes all away and looks for what was left behind.
func TestAttributesAgainstModel(t *testing.T) {
	var a Attributes
	model := map[uint32][]Attr{}
	r := rand.New(rand.NewPCG(3, 4))
	for range 5_000 {
		doc := r.Uint32N(200)
		if r.IntN(4) == 0 {
			a.Delete(doc)
			delete(model, doc)
			continue
		}
		attrs := make([]Attr, r.IntN(4))
		for i := range attrs {
			attrs[i] = Attr{fmt.Sprint("key", r.IntN(3)), fmt.Sprint(r.IntN(20))}
		}
		a.Set(doc, attrs)
		model[doc] = attrs
	}
	for key := range 3 {
		for value := range 20 {
			key, value := fmt.Sprint("key", key), fmt.Sprint(value)
			for _, prefix := range []bool{false, true} {
				want := roaring.New()
				for doc, attrs := range model {
					if slices.ContainsFunc(attrs, func(x Attr) bool {
						return x.Key == key && (x.Value == value || prefix && strings.HasPrefix(x.Value, value))
					}) {
						want.Add(doc)
					}
				}
				got := a.Match(Clause{Key: key, Values: []string{value}, Prefix: prefix})
				if !got.Equals(want) {
					t.Errorf("%s=%s (prefix %v): got %v, want %v", key, value, prefix, got, want)
				}
			}
		}
	}
	if a.Len() != len(model) {
		t.Errorf("Len is %d, want %d", a.Len(), len(model))
	}
	for doc := range model {
		a.Delete(doc)
	}
	if len(a.postings) != 0 || len(a.sets) != 0 || !a.all.IsEmpty() || a.of.Len() != 0 {
		t.Errorf("after deleting all: %d keys, %d sets, %v known, %d documents are left",
			len(a.postings), len(a.sets), a.all, a.of.Len())
	}
}

func TestAttributesConcurrently(t *testing.T) {
	var a Attributes
	a.Set(0, []Attr{{"kind", "lesson"}})
	var wg sync.WaitGroup
	for w := range uint32(4) {
		wg.Go(func() {
			for i := range uint32(500) {
				doc := 1 + w*100 + i%100
				a.Set(doc, []Attr{{"kind", "lesson"}, {"n", fmt.Sprint(i % 7)}})
				if i%3 == 0 {
					a.Delete(doc)
				}
			}
		})
		wg.Go(func() {
			for i := range 500 {
				clause := Clause{Key: "n", Values: []string{fmt.Sprint(i % 7), "1"}}
				if got := a.Match(one("kind", "lesson")); !got.Contains(0) {
					t.Error("a document that nobody touches is not matched")
				}
				a.Match(one("kind", "lesson"), clause)
			}
		})
	}
	wg.Wait()
}
