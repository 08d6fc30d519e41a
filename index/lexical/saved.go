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
	to.Word(s.dictionary.spread)
	to.Uint(uint64(s.dictionary.size)) // at most so many terms follow

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

// save writes the postings of a term: blocks as they lie in memory, and of the rest the gap
// to the slot before, with a flag for a frequency of one occurrence, or the frequency.
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
	var slots, tfs [blockSize]uint32
	held, next := 0, uint32(0)
	for from, frequencies := range r.all() {
		for i, slot := range from {
			if renumbered[slot] == 0 {
				continue
			}
			slots[held], tfs[held] = renumbered[slot]-1, frequencies[i]
			if held++; held == blockSize {
				saveBlock(to, next, &slots, &tfs)
				held, next = 0, slots[blockSize-1]+1
			}
		}
	}
	for i, slot := range slots[:held] {
		gap := uint64(slot-next) << 1
		if tfs[i] == tfUnit {
			to.Uint(gap | 1)
		} else {
			to.Uint(gap)
			to.Uint(uint64(tfs[i]))
		}
		next = slot + 1
	}
}

// saveBlock writes a block as restoreBlock reads it; base is the lowest slot that it could have.
func saveBlock(to *index.Saver, base uint32, slots, tfs *[blockSize]uint32) {
	var room [largestBlock + pageSlack]byte
	l := layoutOf(base, slots, tfs)
	pack(room[:], l, base, slots, tfs)
	to.Bytes([]byte{l.slot, l.tf})
	to.Bytes(room[:l.bytes()])
}

// leastTerm is the size of a saved term: its hash, the number of its postings, and one of them.
const leastTerm = 10

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
	spread, terms := from.Word(), from.Below(1<<32)
	count := from.Count(2)
	// Terms come in the order of their slots. In a table without room for all of them, the
	// first ones would crowd its beginning.
	x.state = newState(count, int(min(terms, uint64(from.Left()/leastTerm))))
	s := &x.state
	s.dictionary.spread = spread | 1
	for slot := range uint32(count) {
		doc, length := uint32(from.Below(uint64(docs))), uint16(min(from.Below(1<<32), maxLength))
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
	atMost := uint64(count) + 1
	for n := from.Below(atMost); n > 0; n = from.Below(atMost) {
		s.restore(from, int(n))
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
	for range n / blockSize {
		if s.postings.restoreBlock(from, number, s.lengths); from.Err() != nil {
			return
		}
	}
	slot := uint64(s.postings.lists[number].next)
	for range n % blockSize {
		gap, tf := from.Uint(), uint64(tfUnit)
		if gap&1 == 0 {
			tf = from.Below(1 << 32)
		}
		if slot += gap >> 1; slot >= uint64(len(s.docs)) {
			from.Fail("a slot is out of range")
		}
		if from.Err() != nil {
			return
		}
		s.postings.add(number, uint32(slot), uint32(tf), s.lengths)
		slot++
	}
}

// restoreBlock reads a block of a list that has no tail yet.
func (p *postings) restoreBlock(from *index.Restorer, term uint32, lengths []uint16) {
	head := from.Bytes(2)
	if from.Err() != nil {
		return
	}
	l := layout{head[0], head[1]}
	if l.slot > 32 || l.tf&^wholeOccurrences > 32 {
		from.Fail("a block has no layout")
		return
	}
	data := from.Bytes(l.bytes())
	if from.Err() != nil {
		return
	}
	list := &p.lists[term]
	base := list.next
	offset := p.sealed.take(l.bytes() + pageSlack)
	copy(bytesAt(p.sealed.pages, offset), data)
	var slots, tfs [blockSize]uint32
	block := newPacked(bytesAt(p.sealed.pages, offset), l, base)
	block.decode(&slots, &tfs)
	next := base
	for i, slot := range slots {
		if slot < next || int(slot) >= len(lengths) || tfs[i] == 0 {
			from.Fail("a slot is out of range")
			return
		}
		next = slot + 1
	}
	p.addBlock(list, offset, l, &slots, &tfs, lengths)
	list.n += blockSize
	list.next = next
}
