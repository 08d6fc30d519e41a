package lexical

import "encoding/binary"

// postings is the list of one term: for each slot that holds it, in increasing
// order, the gap to the slot before and the term's frequency in units of
// 1/tfUnit. A frequency of exactly one occurrence is a flag in the lowest bit of
// the gap, so the common posting takes one or two bytes.
//
// Bytes once written never change: a copy of the struct is a snapshot that stays
// readable while the original grows.
type postings struct {
	data []byte
	// n counts the postings, including dead slots.
	n uint32
	// next is the lowest slot that can be added.
	next uint32
}

// add appends a posting. Slots must come in increasing order; a slot already in the list is
// ignored, so a repeated term of a document does no harm.
func (p *postings) add(slot, tf uint32) {
	if slot < p.next {
		return
	}
	gap := uint64(slot-p.next) << 1
	if tf == tfUnit {
		p.data = appendUvarint(p.data, gap|1)
	} else {
		p.data = appendUvarint(p.data, gap)
		p.data = appendUvarint(p.data, uint64(tf))
	}
	p.next = slot + 1
	p.n++
}

// appendUvarint is binary.AppendUvarint with the one-byte case inlined.
func appendUvarint(b []byte, v uint64) []byte {
	if v < 0x80 {
		return append(b, byte(v))
	}
	return binary.AppendUvarint(b, v)
}

// cursor reads a list from its start.
type cursor struct {
	data []byte
	next uint32
}

func (p postings) cursor() cursor { return cursor{data: p.data} }

// fill decodes postings into slots and tfs, which have the same length, and
// returns how many it wrote: fewer than fit only at the end of the list.
func (c *cursor) fill(slots, tfs []uint32) int {
	data, next := c.data, c.next
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
	c.data, c.next = data[pos:], next
	return n
}
