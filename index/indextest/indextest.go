// Package indextest is the conformance suite of index.Retriever. Every implementation runs
// it, so that a caller may swap one for another and so that the promises of the contract
// are tested in one place.
//
// Vocabulary. A subject is a retriever together with the means to change what it searches.
// Texts are plain English words: a retriever by words and one by meaning must both prefer a
// document that shares the query's words.
//
// It also measures processor time for benchmarks.
package indextest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/recalld/recalld/index"
)

// Subject is a retriever under test and how its documents are changed. Put and
// Delete return once the change is visible to Retrieve; both may be called
// beside Retrieve and beside each other. They report failures to the test that
// the subject was opened for.
type Subject struct {
	Retriever index.Retriever
	// Put adds a document or replaces it.
	Put func(doc uint32, text string)
	// Delete removes a document. Deleting an unknown one is a no-op.
	Delete func(doc uint32)
}

// Run tests that the retrievers returned by open keep the contract. It calls open once per
// case; each subject starts without documents.
func Run(t *testing.T, open func(t *testing.T) Subject) {
	cases := []struct {
		name string
		test func(t *testing.T, s Subject)
	}{
		{"Name", testName},
		{"BeforeAnyDocument", testBeforeAnyDocument},
		{"Upsert", testUpsert},
		{"Replace", testReplace},
		{"Delete", testDelete},
		{"FilterFirst", testFilterFirst},
		{"FilterEmpty", testFilterEmpty},
		{"FilterUnknownDocuments", testFilterUnknown},
		{"FilterIsNotChanged", testFilterIsNotChanged},
		{"Universe", testUniverse},
		{"StableOrder", testStableOrder},
		{"Ties", testTies},
		{"Limit", testLimit},
		{"Deadline", testDeadline},
		{"UnknownWords", testUnknownWords},
		{"Best", testBest},
		{"Searched", testSearched},
		{"BesideChanges", testBesideChanges},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
}

func testName(t *testing.T, s Subject) {
	if s.Retriever.Name() == "" {
		t.Error("the retriever has no name")
	}
	if a, b := s.Retriever.Name(), s.Retriever.Name(); a != b {
		t.Errorf("the name changes: %q, then %q", a, b)
	}
}

func testBeforeAnyDocument(t *testing.T, s Subject) {
	res, err := s.Retriever.Retrieve(t.Context(), index.Query{Text: "lantern", Limit: 5})
	if err != nil && !errors.Is(err, index.ErrNotReady) {
		t.Fatalf("searching nothing: got error %v, want none or ErrNotReady", err)
	}
	if len(res.Hits) != 0 {
		t.Errorf("searching nothing: got hits %v, want none", res.Hits)
	}
}

func testUpsert(t *testing.T, s Subject) {
	putAnimals(s)
	for doc, text := range animals {
		t.Run(fmt.Sprint(doc), func(t *testing.T) {
			res := retrieve(t, s, index.Query{Text: text, Limit: 3})
			if len(res.Hits) == 0 || res.Hits[0].Doc != doc {
				t.Errorf("asking for the text of document %d: got %v, want it first", doc, res.Hits)
			}
		})
	}
}

func testReplace(t *testing.T, s Subject) {
	s.Put(1, "zebra")
	s.Put(2, "zebra harbor")
	s.Put(1, "lantern")
	s.Put(1, "lantern") // replacing with the same text changes nothing

	res := retrieve(t, s, index.Query{Text: "lantern", Limit: 5})
	if len(res.Hits) == 0 || res.Hits[0].Doc != 1 {
		t.Errorf("asking for the new text: got %v, want document 1 first", res.Hits)
	}
	if n := count(res.Hits, 1); n > 1 {
		t.Errorf("the replaced document is returned %d times, want once", n)
	}
	res = retrieve(t, s, index.Query{Text: "zebra", Limit: 5})
	if len(res.Hits) == 0 || res.Hits[0].Doc != 2 {
		t.Errorf("asking for the old text: got %v, want document 2, which still has it, first", res.Hits)
	}
	if got := retrieve(t, s, index.Query{Text: "zebra", Limit: 5}).Searched; got != 2 {
		t.Errorf("after replacing, Searched is %d, want 2", got)
	}
}

func testDelete(t *testing.T, s Subject) {
	putAnimals(s)
	const text = "zebra stripes grassland"
	if doc := retrieve(t, s, index.Query{Text: text, Limit: 1}).Hits; len(doc) != 1 || doc[0].Doc != 3 {
		t.Fatalf("before deleting: got %v, want document 3", doc)
	}
	s.Delete(3)
	s.Delete(3)       // deleting twice
	s.Delete(999_999) // never added

	if res := retrieve(t, s, index.Query{Text: text, Limit: 100}); count(res.Hits, 3) != 0 {
		t.Errorf("a deleted document is returned: %v", res.Hits)
	}
	if res := retrieve(t, s, index.Query{Text: text, Allow: roaring.BitmapOf(3), Limit: 1}); len(res.Hits) != 0 {
		t.Errorf("a deleted document that Allow still holds is returned: %v", res.Hits)
	}
	s.Put(3, text)
	if res := retrieve(t, s, index.Query{Text: text, Limit: 1}); len(res.Hits) != 1 || res.Hits[0].Doc != 3 {
		t.Errorf("after putting it back: got %v, want document 3", res.Hits)
	}
}

// testFilterFirst fails for a retriever that filters after ranking: several hundred better
// documents stand before the allowed ones.
func testFilterFirst(t *testing.T, s Subject) {
	const strong = 600
	for doc := range uint32(strong) {
		s.Put(doc, "lantern")
	}
	weak := []uint32{strong + 7, 70_001} // one of them in another bitmap container
	for _, doc := range weak {
		s.Put(doc, "lantern harbor granite velvet copper meadow thunder walnut")
	}
	res := retrieve(t, s, index.Query{Text: "lantern", Allow: roaring.BitmapOf(weak...), Limit: 5})
	if got := docs(res.Hits); !slices.Equal(got, weak) {
		t.Errorf("only documents %v allowed: got %v", weak, got)
	}
	// Half of the strong ones are allowed as well: still nothing else may be returned.
	allow := roaring.BitmapOf(weak...)
	for doc := uint32(0); doc < strong; doc += 2 {
		allow.Add(doc)
	}
	retrieve(t, s, index.Query{Text: "lantern", Allow: allow, Limit: strong})
	all := retrieve(t, s, index.Query{Text: "lantern", Limit: 5})
	if want := []uint32{0, 1, 2, 3, 4}; !slices.Equal(docs(all.Hits), want) {
		t.Errorf("without a filter: got %v, want %v", docs(all.Hits), want)
	}
}

func testFilterEmpty(t *testing.T, s Subject) {
	putAnimals(s)
	res := retrieve(t, s, index.Query{Text: "zebra", Allow: roaring.New(), Limit: 5})
	if len(res.Hits) != 0 || res.Searched != 0 {
		t.Errorf("nothing allowed: got hits %v and Searched %d, want none and 0", res.Hits, res.Searched)
	}
}

func testFilterUnknown(t *testing.T, s Subject) {
	putAnimals(s)
	res := retrieve(t, s, index.Query{Text: "zebra", Allow: roaring.BitmapOf(500, 80_000), Limit: 5})
	if len(res.Hits) != 0 {
		t.Errorf("only unknown documents allowed: got %v, want none", res.Hits)
	}
}

func testFilterIsNotChanged(t *testing.T, s Subject) {
	putAnimals(s)
	allow, universe := roaring.BitmapOf(1, 3, 5, 500), roaring.BitmapOf(1, 2, 600)
	allowed, counted := allow.Clone(), universe.Clone()
	retrieve(t, s, index.Query{Text: "zebra", Allow: allow, Universe: universe, Limit: 5})
	if !allow.Equals(allowed) || !universe.Equals(counted) {
		t.Errorf("Retrieve changed its query: Allow %v, Universe %v", allow, universe)
	}
}

// testUniverse tests that statistics affect scores but never which documents may be
// returned.
func testUniverse(t *testing.T, s Subject) {
	putAnimals(s)
	universes := map[string]*roaring.Bitmap{
		"all":      nil,
		"none":     roaring.New(),
		"disjoint": roaring.BitmapOf(1, 2),
		"unknown":  roaring.BitmapOf(4_000),
	}
	for name, universe := range universes {
		t.Run(name, func(t *testing.T) {
			q := index.Query{Text: "zebra", Allow: roaring.BitmapOf(3, 5), Universe: universe, Limit: 5}
			res := retrieve(t, s, q)
			if len(res.Hits) == 0 || res.Hits[0].Doc != 3 {
				t.Errorf("got %v, want document 3 first", res.Hits)
			}
		})
	}
}

func testStableOrder(t *testing.T, s Subject) {
	words := strings.Fields("lantern harbor granite velvet copper meadow thunder walnut")
	for doc := range uint32(300) {
		n := int(doc)
		s.Put(doc, strings.Join([]string{words[n%8], words[n/8%8], words[(n/3)%8]}, " "))
	}
	q := index.Query{Text: "lantern velvet thunder", Limit: 50}
	first := retrieve(t, s, q)
	for range 10 {
		if again := retrieve(t, s, q); !slices.Equal(first.Hits, again.Hits) {
			t.Fatalf("the same query twice:\n%v\n%v", first.Hits, again.Hits)
		}
	}
}

// testTies puts the same text under many numbers, highest first. Low numbers come first,
// whatever the order of arrival and the limit.
func testTies(t *testing.T, s Subject) {
	for doc := uint32(500); doc > 0; doc-- {
		s.Put(doc, "copper walnut")
	}
	for _, limit := range []int{1, 10, 250} {
		want := make([]uint32, limit)
		for i := range want {
			want[i] = uint32(i) + 1
		}
		res := retrieve(t, s, index.Query{Text: "walnut", Limit: limit})
		if got := docs(res.Hits); !slices.Equal(got, want) {
			t.Errorf("limit %d over equal documents: got %v, want the lowest numbers", limit, got)
		}
	}
}

func testLimit(t *testing.T, s Subject) {
	for doc := range uint32(20) {
		s.Put(doc, strings.Repeat("harbor ", int(doc)+1)+"meadow")
	}
	all := retrieve(t, s, index.Query{Text: "harbor", Limit: 1_000})
	if len(all.Hits) != 20 {
		t.Fatalf("limit beyond the collection: got %d hits, want all 20", len(all.Hits))
	}
	for limit := 1; limit <= 20; limit++ {
		res := retrieve(t, s, index.Query{Text: "harbor", Limit: limit})
		if !slices.Equal(res.Hits, all.Hits[:limit]) {
			t.Errorf("limit %d: got %v, want the first of %v", limit, res.Hits, all.Hits)
		}
	}
}

func testDeadline(t *testing.T, s Subject) {
	putAnimals(s)
	expired, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	cancelled, stop := context.WithCancel(t.Context())
	stop()
	q := index.Query{Text: "zebra", Limit: 5}
	for range 2 { // the second time with warm caches
		if _, err := s.Retriever.Retrieve(expired, q); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("deadline passed: got error %v, want DeadlineExceeded", err)
		}
		if _, err := s.Retriever.Retrieve(cancelled, q); !errors.Is(err, context.Canceled) {
			t.Errorf("context cancelled: got error %v, want Canceled", err)
		}
		retrieve(t, s, q)
	}
}

func testUnknownWords(t *testing.T, s Subject) {
	putAnimals(s)
	// A lexical retriever finds nothing, a vector retriever always finds something: both
	// are fine.
	retrieve(t, s, index.Query{Text: "qwxyzzy vrmblt", Limit: 5})
}

func testBest(t *testing.T, s Subject) {
	putAnimals(s)
	for _, text := range animals {
		res := retrieve(t, s, index.Query{Text: text, Limit: 5})
		if len(res.Hits) > 0 && !(res.Best > 0) {
			t.Errorf("query %q: Best is %v beside hits, want it positive", text, res.Best)
		}
	}
}

func testSearched(t *testing.T, s Subject) {
	putAnimals(s)
	for _, c := range []struct {
		name  string
		allow *roaring.Bitmap
		want  int
	}{
		{"no filter", nil, len(animals)},
		{"two allowed", roaring.BitmapOf(2, 3), 2},
		{"one allowed", roaring.BitmapOf(5), 1},
	} {
		res := retrieve(t, s, index.Query{Text: "zebra", Allow: c.allow, Limit: 1})
		if res.Searched != c.want {
			t.Errorf("%s: Searched is %d, want %d", c.name, res.Searched, c.want)
		}
	}
	s.Delete(2)
	if res := retrieve(t, s, index.Query{Text: "zebra", Limit: 1}); res.Searched != len(animals)-1 {
		t.Errorf("after a delete: Searched is %d, want %d", res.Searched, len(animals)-1)
	}
}

// testBesideChanges searches while documents are added and deleted. Every search must find
// the documents that never change and none of those deleted before.
func testBesideChanges(t *testing.T, s Subject) {
	const steady, gone, churned, changes = 100, 40, 60, 300
	for doc := range uint32(steady) {
		s.Put(doc, fmt.Sprintf("granite velvet number%d", doc))
	}
	for doc := range uint32(gone) {
		s.Put(steady+doc, "granite velvet")
	}
	for doc := range uint32(gone) {
		s.Delete(steady + doc)
	}
	keep := roaring.New()
	keep.AddRange(0, steady)

	changed := make(chan struct{})
	var changers, searchers sync.WaitGroup
	for changer := range uint32(2) {
		changers.Go(func() {
			// The two changers use different documents, since order between them is not
			// guaranteed.
			base := steady + gone + changer*churned
			for i := range uint32(changes) {
				doc := base + i*7%churned
				if i%3 == 2 {
					s.Delete(doc)
				} else {
					s.Put(doc, fmt.Sprintf("granite copper number%d", i))
				}
			}
		})
	}
	for searcher := range uint32(4) {
		searchers.Go(func() {
			for round := 0; ; round++ {
				select {
				case <-changed:
					if round > 0 {
						return
					}
				default:
				}
				one := (searcher*25 + uint32(round)) % steady
				text := fmt.Sprintf("granite number%d", one)
				res := retrieve(t, s, index.Query{Text: text, Allow: keep, Limit: 10})
				if len(res.Hits) == 0 || res.Hits[0].Doc != one {
					t.Errorf("beside changes: got %v, want document %d first", res.Hits, one)
				}
				for _, h := range retrieve(t, s, index.Query{Text: "granite velvet", Limit: 300}).Hits {
					if h.Doc >= steady && h.Doc < steady+gone {
						t.Errorf("beside changes: document %d, deleted before, is returned", h.Doc)
					}
				}
				if t.Failed() {
					return
				}
			}
		})
	}
	changers.Wait()
	close(changed)
	searchers.Wait()
}

// animals are documents without a word in common.
var animals = map[uint32]string{
	1: "walrus tusks iceberg",
	2: "falcon feathers cliff",
	3: "zebra stripes grassland",
	4: "octopus tentacles reef",
	5: "camel humps desert",
}

func putAnimals(s Subject) {
	for doc := uint32(5); doc > 0; doc-- {
		s.Put(doc, animals[doc])
	}
}

// retrieve queries and checks what holds for every result. Any goroutine may call it.
func retrieve(t *testing.T, s Subject, q index.Query) index.Result {
	t.Helper()
	res, err := s.Retriever.Retrieve(t.Context(), q)
	if err != nil {
		t.Errorf("retrieving %q: %v", q.Text, err)
		return index.Result{}
	}
	if len(res.Hits) > q.Limit {
		t.Errorf("retrieving %q: %d hits, over the limit of %d", q.Text, len(res.Hits), q.Limit)
	}
	for i, h := range res.Hits {
		if q.Allow != nil && !q.Allow.Contains(h.Doc) {
			t.Errorf("retrieving %q: document %d is returned and not allowed", q.Text, h.Doc)
		}
		if s := float64(h.Score); math.IsNaN(s) || math.IsInf(s, 0) {
			t.Errorf("retrieving %q: document %d scores %v", q.Text, h.Doc, h.Score)
		}
		if i == 0 {
			continue
		}
		if prev := res.Hits[i-1]; prev.Score < h.Score || prev.Score == h.Score && prev.Doc >= h.Doc {
			t.Errorf("retrieving %q: hit %v stands before %v", q.Text, prev, h)
		}
	}
	// The bound is summed in another order than a score: allow for rounding.
	if len(res.Hits) > 0 && res.Hits[0].Score > res.Best*(1+1e-5) {
		t.Errorf("retrieving %q: score %v is over Best %v", q.Text, res.Hits[0].Score, res.Best)
	}
	return res
}

func docs(hits []index.Hit) []uint32 {
	out := make([]uint32, len(hits))
	for i, h := range hits {
		out[i] = h.Doc
	}
	return out
}

func count(hits []index.Hit, doc uint32) int {
	n := 0
	for _, h := range hits {
		if h.Doc == doc {
			n++
		}
	}
	return n
}
