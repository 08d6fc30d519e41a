package lexical

import (
	"context"
	"math/bits"
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
)

// maxSets is how many sets of each sort are remembered: those of a few projects.
const maxSets = 8

// sets remembers sets of recent queries. The questions of a project name the same documents
// again, except for what was written meanwhile, so only the difference is computed. It
// belongs to one numbering of slots.
type sets struct {
	named   remembered[namedSet]
	counted remembered[countedSet]
}

// remembered are the sets of one sort.
type remembered[T any] struct {
	mu   sync.Mutex // guards sets
	sets []*T       // the newest first
}

func (r *remembered[T]) add(set *T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sets = slices.Insert(r.sets, 0, set)
	r.sets = r.sets[:min(len(r.sets), maxSets)]
}

// nearest returns the set with the least distance, at most limit; nil if there is none.
// distance may return any number above the limit that it is given instead of a larger one.
func (r *remembered[T]) nearest(limit int, distance func(set *T, limit int) int) (nearest *T) {
	r.mu.Lock()
	known := slices.Clone(r.sets)
	r.mu.Unlock()
	for _, set := range known {
		if d := distance(set, limit); d <= limit {
			nearest, limit = set, d-1
		}
	}
	return nearest
}

// namedSet is a set of documents and its slots when there were n.
type namedSet struct {
	docs, slots bitset
	n           int
}

// countedSet is a set of slots, when there were n, and how many of them contain a term.
type countedSet struct {
	slots  bitset
	n      int
	size   int
	length uint64 // sum of the lengths

	mu sync.Mutex        // guards df
	df map[uint32]uint32 // by number of the term
}

// maxCounted bounds the terms of one set whose documents are remembered.
const maxCounted = 1 << 14

// slotsOf returns the live slots of a set of documents, nil for all. It reuses the memory
// of set and of s. It is called with the index's mu held.
func (s *search) slotsOf(state *state, set bitset, docs *roaring.Bitmap) bitset {
	slots := len(state.docs)
	set = set.emptied((slots + 63) >> 6)
	if docs == nil {
		for i := range set {
			set[i] = ^state.dead[i]
		}
		if odd := slots & 63; odd != 0 {
			set[len(set)-1] &= 1<<odd - 1
		}
		return set
	}
	words := int(docs.DenseSize())
	if few := slots/64 + 16; docs.GetCardinality() <= uint64(few) || words > slots/8+firstPage {
		for it := docs.ManyIterator(); ; {
			n := it.NextMany(s.batch[:])
			if n == 0 {
				return set
			}
			for _, doc := range s.batch[:n] {
				if slot, ok := state.slotOf.Get(doc); ok {
					set.set(slot)
				}
			}
		}
	}
	s.docSet = s.docSet.emptied(words)
	docs.WriteDenseTo(s.docSet)
	// Beyond this difference it is as cheap to look at every slot.
	limit := slots / 16
	near := state.sets.named.nearest(limit, func(k *namedSet, limit int) int { return k.docs.distance(s.docSet, limit) })
	first := uint32(0)
	if near != nil && slots-near.n <= limit {
		first = uint32(near.n)
		copy(set, near.slots)
		s.members = differing(s.members[:0], near.docs, s.docSet)
		for _, doc := range s.members {
			slot, ok := state.slotOf.Get(doc)
			switch {
			case !ok:
			case s.docSet.holds(doc):
				set.set(slot)
			default:
				set[slot>>6] &^= 1 << (slot & 63)
			}
		}
	}
	for slot := first; int(slot) < slots; slot++ {
		if s.docSet.holds(state.docs[slot]) {
			set.set(slot)
		}
	}
	for i, dead := range state.dead {
		set[i] &^= dead
	}
	if near == nil || first == 0 || len(s.members)+slots-near.n > slots/128+64 {
		state.sets.named.add(&namedSet{docs: slices.Clone(s.docSet), slots: slices.Clone(set), n: slots})
	}
	return set
}

// countUniverse sets size, mean and how the documents of the universe that contain a term
// are counted: as those of a set that differs in few slots, plus the difference.
func (s *search) countUniverse(known *sets, total uint64) {
	slots := len(s.docs)
	s.size = s.universe.size()
	// A slot of the difference costs at most one block of a list.
	limit := slots/1024 + 64
	s.base, s.differ = nil, s.differ[:0]
	length := total
	if slots-s.size > limit {
		s.base = known.counted.nearest(limit, func(k *countedSet, limit int) int {
			if k.n > slots { // of a later search: the lists of this one lack its newest slots
				return limit + 1
			}
			return k.slots.distance(s.universe, limit)
		})
		if s.base == nil {
			s.base = s.newCounted()
			known.counted.add(s.base)
		}
		length = s.base.length
	}
	s.members = s.members[:0]
	if s.base != nil {
		s.members = differing(s.members, s.base.slots, s.universe)
	} else if s.size < slots {
		for i, word := range s.universe {
			for word = ^word; word != 0; word &= word - 1 {
				if slot := i<<6 + bits.TrailingZeros64(word); slot < slots {
					s.members = append(s.members, uint32(slot))
				}
			}
		}
	}
	if len(s.members) > 0 {
		s.differ = s.differ.emptied(len(s.universe))
	}
	for _, slot := range s.members {
		s.differ.set(slot)
		if s.universe.has(slot) {
			length += uint64(s.lengths[slot])
		} else {
			length -= uint64(s.lengths[slot])
		}
	}
	s.mean = 1
	if length > 0 {
		s.mean = float64(length) / float64(s.size)
	}
}

// newCounted returns a set of the slots of the universe.
func (s *search) newCounted() *countedSet {
	c := &countedSet{slots: slices.Clone(s.universe), n: len(s.docs), size: s.size, df: make(map[uint32]uint32)}
	for i, word := range c.slots {
		for ; word != 0; word &= word - 1 {
			c.length += uint64(s.lengths[i<<6+bits.TrailingZeros64(word)])
		}
	}
	return c
}

// frequency is how many documents of the universe contain a term.
func (s *search) frequency(ctx context.Context, t *queryTerm) (uint32, error) {
	if t.list.n == 0 {
		return 0, nil
	}
	df := t.list.n
	if s.base != nil {
		var err error
		if df, err = s.baseFrequency(ctx, t); err != nil {
			return 0, err
		}
	}
	if len(s.differ) == 0 {
		return df, nil
	}
	more, all, err := s.count(ctx, &t.list, s.differ)
	// Of the slots that differ, those outside the universe are in the base.
	return df + more - (all - more), err
}

// baseFrequency is how many documents of the base contain a term.
func (s *search) baseFrequency(ctx context.Context, t *queryTerm) (uint32, error) {
	if len(t.list.blocks) > 0 {
		s.base.mu.Lock()
		df, known := s.base.df[t.number]
		s.base.mu.Unlock()
		if known {
			return df, nil
		}
	}
	_, df, err := s.count(ctx, &t.list, s.base.slots)
	if err != nil || len(t.list.blocks) == 0 { // a short list is counted as fast
		return df, err
	}
	s.base.mu.Lock()
	defer s.base.mu.Unlock()
	if len(s.base.df) >= maxCounted {
		clear(s.base.df)
	}
	s.base.df[t.number] = df
	return df, nil
}

// count returns how many slots of a list are in a set, and how many of these are in the
// universe. Blocks without such a slot are not decoded.
func (s *search) count(ctx context.Context, list *reading, set bitset) (universe, all uint32, err error) {
	within := func(slots []uint32) {
		for _, slot := range slots {
			if set.holds(slot) {
				all++
				universe += uint32(s.universe[slot>>6] >> (slot & 63) & 1)
			}
		}
	}
	next := uint32(0)
	for i := range list.blocks {
		if i%64 == 0 && ctx.Err() != nil {
			return 0, 0, ctx.Err()
		}
		if last := list.blocks[i].last; set.meets(next, last) {
			list.decodeBlock(i, &s.slots, &s.tfs)
			within(s.slots[:])
		}
		next = list.blocks[i].last + 1
	}
	n := list.decodeTail(&s.slots, &s.tfs)
	within(s.slots[:n])
	return universe, all, nil
}
