package lexical

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/recalld/recalld/index"
)

// chunk is how many postings are decoded at a time. The context is checked once a chunk,
// after some microseconds of work.
const chunk = 1024

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
// Results are exact: only documents that cannot be hits are skipped.
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
	if err := s.score(ctx, q.Limit); err != nil {
		return index.Result{}, err
	}
	hits, content := s.top(q.Limit + q.Further)
	return index.Result{Hits: hits, Best: s.best(), Searched: s.searched, Content: content}, nil
}

// queryTerm is one distinct term of a query with the data of its search.
type queryTerm struct {
	text    string
	weight  float64
	content bool     // see Content
	list    postings // a snapshot; empty for an unknown term
	df      uint32   // documents of the universe that contain it
	// bound is the most that the term adds to a score: weight·idf·(k1+1).
	bound float64
}

// tally is the score of a slot, and the bounds of the content terms that it contains. Side
// by side they cost one memory access.
type tally struct{ score, held float32 }

// search is the working memory of one query, pooled because its arrays are as
// long as the index.
type search struct {
	options Options
	terms   []queryTerm

	// The snapshot.
	docs, lengths []uint32
	allowed       bitset // slots that may be returned
	universe      bitset // slots that count in the statistics
	everything    bool   // the universe is every slot, none of them dead
	searched      int    // number of allowed slots
	size          int    // number of slots in the universe
	mean          float64

	scores  []tally   // by slot; zero if not touched
	touched []uint32  // slots with a score
	ranked  []float32 // scratch of kthScore

	members []uint32 // scratch of slots

	// One chunk of postings.
	chunkSlots, chunkTFs [chunk]uint32
}

var searches = sync.Pool{New: func() any { return new(search) }}

// release returns the memory to the pool with its scores zeroed. It costs time for the
// touched slots only, not for the whole array.
func (s *search) release() {
	for _, slot := range s.touched {
		s.scores[slot] = tally{}
	}
	s.touched = s.touched[:0]
	s.docs, s.lengths = nil, nil
	clear(s.terms) // drops the snapshots' references
	searches.Put(s)
}

// snapshot reads what the search needs of the index's state, and reports whether the index
// has documents.
func (x *Index) snapshot(s *search, q index.Query) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	state := &x.state
	if state.live() == 0 {
		return false
	}
	for i := range s.terms {
		if id, ok := state.dictionary.find(state.dictionary.hash(s.terms[i].text)); ok {
			s.terms[i].list = state.lists[id]
		}
	}
	s.docs, s.lengths = state.docs, state.lengths
	if missing := len(s.docs) - len(s.scores); missing > 0 {
		s.scores = append(s.scores, make([]tally, missing)...)
	}

	var length uint64
	s.allowed, s.searched, length = s.slots(state, s.allowed, q.Allow)
	// Without a filter both are the same set: compute it once.
	if q.Universe == q.Allow || q.Universe != nil && q.Allow != nil && q.Universe.Equals(q.Allow) {
		s.universe, s.size = append(s.universe[:0], s.allowed...), s.searched
	} else {
		s.universe, s.size, length = s.slots(state, s.universe, q.Universe)
	}
	s.everything = s.size == len(s.docs)
	s.mean = 1
	if length > 0 {
		s.mean = float64(length) / float64(s.size)
	}
	return true
}

// slots turns a set of documents, nil for all, into the set of their live slots,
// its size and the sum of its lengths. It reuses the memory of set and of s.
func (s *search) slots(state *state, set bitset, docs *roaring.Bitmap) (_ bitset, size int, length uint64) {
	if docs == nil {
		set = append(set[:0], state.dead...)
		for i := range set {
			set[i] = ^set[i]
		}
		if odd := len(state.docs) & 63; odd != 0 {
			set[len(set)-1] &= 1<<odd - 1
		}
		return set, state.live(), state.total
	}
	set = set[:0].grown(len(state.docs))
	s.members = slotsOf(&state.slotOf, s.members[:0], docs)
	for _, slot := range s.members {
		set.set(slot)
		length += uint64(state.lengths[slot])
	}
	return set, len(s.members), length
}

// weigh counts each term's documents in the universe, sets its bound and sorts the terms by
// descending bound, the rarest first.
func (s *search) weigh(ctx context.Context) error {
	for i := range s.terms {
		t := &s.terms[i]
		var err error
		if t.df, err = s.frequency(ctx, t.list); err != nil {
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

// frequency is how many documents of the universe contain a term.
func (s *search) frequency(ctx context.Context, list postings) (uint32, error) {
	if s.everything {
		return list.n, nil
	}
	return s.count(ctx, list)
}

// count returns how many documents of the universe are in the list.
func (s *search) count(ctx context.Context, list postings) (uint32, error) {
	df := uint64(0)
	c := list.cursor()
	for n := c.fill(s.chunkSlots[:], s.chunkTFs[:]); n > 0; n = c.fill(s.chunkSlots[:], s.chunkTFs[:]) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		for _, slot := range s.chunkSlots[:n] {
			df += s.universe[slot>>6] >> (slot & 63) & 1
		}
	}
	return uint32(df), nil
}

// best computes Result.Best.
func (s *search) best() float32 {
	// The allowed documents need not be in the universe.
	sum, known := 0.0, len(s.touched) > 0
	for _, t := range s.terms {
		sum += t.bound
		known = known || t.df > 0
	}
	if !known {
		return 0
	}
	return float32(sum)
}

// score adds up the scores of the allowed documents, rarest term first. When the remaining
// terms cannot lift a document without any earlier term into the first limit, they are
// looked up only for documents already touched (the idea of MaxScore; Turtle and Flood,
// 1995).
func (s *search) score(ctx context.Context, limit int) error {
	// The most that the remaining terms can add, and the number of their postings.
	rest, postings := 0.0, 0
	for _, t := range s.terms {
		if t.list.n > 0 {
			rest += t.bound
			postings += int(t.list.n)
		}
	}
	reached, closed := 0.0, false
	for _, t := range s.terms {
		if t.list.n == 0 {
			continue
		}
		// Finding the k-th score costs a pass over the touched slots: do it only where it
		// can succeed and the remaining postings cost more.
		if !closed && reached > rest && len(s.touched) >= limit && len(s.touched) < postings {
			// The margin covers the rounding of 32-bit sums.
			closed = float64(s.kthScore(limit)) > rest*1.0001
		}
		if err := s.add(ctx, t, closed); err != nil {
			return err
		}
		reached += t.bound
		rest -= t.bound
		postings -= int(t.list.n)
	}
	return nil
}

// add adds one term's contribution to the scores; if closed, only to slots already touched.
func (s *search) add(ctx context.Context, t queryTerm, closed bool) error {
	// Frequencies are in units, so the other terms of the fraction are scaled.
	k1, b := s.options.K1*tfUnit, s.options.B
	flat, perLength := float32(k1*(1-b)), float32(k1*b/s.mean)
	bound, held := float32(t.bound), float32(0)
	if t.content {
		held = bound
	}
	c := t.list.cursor()
	for n := c.fill(s.chunkSlots[:], s.chunkTFs[:]); n > 0; n = c.fill(s.chunkSlots[:], s.chunkTFs[:]) {
		if err := ctx.Err(); err != nil {
			return err
		}
		for i, slot := range s.chunkSlots[:n] {
			sum := &s.scores[slot]
			if sum.score == 0 {
				if closed || !s.allowed.has(slot) {
					continue
				}
				s.touched = append(s.touched, slot)
			}
			tf := float32(s.chunkTFs[i])
			sum.score += bound * tf / (tf + flat + perLength*float32(s.lengths[slot]))
			sum.held += held
		}
	}
	return nil
}
