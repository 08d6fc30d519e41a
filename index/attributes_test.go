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

// below is a clause for all values that begin with a prefix.
func below(key, prefix string) Clause {
	return Clause{Key: key, Pattern: &Pattern{Name: prefix, Prefix: prefix, Fits: func(string) bool { return true }}}
}

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
		{"prefix", []Clause{below("path", "index/")}, []uint32{2}},
		{"a longer part", []Clause{below("path", "index")}, []uint32{2, 4}},
		{"prefix or value", []Clause{{Key: "path", Values: []string{"web/index.ts"}, Pattern: below("path", "indexer").Pattern}}, []uint32{3, 4}},
		{"pattern", []Clause{{Key: "path", Pattern: &Pattern{Name: "*.ts", Fits: func(v string) bool { return strings.HasSuffix(v, ".ts") }}}}, []uint32{3}},
		{"empty prefix: any value", []Clause{below("path", "")}, []uint32{2, 3, 4}},
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
	filters := [][]Clause{nil, {one("kind", "lesson")}, {below("kind", "les")}}
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

// TestAttributesAgainstModel changes documents at random, as a whole and by
// differences, and compares with a map, patterns that follow what changes included.
// Then it takes all away and looks for what was left behind.
func TestAttributesAgainstModel(t *testing.T) {
	var a Attributes
	model := map[uint32]map[Attr]bool{}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 4))
	some := func(n int) []Attr {
		attrs := make([]Attr, r.IntN(n))
		for i := range attrs {
			attrs[i] = Attr{fmt.Sprint("key", r.IntN(3)), fmt.Sprint(r.IntN(40))}
		}
		return attrs
	}
	compare := func() {
		t.Helper()
		key := fmt.Sprint("key", r.IntN(3))
		for value := range 40 { // more patterns than are kept
			value := fmt.Sprint(value)
			for _, pattern := range []bool{false, true} {
				want := roaring.New()
				for doc, attrs := range model {
					for x := range attrs {
						if x.Key == key && (x.Value == value || pattern && strings.HasPrefix(x.Value, value)) {
							want.Add(doc)
						}
					}
				}
				clause := one(key, value)
				if pattern {
					clause = below(key, value)
				}
				if got := a.Match(clause); !got.Equals(want) {
					t.Fatalf("%s=%s (pattern %v): got %v, want %v", key, value, pattern, got, want)
				}
			}
		}
	}
	for step := range 5_000 {
		doc := r.Uint32N(200)
		switch r.IntN(4) {
		case 0:
			a.Delete(doc)
			delete(model, doc)
		case 1, 2:
			if model[doc] == nil {
				model[doc] = map[Attr]bool{}
			}
			add, remove := some(3), some(6)
			remove = slices.DeleteFunc(remove, func(x Attr) bool { return slices.Contains(add, x) })
			a.Change(doc, add, remove)
			for _, x := range add {
				model[doc][x] = true
			}
			for _, x := range remove {
				delete(model[doc], x)
			}
		default:
			attrs := some(4)
			a.Set(doc, attrs)
			model[doc] = map[Attr]bool{}
			for _, x := range attrs {
				model[doc][x] = true
			}
		}
		if got, want := a.Of(doc), len(model[doc]); len(got) != want {
			t.Fatalf("step %d: document %d has %v, want %d attributes", step, doc, got, want)
		}
		if step%50 == 0 {
			compare()
		}
	}
	compare()
	if a.Len() != len(model) {
		t.Errorf("Len is %d, want %d", a.Len(), len(model))
	}
	for doc := range model {
		a.Delete(doc)
	}
	for key, v := range a.keys {
		if len(v.of) > 0 || v.order.Len() > 0 || len(v.patterns) > maxPatterns {
			t.Errorf("%s: %d values, %d in order and %d patterns are left", key, len(v.of), v.order.Len(), len(v.patterns))
		}
		for name, u := range v.patterns {
			if !u.docs.IsEmpty() {
				t.Errorf("%s: the pattern %q still has %v", key, name, u.docs)
			}
		}
	}
	if len(a.sets) != 0 || !a.all.IsEmpty() || a.of.Len() != 0 {
		t.Errorf("after deleting all: %d sets, %v known, %d documents are left", len(a.sets), a.all, a.of.Len())
	}
}

// TestPatternIsComparedOnce: a question with a pattern that was asked before looks at
// no value again, however many there are, and finds what has appeared since.
func TestPatternIsComparedOnce(t *testing.T) {
	var a Attributes
	for doc := range uint32(5_000) {
		a.Set(doc, []Attr{{"path", fmt.Sprintf("d%d/f%d.go", doc%10, doc)}})
	}
	compared := 0
	clause := Clause{Key: "path", Pattern: &Pattern{Name: "d3/*7.go", Prefix: "d3/", Fits: func(v string) bool {
		compared++
		return strings.HasSuffix(v, "7.go")
	}}}
	a.Match(clause)
	if compared != 500 {
		t.Errorf("%d values were compared, want the 500 below the prefix", compared)
	}
	compared = 0
	before := a.Match(clause).GetCardinality()
	a.Set(9_000, []Attr{{"path", "d3/new7.go"}})
	if got := a.Match(clause); compared != 1 || got.GetCardinality() != before+1 {
		t.Errorf("%d values were compared, want the new one alone; %d documents, want %d", compared, got.GetCardinality(), before+1)
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
					t.Error("a document that was not changed is not matched")
				}
				a.Match(one("kind", "lesson"), clause)
				a.Match(below("n", fmt.Sprint(i%20)))
			}
		})
	}
	wg.Wait()
}

// TestAttributesFill: filled documents are as if each had been set.
func TestAttributesFill(t *testing.T) {
	var one, all Attributes
	attrs := []Attr{{"kind", "lesson"}, {"repo", "a"}, {"kind", "lesson"}}
	all.Set(1, []Attr{{"repo", "a"}})
	one.Set(1, []Attr{{"repo", "a"}})
	pattern := Clause{Key: "repo", Pattern: &Pattern{Name: "a*", Prefix: "a", Fits: func(v string) bool { return v[0] == 'a' }}}
	all.Match(pattern) // what is known of a pattern is kept
	one.Match(pattern)
	docs := []uint32{5, 2, 70_000}
	all.Fill(docs, attrs)
	for _, doc := range docs {
		one.Set(doc, attrs)
	}
	for _, clause := range []Clause{{Key: "kind", Values: []string{"lesson"}}, pattern} {
		if got, want := all.Match(clause), one.Match(clause); !got.Equals(want) {
			t.Errorf("%v matches %v, want %v", clause, got, want)
		}
	}
	for _, doc := range docs {
		if !slices.Equal(all.Of(doc), one.Of(doc)) {
			t.Errorf("%d has %v, want %v", doc, all.Of(doc), one.Of(doc))
		}
		all.Delete(doc)
	}
	if all.Len() != 1 || !all.Match(Clause{Key: "kind", Values: []string{"lesson"}}).IsEmpty() {
		t.Error("deleted documents are left")
	}
}
