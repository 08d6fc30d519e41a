package lexical

import (
	"fmt"

	"github.com/recalld/recalld/index"
)

// Save writes the index. number gives each document the number that it is restored with, or
// says that the document is left out. Nothing of deleted documents is written, and of terms
// their hashes only.
func (x *Index) Save(to *index.Saver, number func(doc uint32) (uint32, bool)) {
	x.writing.Lock() // searches go on, changes wait
	defer x.writing.Unlock()
	s := &x.state
	to.Uint(uint64(x.options.ExtraWeight * tfUnit))
	renumbered, slots := make([]uint32, len(s.docs)), uint32(0) // slots from 1 on; 0 is left out
	count := 0
	for slot, doc := range s.docs {
		if _, saved := number(doc); saved && !s.dead.has(uint32(slot)) {
			count++
		}
	}
	to.Uint(uint64(count))
	for slot, doc := range s.docs {
		if to.Err() != nil {
			return
		}
		if n, saved := number(doc); saved && !s.dead.has(uint32(slot)) {
			slots++
			renumbered[slot] = slots
			to.Uint(uint64(n))
			to.Uint(uint64(s.lengths[slot]))
		}
	}
	for _, term := range s.dictionary.slots {
		if to.Err() != nil {
			return
		}
		if term.number > 0 {
			s.save(to, term, renumbered)
		}
	}
	to.Uint(0)
}

// save writes the postings of a term: the gap to the slot before, with a flag for a
// frequency of one occurrence, or the frequency.
func (s *state) save(to *index.Saver, term dictionarySlot, renumbered []uint32) {
	r, _ := s.postings.read(term.number-1, nil)
	n := uint64(0)
	for slots := range r.all() {
		for _, slot := range slots {
			if renumbered[slot] > 0 {
				n++
			}
		}
	}
	if n == 0 {
		return
	}
	to.Uint(n)
	to.Word(term.hash)
	next := uint32(1)
	for slots, tfs := range r.all() {
		for i, slot := range slots {
			at := renumbered[slot]
			switch {
			case at == 0:
				continue
			case tfs[i] == tfUnit:
				to.Uint(uint64(at-next)<<1 | 1)
			default:
				to.Uint(uint64(at-next) << 1)
				to.Uint(uint64(tfs[i]))
			}
			next = at + 1
		}
	}
}

// Restore returns an index with what Save wrote. Documents must have numbers below docs.
// Errors are those of the restorer.
func Restore(options Options, from *index.Restorer, docs int) (*Index, error) {
	x, err := New(options)
	if err != nil {
		return nil, err
	}
	if from.Uint() != uint64(x.options.ExtraWeight*tfUnit) {
		from.Fail("the weight of paths is another")
	}
	count := from.Count(2)
	x.state = newState(count, 0)
	s := &x.state
	for slot := range uint32(count) {
		doc, length := uint32(from.Below(uint64(docs))), uint32(from.Below(maxLength+1))
		if from.Err() != nil {
			break
		}
		if _, twice := s.slotOf.Get(doc); twice {
			from.Fail("a document has two slots")
		}
		s.docs, s.lengths = append(s.docs, doc), append(s.lengths, length)
		s.slotOf.Set(doc, slot)
		s.total += uint64(length)
	}
	s.dead = s.dead.grown(len(s.docs))
	for n := from.Count(1); n > 0; n = from.Count(1) {
		s.restore(from, n)
	}
	if err := from.Err(); err != nil {
		return nil, fmt.Errorf("restore lexical index: %w", err)
	}
	return x, nil
}

// Take gives the index the documents of another one, which must not be used any more.
func (x *Index) Take(other *Index) {
	x.writing.Lock()
	defer x.writing.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.state = other.state
}

// restore reads the n postings of a term.
func (s *state) restore(from *index.Restorer, n int) {
	number := s.dictionary.add(from.Word())
	if int(number) != len(s.postings.lists) {
		from.Fail("a term is there twice")
		return
	}
	s.postings.lists = append(s.postings.lists, list{})
	slot := uint64(0)
	for range n {
		gap, tf := from.Uint(), uint64(tfUnit)
		if gap&1 == 0 {
			tf = from.Below(1 << 32)
		}
		if slot += gap >> 1; slot >= uint64(len(s.docs)) {
			from.Fail("a slot is out of range")
			return
		}
		s.postings.add(number, uint32(slot), uint32(tf), s.lengths)
		slot++
	}
}
