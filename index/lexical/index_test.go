package lexical

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/index/indextest"
)

func TestConformance(t *testing.T) {
	indextest.Run(t, func(t *testing.T) indextest.Subject {
		x := newIndex(t)
		return indextest.Subject{
			Retriever: x,
			Put:       func(doc uint32, text string) { x.Upsert(doc, Analyze(text)) },
			Delete:    x.Delete,
		}
	})
}

func newIndex(t testing.TB) *Index {
	t.Helper()
	x, err := New(Options{})
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	return x
}

// corpus makes documents and queries with the long tail of a natural language:
// few words are nearly everywhere, most are rare. Words survive analysis as they
// are, so that lengths and counts are what the test asked for.
type corpus struct {
	rng   *rand.Rand
	zipf  *rand.Zipf
	words []string
}

func newCorpus(seed uint64, vocabulary int) *corpus {
	return newCorpusOf(rand.New(rand.NewPCG(seed, 1)), vocabulary)
}

func newCorpusOf(rng *rand.Rand, vocabulary int) *corpus {
	words := make([]string, vocabulary)
	for i := range words {
		// Letters outside ASCII are not stemmed.
		words[i] = fmt.Sprintf("ø%s", strings.Map(func(r rune) rune { return r - '0' + 'a' }, fmt.Sprint(i)))
	}
	return &corpus{rng: rng, zipf: rand.NewZipf(rng, 1.1, 8, uint64(vocabulary-1)), words: words}
}

func (c *corpus) text(n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = c.words[c.zipf.Uint64()]
	}
	return strings.Join(words, " ")
}

// docs is a random set of about share of the documents below limit.
func (c *corpus) docs(limit uint32, share float64) *roaring.Bitmap {
	set := roaring.New()
	for doc := range limit {
		if c.rng.Float64() < share {
			set.Add(doc)
		}
	}
	return set
}

// TestAgainstReference changes an index and the reference alike and compares
// their answers, through replacements, deletions and compactions.
func TestAgainstReference(t *testing.T) {
	for _, options := range []Options{{}, {K1: 2, B: 0.3, ExtraWeight: 2.25}} {
		t.Run(fmt.Sprint(options), func(t *testing.T) {
			c := newCorpus(7, 400)
			x, err := New(options)
			if err != nil {
				t.Fatalf("New: %v", err)
			}
			ref := newReference(options)
			const documents = 600
			compactions := 0
			for step := range 6000 {
				doc := c.rng.Uint32N(documents)
				before := len(x.state.docs)
				if c.rng.IntN(4) == 0 {
					x.Delete(doc)
					ref.delete(doc)
				} else {
					body := Analyze(c.text(c.rng.IntN(40)))
					var extra index.Terms
					if c.rng.IntN(3) == 0 {
						extra = Analyze(c.text(c.rng.IntN(6)))
					}
					x.UpsertFields(doc, body, extra)
					ref.upsert(doc, body, extra)
				}
				if len(x.state.docs) < before {
					compactions++
				}
				if step%30 == 0 {
					compare(t, c, x, ref, documents)
				}
				if t.Failed() {
					t.Fatalf("at step %d", step)
				}
			}
			if compactions == 0 {
				t.Error("the index was never compacted: the test misses it")
			}
		})
	}
}

// compare asks both a random query with random sets.
func compare(t *testing.T, c *corpus, x *Index, ref *reference, documents uint32) {
	t.Helper()
	q := index.Query{Text: c.text(1 + c.rng.IntN(10)), Limit: 1 + c.rng.IntN(20)}
	switch c.rng.IntN(5) {
	case 0:
		q.Text += " the unknown"
	case 1:
		q.Text = "unknown"
	}
	shares := []float64{0, 0.05, 0.5, 1}
	if c.rng.IntN(2) == 0 {
		q.Allow = c.docs(documents, shares[c.rng.IntN(len(shares))])
	}
	switch c.rng.IntN(3) {
	case 0:
		q.Universe = c.docs(documents, shares[c.rng.IntN(len(shares))])
	case 1:
		q.Universe = q.Allow
	}
	want, best, searched := ref.retrieve(q)
	got, err := x.Retrieve(t.Context(), q)
	if len(ref.docs) == 0 {
		if !errors.Is(err, index.ErrNotReady) {
			t.Errorf("empty index: got error %v, want ErrNotReady", err)
		}
		return
	}
	if err != nil {
		t.Errorf("Retrieve(%q): %v", q.Text, err)
		return
	}
	if !near(float64(got.Best), best) || got.Searched != searched {
		t.Errorf("query %q: Best %v and Searched %d, want %v and %d", q.Text, got.Best, got.Searched, best, searched)
	}
	if n := min(len(want), q.Limit); len(got.Hits) != n {
		t.Errorf("query %q: %d hits, want %d", q.Text, len(got.Hits), n)
		return
	}
	scores := make(map[uint32]float32, len(want))
	for _, h := range want {
		scores[h.Doc] = h.Score
	}
	for i, h := range got.Hits {
		// Documents that score the same but for rounding may change places; the
		// score at a place, and that of the document there, may not.
		if !near(float64(h.Score), float64(want[i].Score)) || !near(float64(h.Score), float64(scores[h.Doc])) {
			t.Errorf("query %q: hit %d is %v, want %v; the reference gives that document %v", q.Text, i, h, want[i], scores[h.Doc])
		}
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-5*max(math.Abs(a), math.Abs(b)) }

func TestBestIsAFractionScale(t *testing.T) {
	x := newIndex(t)
	for doc := range uint32(100) {
		x.Upsert(doc, Analyze(fmt.Sprintf("please see the report of badger compaction number %d", doc)))
	}
	x.Upsert(100, Analyze("sourdough needs a warm kitchen"))
	fraction := func(query string) float64 {
		t.Helper()
		res, err := x.Retrieve(t.Context(), index.Query{Text: query, Limit: 1})
		if err != nil || len(res.Hits) == 0 {
			t.Fatalf("Retrieve(%q): hits %v, error %v", query, res.Hits, err)
		}
		return float64(res.Hits[0].Score / res.Best)
	}
	if on, off := fraction("warm kitchen for sourdough"), fraction("please fix the orbital telescope gyroscope"); on < 0.4 || off > 0.05 {
		t.Errorf("an apt query reaches %.3f and filler alone %.3f, want at least 0.4 and at most 0.05", on, off)
	}
	res, err := x.Retrieve(t.Context(), index.Query{Text: "orbital telescope", Limit: 1})
	if err != nil || res.Best != 0 || len(res.Hits) != 0 {
		t.Errorf("no word known: got %+v, %v, want no hits and Best 0", res, err)
	}
}

// TestExtraField: a path word finds a document, weighs less than the same word
// in a body, and does not lengthen the document.
func TestExtraField(t *testing.T) {
	x := newIndex(t)
	x.UpsertFields(1, Analyze("parse the chunk header"), Analyze("net/http/transfer.go"))
	x.UpsertFields(2, Analyze("transfer the chunk header"), nil)
	x.UpsertFields(3, Analyze("parse the chunk header"), nil)
	x.UpsertFields(4, Analyze("nothing of it here"), nil)
	res, err := x.Retrieve(t.Context(), index.Query{Text: "transfer", Limit: 5})
	if err != nil {
		t.Fatalf("Retrieve: %v", err)
	}
	if len(res.Hits) != 2 || res.Hits[0].Doc != 2 || res.Hits[1].Doc != 1 {
		t.Errorf("got %v, want document 2, which says it, before document 1, which lies there", res.Hits)
	}
	res, err = x.Retrieve(t.Context(), index.Query{Text: "chunk", Limit: 5})
	if err != nil {
		t.Fatalf("Retrieve: %v", err)
	}
	if len(res.Hits) != 3 || res.Hits[0].Score != res.Hits[2].Score {
		t.Errorf("got %v, want three equal scores whatever the paths", res.Hits)
	}
}

func TestFarDocumentNumbers(t *testing.T) {
	x := newIndex(t)
	for _, doc := range []uint32{0, 1 << 20, math.MaxUint32} {
		x.Upsert(doc, Analyze("walnut"))
	}
	x.Delete(1 << 20)
	res, err := x.Retrieve(t.Context(), index.Query{Text: "walnut", Allow: roaring.BitmapOf(1<<20, math.MaxUint32), Limit: 5})
	if err != nil || len(res.Hits) != 1 || res.Hits[0].Doc != math.MaxUint32 || x.Len() != 2 {
		t.Errorf("got %v, %v and %d documents, want the last number alone of 2", res.Hits, err, x.Len())
	}
}

// expiring is a context whose deadline passes after a number of looks at it.
type expiring struct {
	context.Context
	looks int
}

func (e *expiring) Err() error {
	if e.looks--; e.looks < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

func TestDeadlineWhileScoring(t *testing.T) {
	x := newIndex(t)
	for doc := range uint32(20 * windowSize) {
		x.Upsert(doc, Analyze("walnut harbor"))
	}
	q := index.Query{Text: "walnut harbor", Limit: 5}
	want, err := x.Retrieve(t.Context(), q)
	if err != nil {
		t.Fatalf("Retrieve: %v", err)
	}
	for looks := range 20 {
		if _, err := x.Retrieve(&expiring{t.Context(), looks}, q); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("deadline after %d looks: got error %v, want DeadlineExceeded", looks, err)
		}
		// What an abandoned search leaves behind must not show in the next.
		if got, err := x.Retrieve(t.Context(), q); err != nil || !slices.Equal(got.Hits, want.Hits) {
			t.Fatalf("after an abandoned search: got %v, %v, want %v", got.Hits, err, want.Hits)
		}
	}
}

// TestReplacementIsNeverMissed searches for a document that is replaced all the
// while, through compactions: some version of it must always be found.
func TestReplacementIsNeverMissed(t *testing.T) {
	x := newIndex(t)
	for doc := range uint32(50) {
		x.Upsert(doc, Analyze("granite velvet"))
	}
	var searchers sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		searchers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				res, err := x.Retrieve(context.Background(), index.Query{Text: "walnut granite", Limit: 60})
				if err != nil || len(res.Hits) < 50 {
					t.Errorf("beside replacements: got %d hits and error %v, want at least 50", len(res.Hits), err)
					return
				}
			}
		})
	}
	for i := range uint32(4000) {
		x.Upsert(i%50, Analyze("granite walnut"))
		if i%3 == 0 {
			x.Upsert(1000+i, Analyze("copper"))
			x.Delete(1000 + i)
		}
	}
	close(done)
	searchers.Wait()
}

func TestOptions(t *testing.T) {
	for _, o := range []Options{{K1: -1}, {K1: 11}, {B: 1.1}, {B: math.NaN()}, {ExtraWeight: 0.3}, {ExtraWeight: -1}, {ExtraWeight: 17}} {
		if _, err := New(o); err == nil {
			t.Errorf("New(%+v): no error", o)
		}
	}
	x := newIndex(t)
	if x.options != (Options{K1: DefaultK1, B: DefaultB, ExtraWeight: DefaultExtraWeight}) {
		t.Errorf("defaults are %+v", x.options)
	}
	if _, err := x.Retrieve(t.Context(), index.Query{Text: "walnut"}); !errors.Is(err, errLimit) {
		t.Errorf("limit 0: got error %v, want %v", err, errLimit)
	}
}

// Held is the share of a question's content that a document holds, whatever
// function words and words for trouble it lacks.
func TestHeld(t *testing.T) {
	x, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for doc, text := range []string{"parse the chunked header", "parse a duration", "header of a file", "a chunked body and its header, parsed"} {
		x.Upsert(uint32(doc), Analyze(text))
	}
	for query, want := range map[string]struct {
		content int
		held    map[uint32]bool // the documents that hold everything
	}{
		"where is the chunked header parsed": {3, map[uint32]bool{0: true, 3: true}},
		"parse durations":                    {2, map[uint32]bool{1: true}},
		"parse the unheard-of header":        {3, nil}, // no document has the third word
		"duration":                           {1, map[uint32]bool{1: true}},
		"what is it":                         {0, nil},
		"header error":                       {1, map[uint32]bool{0: true, 2: true, 3: true}}, // what went wrong, not that it did
		"problem with the failing header":    {1, map[uint32]bool{0: true, 2: true, 3: true}},
		"fix the error":                      {2, nil}, // about nothing else
	} {
		res, err := x.Retrieve(t.Context(), index.Query{Text: query, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		if res.Content != want.content {
			t.Errorf("%q has %d content terms, want %d", query, res.Content, want.content)
		}
		for _, h := range res.Hits {
			if all := h.Held > 0.999; all != want.held[h.Doc] || h.Held < 0 || h.Held > 1 {
				t.Errorf("%q: document %d holds %v of the content, all of it: %v", query, h.Doc, h.Held, want.held[h.Doc])
			}
		}
	}
}
