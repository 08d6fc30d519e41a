//go:build !race

// One goroutine compares here, and for half a minute under the race detector, which has
// nothing to find in it. TestConformance and TestReplacementIsNeverMissed search beside changes.

package lexical

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/recalld/recalld/index"
)

// exhaustive answers a query from the lists of an index without leaving anything out: it
// counts every document of the universe and scores every allowed one, term by term.
func exhaustive(x *Index, q index.Query) (hits []index.Hit, best float32) {
	s := &x.state
	in := func(docs *roaring.Bitmap, slot uint32) bool {
		return !s.dead.has(slot) && (docs == nil || docs.Contains(s.docs[slot]))
	}
	size, length := 0, uint64(0)
	counted, allowed := make([]bool, len(s.docs)), make([]bool, len(s.docs))
	for slot := range uint32(len(s.docs)) {
		counted[slot], allowed[slot] = in(q.Universe, slot), in(q.Allow, slot)
		if counted[slot] {
			size++
			length += uint64(s.lengths[slot])
		}
	}
	of := scanning{}
	mean := 1.0
	if length > 0 {
		mean = float64(length) / float64(size)
	}
	k1, b := x.options.K1*tfUnit, x.options.B
	of.flat, of.perLength = float32(k1*(1-b)), float32(k1*b/mean)

	terms := queryTerms(q.Text)
	for i := range terms {
		t := &terms[i]
		if id, ok := s.dictionary.find(s.dictionary.hash(t.text)); ok {
			t.list, _ = s.postings.read(id, nil)
		}
		df := 0.0
		for slots := range t.list.all() {
			for _, slot := range slots {
				if counted[slot] {
					df++
				}
			}
		}
		t.df = uint32(df)
		n := float64(size)
		t.bound = t.weight * math.Log1p((n-df+0.5)/(df+0.5)) * (x.options.K1 + 1)
	}
	slices.SortFunc(terms, func(a, b queryTerm) int {
		if a.bound != b.bound {
			return -int(math.Copysign(1, a.bound-b.bound))
		}
		return strings.Compare(a.text, b.text)
	})
	sum, content, found := 0.0, float32(0), false
	tallies := make([]tally, len(s.docs))
	for _, t := range terms {
		sum += t.bound
		found = found || t.df > 0
		if t.content {
			content += float32(t.bound)
		}
		for slots, tfs := range t.list.all() {
			for i, slot := range slots {
				if !allowed[slot] {
					continue
				}
				d := &tallies[slot]
				d.score += of.adds(float32(t.bound), float32(tfs[i]), float32(s.lengths[slot]))
				if t.content {
					d.held += float32(t.bound)
				}
			}
		}
	}
	for slot, d := range tallies {
		if d.score == 0 {
			continue
		}
		held := d.held
		if content > 0 {
			held = min(held/content, 1)
		}
		hits = append(hits, index.Hit{Doc: s.docs[slot], Score: d.score, Held: held})
	}
	slices.SortFunc(hits, compareHits)
	if found || len(hits) > 0 {
		best = float32(sum)
	}
	return hits[:min(len(hits), q.Limit+q.Further)], best
}

// TestEqualToExhaustive holds that leaving out what cannot be a hit leaves the hits as they
// are, to the bit: over lists of many blocks, through replacements, deletions and
// compactions, with ties, with filters that keep little, and with the statistics of
// projects of different sizes and lengths.
func TestEqualToExhaustive(t *testing.T) {
	for _, options := range []Options{{}, {K1: 2, B: 0.3, ExtraWeight: 2.25}} {
		t.Run(fmt.Sprint(options), func(t *testing.T) {
			x, err := New(options)
			if err != nil {
				t.Fatal(err)
			}
			c := newCorpus(21, 3000)
			const documents = 9 * windowSize
			// Documents of three projects, whose texts are of different lengths; one project
			// is small. A text in twenty repeats another one.
			project := func(doc uint32) int {
				switch {
				case doc%64 == 0:
					return 2
				case doc > documents/3:
					return 1
				}
				return 0
			}
			common := c.text(12)
			put := func(doc uint32) {
				text := c.text(1 + c.rng.IntN([]int{20, 80, 10}[project(doc)]))
				switch c.rng.IntN(20) {
				case 0:
					text = common
				case 1:
					text = strings.Repeat(text+" ", 1+c.rng.IntN(40))
				}
				var extra index.Terms
				if c.rng.IntN(4) == 0 {
					extra = Analyze(c.text(5))
				}
				x.UpsertFields(doc, Analyze(text), extra)
			}
			order := c.rng.Perm(documents) // slots are in another order than documents
			for _, doc := range order {
				put(uint32(doc))
			}
			projects := make([]*roaring.Bitmap, 3)
			for i := range projects {
				projects[i] = roaring.New()
			}
			for doc := range uint32(documents) {
				projects[project(doc)].Add(doc)
			}
			compactions, skipped := 0, 0
			for round := range 100 {
				for range c.rng.IntN(200) {
					before, doc := len(x.state.docs), c.rng.Uint32N(documents)
					switch c.rng.IntN(5) {
					case 0:
						x.Delete(doc)
					case 1:
						projects[c.rng.IntN(3)].Add(doc)
					default:
						put(doc)
					}
					if len(x.state.docs) < before {
						compactions++
					}
				}
				q := exactQuery(c, projects, documents)
				want, best := exhaustive(x, q)
				got, err := x.Retrieve(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got.Hits, want) || got.Best != best {
					t.Fatalf("round %d, query %q, limit %d and %d:\ngot  %v, best %v\nwant %v, best %v", round, q.Text, q.Limit, q.Further, got.Hits, got.Best, want, best)
				}
				if round%10 == 0 {
					skipped += skips(t, x, q)
				}
			}
			if compactions == 0 || skipped < 10_000 {
				t.Errorf("%d compactions, %d documents skipped: the test misses something", compactions, skipped)
			}
		})
	}
}

// exactQuery makes a random query over projects.
func exactQuery(c *corpus, projects []*roaring.Bitmap, documents uint32) index.Query {
	q := index.Query{Text: c.text(1 + c.rng.IntN(12)), Limit: 1 + c.rng.IntN(30)}
	switch c.rng.IntN(4) {
	case 0:
		q.Text += " the unknown and " + c.words[c.rng.IntN(len(c.words))]
	case 1:
		q.Limit, q.Further = 200, 400
	case 2:
		q.Text += " " + q.Text + " " + c.words[c.rng.IntN(len(c.words))]
	}
	if p := c.rng.IntN(4); p < 3 {
		q.Universe = projects[p].Clone()
		if c.rng.IntN(3) == 0 {
			q.Universe.Or(projects[(p+1)%3])
		}
	}
	q.Allow = q.Universe
	switch c.rng.IntN(4) {
	case 0:
		q.Allow = c.docs(documents, 0.01)
	case 1:
		q.Allow = c.docs(documents, 0.5)
	case 2:
		q.Allow = nil
	}
	return q
}

// skips is how many of the documents with a term of the query a search does not score.
func skips(t *testing.T, x *Index, q index.Query) int {
	t.Helper()
	s := new(search)
	s.options, s.terms = x.options, queryTerms(q.Text)
	x.snapshot(s, q)
	if err := s.weigh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.scan(t.Context(), q.Limit+q.Further); err != nil {
		t.Fatal(err)
	}
	q.Limit = math.MaxInt32
	all, _ := exhaustive(x, q)
	return len(all) - s.scored
}

// TestLongPostings reads back lists of all sorts of gaps and frequencies, while they grow.
func TestLongPostings(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	type posting struct{ slot, tf uint32 }
	var p postings
	const terms = 40
	p.lists = make([]list, terms)
	want := make([][]posting, terms)
	lengths := make([]uint16, 1<<20)
	for i := range lengths {
		lengths[i] = uint16(rng.Uint32N(1 << (rng.Uint32N(17))))
	}
	slot := uint32(0)
	for range 40_000 {
		slot += rng.Uint32N(1 << rng.Uint32N(6))
		if int(slot) >= len(lengths) {
			break
		}
		term := min(rng.Uint32N(terms), rng.Uint32N(terms))
		tf := uint32(tfUnit)
		if rng.IntN(3) == 0 {
			tf = 1 + rng.Uint32N(1<<rng.Uint32N(27))
		}
		if n := len(want[term]); n > 0 && want[term][n-1].slot >= slot {
			continue
		}
		p.add(term, slot, tf, lengths)
		want[term] = append(want[term], posting{slot, tf})
		if rng.IntN(50) == 0 {
			checkList(t, &p, term, func(i int) (uint32, uint32) { return want[term][i].slot, want[term][i].tf }, len(want[term]))
		}
	}
	s := scanning{flat: 2, perLength: 0.01}
	for term := range uint32(terms) {
		checkList(t, &p, term, func(i int) (uint32, uint32) { return want[term][i].slot, want[term][i].tf }, len(want[term]))
		list, _ := p.read(term, nil)
		for i, b := range list.blocks {
			for _, one := range want[term][i*blockSize : (i+1)*blockSize] {
				if adds := s.adds(3, float32(one.tf), float32(lengths[one.slot])); adds > s.mostOf(&b, 3)*margin {
					t.Fatalf("term %d, block %d: a posting adds %v, more than the bound %v", term, i, adds, s.mostOf(&b, 3))
				}
			}
		}
	}
}

// checkList compares a list with the postings that it should have.
func checkList(t *testing.T, p *postings, term uint32, want func(int) (slot, tf uint32), n int) {
	t.Helper()
	list, _ := p.read(term, nil)
	got := 0
	for slots, tfs := range list.all() {
		for i := range slots {
			if slot, tf := want(got); slots[i] != slot || tfs[i] != tf {
				t.Fatalf("term %d, posting %d: slot %d, frequency %d; want %d, %d", term, got, slots[i], tfs[i], slot, tf)
			}
			got++
		}
	}
	if got != n || int(list.n) != n {
		t.Fatalf("term %d: %d postings read, %d counted, want %d", term, got, list.n, n)
	}
}

func TestBitset(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		slots := 1 + rng.Uint32N(400)
		a, b := bitset(nil).emptied(int(slots+63)/64), bitset(nil).emptied(int(rng.Uint32N(8)))
		for range rng.IntN(6) {
			a.set(rng.Uint32N(slots))
		}
		for range rng.IntN(6) {
			if len(b) > 0 {
				b.set(rng.Uint32N(uint32(64 * len(b))))
			}
		}
		first := rng.Uint32N(slots)
		last := first + rng.Uint32N(200)
		meets := false
		for slot := first; slot <= last; slot++ {
			meets = meets || a.holds(slot)
		}
		if got := a.meets(first, last); got != meets {
			t.Fatalf("%b meets %d to %d: %v, want %v", a, first, last, got, meets)
		}
		n := 0
		for slot := first; slot <= last; slot++ {
			if a.holds(slot) {
				n++
			}
		}
		if got := a.count(first, last, 3); min(got, 3) != min(n, 3) {
			t.Fatalf("%b has %d members from %d to %d, want %d", a, got, first, last, n)
		}
		var differ []uint32
		for slot := range uint32(600) {
			if a.holds(slot) != b.holds(slot) {
				differ = append(differ, slot)
			}
		}
		if got := differing(nil, a, b); !slices.Equal(got, differ) || a.distance(b, 1000) != len(differ) {
			t.Fatalf("%b and %b differ in %v (%d), want %v", a, b, got, a.distance(b, 1000), differ)
		}
	}
}
