package lexical

import (
	"encoding/binary"
	"iter"
	"math/bits"
)

// blockSize is how many postings are sealed together.
const blockSize = 128

// postings are the lists of all terms: the slots that hold a term, in increasing order, and
// the term's frequency in units of 1/tfUnit. A list is a number of sealed blocks and a tail.
//
// The tail holds the gap to the slot before and the frequency as numbers of variable
// length. A frequency of exactly one occurrence is a flag in the lowest bit of the gap, so
// the common posting takes one or two bytes. The buffer moves to one of twice the size when
// it is full; so most terms, which are rare, take some thirty bytes and no allocation.
//
// A sealed block (see packed) never changes, and each of its postings can be read by
// itself. No list holds a pointer.
type postings struct {
	lists  []list
	blocks [][]block // of the lists that have any, see list.long
	sealed arena
	tails  arena
	// free are the tails of each class that lists have outgrown.
	free [tailClasses][]uint32
}

// list is one term's postings.
type list struct {
	n    uint32 // postings, including dead slots
	next uint32 // the lowest slot that can be added
	tail uint32 // offset of the tail in postings.tails
	long uint32 // number in postings.blocks plus one; 0 without sealed blocks
	used uint16 // bytes of the tail
	// class is the size of the tail: 2<<class bytes; 0 is none.
	class uint8
}

// block is the directory's entry of 128 sealed postings: where they are, and what bounds
// their scores whatever the mean length is that a query counts (see scanning.mostOf).
type block struct {
	last   uint32 // slot of the last posting
	offset uint32 // in postings.sealed
	layout layout
	once   uint16 // shortest document with the term at most once
	tf     uint16 // highest frequency above one occurrence, 0 for none
	often  uint16 // shortest document with such a frequency
}

const (
	// tailClasses is the number of sizes of a tail: the largest, 2 KB, has room for blockSize
	// postings of two numbers with 34 and 27 bits.
	tailClasses = 11
	// saturated is the highest frequency that a block states, and the highest length.
	saturated = 1<<16 - 1
)

// add appends a posting; lengths are those of all slots. Slots must come in increasing
// order; a slot already in the list is ignored, so a repeated term of a document does no
// harm.
func (p *postings) add(term, slot, tf uint32, lengths []uint16) {
	l := &p.lists[term]
	if slot < l.next {
		return
	}
	tf = max(tf, 1)
	var room [2 * binary.MaxVarintLen64]byte
	b := room[:0]
	gap := uint64(slot-l.next) << 1
	if tf == tfUnit {
		b = appendUvarint(b, gap|1)
	} else {
		b = appendUvarint(b, gap)
		b = appendUvarint(b, uint64(tf))
	}
	if l.class == 0 || int(l.used)+len(b) > 2<<l.class {
		p.move(l, int(l.used)+len(b))
	}
	copy(bytesAt(p.tails.pages, l.tail)[l.used:], b)
	l.used += uint16(len(b))
	l.next = slot + 1
	l.n++
	if l.n%blockSize == 0 {
		p.seal(l, lengths)
	}
}

// appendUvarint is binary.AppendUvarint with the one-byte case inlined.
func appendUvarint(b []byte, v uint64) []byte {
	if v < 0x80 {
		return append(b, byte(v))
	}
	return binary.AppendUvarint(b, v)
}

// move gives a list a tail of at least size bytes.
func (p *postings) move(l *list, size int) {
	class := uint8(max(bits.Len(uint(size-1))-1, 1))
	var offset uint32
	if free := p.free[class]; len(free) > 0 {
		offset = free[len(free)-1]
		p.free[class] = free[:len(free)-1]
	} else {
		offset = p.tails.take(2 << class)
	}
	if l.class > 0 {
		copy(bytesAt(p.tails.pages, offset), bytesAt(p.tails.pages, l.tail)[:l.used])
		p.free[l.class] = append(p.free[l.class], l.tail)
	}
	l.tail, l.class = offset, class
}

// seal makes the full tail of a list a block.
func (p *postings) seal(l *list, lengths []uint16) {
	data := bytesAt(p.tails.pages, l.tail)[:l.used]
	var slots, tfs [blockSize]uint32
	base := uint32(0)
	if l.long > 0 {
		base = follows(p.blocks[l.long-1])
	}
	decode(data, base, slots[:], tfs[:])
	how := layoutOf(base, &slots, &tfs)
	// A number is read and written as a word of 8 bytes, and no word may reach into the next
	// block: that is written while this one is read.
	offset := p.sealed.take(how.bytes() + pageSlack)
	pack(bytesAt(p.sealed.pages, offset), how, base, &slots, &tfs)
	p.addBlock(l, offset, how, &slots, &tfs, lengths)
	l.used = 0
}

// addBlock adds a sealed block to a list.
func (p *postings) addBlock(l *list, offset uint32, how layout, slots, tfs *[blockSize]uint32, lengths []uint16) {
	b := block{last: slots[blockSize-1], offset: offset, layout: how, once: saturated, often: saturated}
	for i, slot := range slots {
		length := lengths[slot]
		if tfs[i] <= tfUnit {
			b.once = min(b.once, length)
		} else {
			b.tf = max(b.tf, uint16(min(tfs[i], saturated)))
			b.often = min(b.often, length)
		}
	}
	if l.long == 0 {
		p.blocks = append(p.blocks, nil)
		l.long = uint32(len(p.blocks))
	}
	p.blocks[l.long-1] = append(p.blocks[l.long-1], b)
}

// follows returns the lowest slot that can follow some blocks.
func follows(blocks []block) uint32 {
	if len(blocks) == 0 {
		return 0
	}
	return blocks[len(blocks)-1].last + 1
}

// reading is one list as it was at some moment. It stays readable while the list grows.
type reading struct {
	n      uint32
	blocks []block
	sealed [][]byte
	tail   []byte // a copy
}

// read returns a term's list. The copy of its tail is appended to room.
func (p *postings) read(term uint32, room []byte) (reading, []byte) {
	l := &p.lists[term]
	r := reading{n: l.n, sealed: p.sealed.pages}
	if l.long > 0 {
		r.blocks = p.blocks[l.long-1]
	}
	if l.used > 0 {
		start := len(room)
		room = append(room, bytesAt(p.tails.pages, l.tail)[:l.used]...)
		r.tail = room[start:]
	}
	return r, room
}

// packed returns a sealed block.
func (r *reading) packed(number int) packed {
	b := &r.blocks[number]
	return newPacked(bytesAt(r.sealed, b.offset), b.layout, follows(r.blocks[:number]))
}

// decodeBlock decodes a sealed block.
func (r *reading) decodeBlock(number int, slots, tfs *[blockSize]uint32) {
	p := r.packed(number)
	p.decode(slots, tfs)
}

// decodeTail decodes what follows the blocks and returns how many postings that is.
func (r *reading) decodeTail(slots, tfs *[blockSize]uint32) int {
	return decode(r.tail, follows(r.blocks), slots[:], tfs[:])
}

// all yields all postings, a block at a time. What it yields is valid until the next.
func (r *reading) all() iter.Seq2[[]uint32, []uint32] {
	return func(yield func(slots, tfs []uint32) bool) {
		var slots, tfs [blockSize]uint32
		for number := range r.blocks {
			if r.decodeBlock(number, &slots, &tfs); !yield(slots[:], tfs[:]) {
				return
			}
		}
		if n := r.decodeTail(&slots, &tfs); n > 0 {
			yield(slots[:n], tfs[:n])
		}
	}
}

// decode decodes postings into slots and tfs, which have the same length, and returns how
// many there are. next is the lowest slot that can come first.
func decode(data []byte, next uint32, slots, tfs []uint32) int {
	tfs = tfs[:len(slots)]
	pos, n := 0, 0
	for n < len(slots) && pos < len(data) {
		// The usual posting of one or two bytes is read without a branch: the processor
		// would mispredict it half the time.
		if pos+1 < len(data) && data[pos]|data[pos+1] < 0x80 {
			gap, tf := uint32(data[pos]), uint32(data[pos+1])
			flag := gap & 1
			follows := flag - 1 // all ones if a frequency follows
			next += gap >> 1
			slots[n], tfs[n] = next, tfUnit&^follows|tf&follows
			pos += 2 - int(flag)
		} else {
			gap, width := binary.Uvarint(data[pos:])
			pos += width
			tf := uint64(tfUnit)
			if gap&1 == 0 {
				tf, width = binary.Uvarint(data[pos:])
				pos += width
			}
			next += uint32(gap >> 1)
			slots[n], tfs[n] = next, uint32(tf)
		}
		next++
		n++
	}
	return n
}
