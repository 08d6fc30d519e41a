package lexical

import (
	"cmp"
	"context"
	"math/bits"
	"slices"

	"github.com/recalld/recalld/index"
)

// windowSize is how many slots are scored together. Their tallies fit the first cache of
// a processor. The context is checked once a window, after some microseconds of work.
const (
	windowBits = 11
	windowSize = 1 << windowBits
	windowBins = windowSize / 64 // words of a bitset
)

const (
	// margin covers the rounding of sums of 32 bits: what is skipped is below the last hit
	// by more.
	margin = 1.0001
	// shortList is the number of postings up to which a list is decoded as a whole, as are
	// lists with less than 1/shortShare of the slots: their blocks span several windows, and
	// the bound of a block would be that of all of them.
	shortList  = 1024
	shortShare = 64
	// mostDecoded bounds the postings of short lists that a query of many words decodes.
	mostDecoded = 1 << 18
	// fewSlots is the number of slots up to which each is looked up in a block by itself.
	fewSlots = 12
)

// scanning is the working memory of a scan.
type scanning struct {
	limit           int
	flat, perLength float32 // of the formula, in units of frequency
	lists           []scanned
	windows         []window   // the highest bound first
	most            []float32  // by list, then by window: the most that the list adds there
	rest            []float32  // by list: the most that it and those after it add in a window
	best            worstFirst // the best hits so far
	scored          int        // how many documents were scored in full

	tallies [windowSize]tally
	allow   windowSet // slots of the window that may be hits
	matched windowSet // slots of the window with a tally

	shortSlots, shortTFs []uint32 // the postings of scanned.slots

	// starts has, by list and then by window, the list's first block there; if its blocks end
	// before, their number plus that of its first posting there among scanned.slots.
	starts []uint32
}

// windowSet is a set of slots of a window.
type windowSet [windowBins]uint64

func (w *windowSet) has(slot uint32) bool { return w[slot>>6]&(1<<(slot&63)) != 0 }

// tally is the score of a slot, and the bounds of the content terms that it contains. Side
// by side they cost one memory access.
type tally struct{ score, held float32 }

// scanned is one term's list in a scan.
type scanned struct {
	list        *reading
	bound, held float32
	blocks      []block  // none for a short list
	slots, tfs  []uint32 // what follows the blocks
}

// window is a range of slots and the highest score that one of them can have.
type window struct {
	number int
	bound  float32
}

// adds is what a term adds to the score of a document.
func (s *scanning) adds(bound, tf, length float32) float32 {
	return bound * tf / (tf + s.flat + s.perLength*length)
}

// mostOf is the most that a term adds to the score of a document of a block. The package
// doc says why this holds for every mean length.
func (s *scanning) mostOf(b *block, bound float32) float32 {
	if b.tf == saturated {
		return bound
	}
	most := s.adds(bound, tfUnit, float32(b.once))
	if b.tf > 0 {
		most = max(most, s.adds(bound, float32(b.tf), float32(b.often)))
	}
	return most
}

// scan finds the limit best of the allowed documents, exactly, without looking at
// everything. It is block-max MaxScore (Turtle and Flood, 1995; Ding and Suel, "Faster
// top-k document retrieval using block-max indexes", 2011) over windows of slots:
//
// The directory of a list bounds what the term adds in each window. Windows are scored in
// the order of their bounds, until none can hold a better hit than the last of limit. In a
// window, terms are added up rarest first, as the order of 32-bit sums requires. The last
// terms that together cannot make a hit are looked up only for documents that have an
// earlier term and can still be hits with the rest. A document that is left has the sum of
// all its terms in their order: to the bit the score of an exhaustive search. Documents are
// skipped only below the score of the last hit, so that ties are decided by their numbers.
func (s *search) scan(ctx context.Context, limit int) error {
	s.prepare(limit)
	for _, w := range s.windows {
		if err := ctx.Err(); err != nil {
			return err
		}
		if s.tooLow(w.bound) {
			break
		}
		s.score(w.number)
	}
	return nil
}

// tooLow reports whether a document with at most this score is no hit.
func (s *search) tooLow(score float32) bool {
	return len(s.best) == s.limit && score*margin < s.best[0].Score
}

// prepare decodes the short lists and bounds the scores of all windows.
func (s *search) prepare(limit int) {
	// Frequencies are in units, so the other terms of the fraction are scaled.
	k1, b := s.options.K1*tfUnit, s.options.B
	s.flat, s.perLength = float32(k1*(1-b)), float32(k1*b/s.mean)
	s.limit, s.scored, s.best = limit, 0, s.best[:0]
	s.lists = s.lists[:0]
	s.shortSlots, s.shortTFs = s.shortSlots[:0], s.shortTFs[:0]
	for i := range s.terms {
		if t := &s.terms[i]; t.list.n > 0 {
			s.open(t)
		}
	}
	windows := (len(s.docs) + windowSize - 1) >> windowBits
	s.most = slices.Grow(s.most[:0], len(s.lists)*windows)[:len(s.lists)*windows]
	clear(s.most)
	s.starts = slices.Grow(s.starts[:0], len(s.lists)*windows)[:len(s.lists)*windows]
	s.windows = s.windows[:0]
	for w := range windows {
		s.windows = append(s.windows, window{number: w})
	}
	for i := range s.lists {
		l, most, starts := &s.lists[i], s.most[i*windows:(i+1)*windows], s.starts[i*windows:(i+1)*windows]
		first, next := uint32(0), 0 // next is the first window without a start
		for j := range l.blocks {
			b := &l.blocks[j]
			bound := s.mostOf(b, l.bound)
			for w := first >> windowBits; w <= b.last>>windowBits; w++ {
				most[w] = max(most[w], bound)
			}
			for ; next <= int(b.last>>windowBits); next++ {
				starts[next] = uint32(j)
			}
			first = b.last + 1
		}
		for j, slot := range l.slots {
			w := slot >> windowBits
			most[w] = max(most[w], s.adds(l.bound, float32(l.tfs[j]), float32(s.lengths[slot])))
			for ; next <= int(w); next++ {
				starts[next] = uint32(len(l.blocks) + j)
			}
		}
		for w := range s.windows {
			s.windows[w].bound += most[w]
		}
	}
	slices.SortFunc(s.windows, func(a, b window) int {
		return cmp.Or(cmp.Compare(b.bound, a.bound), cmp.Compare(a.number, b.number))
	})
	s.rest = slices.Grow(s.rest[:0], len(s.lists)+1)[:len(s.lists)+1]
}

// open adds a term's list to the scan.
func (s *search) open(t *queryTerm) {
	l := scanned{list: &t.list, bound: float32(t.bound), blocks: t.list.blocks}
	if t.content {
		l.held = l.bound
	}
	start := len(s.shortSlots)
	keep := func(slots, tfs []uint32) {
		s.shortSlots, s.shortTFs = append(s.shortSlots, slots...), append(s.shortTFs, tfs...)
	}
	if int(t.list.n) <= max(shortList, len(s.docs)/shortShare) && start < mostDecoded {
		for i := range l.blocks {
			t.list.decodeBlock(i, &s.slots, &s.tfs)
			keep(s.slots[:], s.tfs[:])
		}
		l.blocks = nil
	}
	tail := t.list.decodeTail(&s.slots, &s.tfs)
	keep(s.slots[:tail], s.tfs[:tail])
	l.slots, l.tfs = s.shortSlots[start:], s.shortTFs[start:]
	s.lists = append(s.lists, l)
}

// score adds the hits of one window to the best.
func (s *search) score(number int) {
	s.allow = windowSet{}
	if copy(s.allow[:], s.allowed[number*windowBins:]); s.allow == (windowSet{}) {
		return
	}
	first := uint32(number) << windowBits
	windows, n := len(s.windows), len(s.lists)
	s.rest[n] = 0
	for i := n - 1; i >= 0; i-- {
		s.rest[i] = s.rest[i+1] + s.most[i*windows+number]
	}
	i := 0
	for ; i < n && !s.tooLow(s.rest[i]); i++ {
		if s.most[i*windows+number] > 0 {
			s.visit(i, number, &s.allow, s.rest[i+1])
		}
	}
	for ; i < n && s.drop(s.rest[i]); i++ {
		if s.most[i*windows+number] > 0 {
			s.visit(i, number, &s.matched, s.rest[i+1])
		}
	}
	s.harvest(first)
}

// visit adds what a term adds to the slots of a window that are in a set. The term has
// postings there; rest is the most that the terms after it add.
func (s *search) visit(list, number int, of *windowSet, rest float32) {
	l, first := &s.lists[list], uint32(number)<<windowBits
	lengths := s.lengths[first:]
	i := int(s.starts[list*len(s.windows)+number])
	for ; i < len(l.blocks); i++ {
		from, last := max(follows(l.blocks[:i]), first)-first, l.blocks[i].last-first
		if from >= windowSize {
			return // what follows the blocks lies behind the window, too
		}
		switch n := bitset(of[:]).count(from, min(last, windowSize-1), fewSlots+1); {
		case n == 0:
		case n <= fewSlots:
			s.lookUp(l, i, first, of, from, min(last, windowSize-1))
		default:
			p := l.list.packed(i)
			at := 0
			if from == 0 { // it may begin before the window
				at = p.search(0, first, l.blocks[i].last)
			}
			// A slot with one occurrence of this term, and none of the terms before it, may be no hit.
			onceTooLow := s.tooLow(s.adds(l.bound, tfUnit, float32(l.blocks[i].once)) + rest)
			for ; at < blockSize; at++ {
				slot := p.slot(at) - first
				if slot >= windowSize {
					break
				}
				if !of.has(slot) {
					continue
				}
				if tf := p.tf(at); !onceTooLow || tf > tfUnit || s.matched.has(slot) {
					s.add(l, slot, tf, lengths[slot])
				}
			}
		}
	}
	for i -= len(l.blocks); i < len(l.slots); i++ {
		slot := l.slots[i] - first
		if slot >= windowSize {
			return
		}
		if of.has(slot) {
			s.add(l, slot, l.tfs[i], lengths[slot])
		}
	}
}

// lookUp is visit for the members of a set from one slot of a window to another, which lie
// in one block.
func (s *search) lookUp(l *scanned, number int, first uint32, of *windowSet, from, last uint32) {
	p := l.list.packed(number)
	at := 0
	for i := from >> 6; i <= last>>6; i++ {
		word := of[i]
		if i == from>>6 {
			word &= ^uint64(0) << (from & 63)
		}
		if i == last>>6 {
			word &= ^uint64(0) >> (63 - last&63)
		}
		for ; word != 0; word &= word - 1 {
			slot := first + i<<6 + uint32(bits.TrailingZeros64(word))
			if at = p.search(at, slot, l.blocks[number].last); p.slot(at) == slot {
				s.add(l, slot-first, p.tf(at), s.lengths[slot])
			}
		}
	}
}

// add adds a term to the tally of a slot of the window.
func (s *search) add(l *scanned, at, tf uint32, length uint16) {
	sum := &s.tallies[at]
	sum.score += s.adds(l.bound, float32(tf), float32(length))
	sum.held += l.held
	s.matched[at>>6] |= 1 << (at & 63)
}

// drop forgets the slots of a window that cannot be hits with at most rest more, and
// reports whether any are left.
func (s *search) drop(rest float32) (left bool) {
	least := float32(0) // a lower score is tooLow, with the rest
	if len(s.best) == s.limit {
		least = s.best[0].Score/margin - rest
	}
	for i, word := range s.matched {
		for w := word; w != 0; w &= w - 1 {
			bit := bits.TrailingZeros64(w)
			if sum := &s.tallies[i<<6+bit]; sum.score < least {
				*sum = tally{}
				word &^= 1 << bit
			}
		}
		s.matched[i] = word
		left = left || word != 0
	}
	return left
}

// harvest makes hits of the tallies of a window and zeroes them.
func (s *search) harvest(first uint32) {
	for i, word := range s.matched {
		for ; word != 0; word &= word - 1 {
			at := i<<6 + bits.TrailingZeros64(word)
			sum := &s.tallies[at]
			s.scored++
			// Seldom: a document's number lies where no cache has it.
			if len(s.best) < s.limit || sum.score >= s.best[0].Score {
				s.offer(index.Hit{Doc: s.docs[first+uint32(at)], Score: sum.score, Held: sum.held})
			}
			*sum = tally{}
		}
		s.matched[i] = 0
	}
}
