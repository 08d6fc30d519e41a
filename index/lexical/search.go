package lexical

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"github.com/recalld/recalld/index"
)

// Retrieve implements index.Retriever.
//
// The score of a document d for a query is
//
//	Σ w(t) · idf(t) · tf·(k1+1) / (tf + k1·(1 - b + b·|d|/mean))
//	idf(t) = ln(1 + (N - df + ½)/(df + ½))
//
// over the terms t of the query, with N, df and mean counted over the live documents of
// q.Universe and w from queryTerms (Robertson and Zaragoza, 2009; the idf is Lucene's,
// which is never negative).
//
// Result.Best is Σ w(t)·idf(t)·(k1+1) over all terms of the query, the limit that no
// document's score exceeds. A term in no document of the universe counts with the highest
// idf, for df = 0: so a query of which only common words are known reaches a small part of
// the bound. When no document contains any term of the query, Best is zero.
//
// Results are exact, also the further ones: only documents that cannot be hits are skipped
// (see search.scan).
func (x *Index) Retrieve(ctx context.Context, q index.Query) (index.Result, error) {
	if q.Limit <= 0 {
		return index.Result{}, errLimit
	}
	if err := ctx.Err(); err != nil {
		return index.Result{}, err
	}
	s := searches.Get().(*search)
	defer s.release()
	s.options = x.options
	s.terms = append(s.terms[:0], queryTerms(q.Text)...)
	if !x.snapshot(s, q) {
		return index.Result{}, index.ErrNotReady
	}
	if err := s.weigh(ctx); err != nil {
		return index.Result{}, err
	}
	if err := s.scan(ctx, q.Limit+q.Further); err != nil {
		return index.Result{}, err
	}
	hits, content := s.top()
	return index.Result{Hits: hits, Best: s.highest(), Searched: s.searched, Content: content}, nil
}

// queryTerm is one distinct term of a query with the data of its search.
type queryTerm struct {
	text    string
	weight  float64
	content bool    // see Content
	number  uint32  // in the dictionary
	list    reading // a snapshot; empty for an unknown term
	df      uint32  // documents of the universe that contain it
	// bound is the most that the term adds to a score: weight·idf·(k1+1).
	bound float64
}

// search is the working memory of one query, pooled because its arrays are as
// long as the index has bits.
type search struct {
	options Options
	terms   []queryTerm

	// The snapshot.
	docs     []uint32
	lengths  []uint16
	tails    []byte // of the terms' lists
	allowed  bitset // slots that may be returned
	universe bitset // slots that count in the statistics
	searched int    // number of allowed slots
	size     int    // number of slots in the universe
	mean     float64

	// base is a set whose document frequencies may be known, nil for all slots; differ are
	// the slots that either it or the universe has, empty for none.
	base   *countedSet
	differ bitset

	scanning

	batch      [256]uint32       // scratch of slotsOf
	docSet     bitset            // scratch of slotsOf
	members    []uint32          // scratch of sets
	slots, tfs [blockSize]uint32 // scratch: one block of postings
}

var searches = sync.Pool{New: func() any { return new(search) }}

// release returns the memory to the pool.
func (s *search) release() {
	s.docs, s.lengths, s.base = nil, nil, nil
	clear(s.lists)
	clear(s.terms) // drops the snapshots' references
	searches.Put(s)
}

// snapshot reads what the search needs of the index's state, and reports whether the index
// has documents.
func (x *Index) snapshot(s *search, q index.Query) bool {
	x.mu.RLock()
	state := &x.state
	if state.live() == 0 {
		x.mu.RUnlock()
		return false
	}
	s.tails = s.tails[:0]
	for i := range s.terms {
		t := &s.terms[i]
		if id, ok := state.dictionary.find(state.dictionary.hash(t.text)); ok {
			t.number = id
			t.list, s.tails = state.postings.read(id, s.tails)
		}
	}
	s.docs, s.lengths = state.docs, state.lengths
	s.allowed = s.slotsOf(state, s.allowed, q.Allow)
	// Without a filter both are the same set: compute it once.
	if q.Universe == q.Allow || q.Universe != nil && q.Allow != nil && q.Universe.Equals(q.Allow) {
		s.universe = append(s.universe[:0], s.allowed...)
	} else {
		s.universe = s.slotsOf(state, s.universe, q.Universe)
	}
	known, total := state.sets, state.total
	x.mu.RUnlock()
	s.searched = s.allowed.size()
	s.countUniverse(known, total)
	return true
}

// weigh counts each term's documents in the universe, sets its bound and sorts the terms by
// descending bound, the rarest first.
func (s *search) weigh(ctx context.Context) error {
	for i := range s.terms {
		t := &s.terms[i]
		var err error
		if t.df, err = s.frequency(ctx, t); err != nil {
			return err
		}
		n, df := float64(s.size), float64(t.df)
		t.bound = t.weight * math.Log1p((n-df+0.5)/(df+0.5)) * (s.options.K1 + 1)
	}
	slices.SortFunc(s.terms, func(a, b queryTerm) int {
		return cmp.Or(cmp.Compare(b.bound, a.bound), cmp.Compare(a.text, b.text))
	})
	return nil
}

// highest computes Result.Best.
func (s *search) highest() float32 {
	// The allowed documents need not be in the universe.
	sum, known := 0.0, len(s.best) > 0
	for _, t := range s.terms {
		sum += t.bound
		known = known || t.df > 0
	}
	if !known {
		return 0
	}
	return float32(sum)
}
