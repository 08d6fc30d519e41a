package lexical

import (
	"encoding/binary"
	"math/bits"
)

// packed is a sealed block: the distance of each slot from base in a fixed number of bits,
// then each frequency in a fixed number of bits. So a posting is read, and a slot is found,
// without its neighbours.
type packed struct {
	data             []byte
	base             uint32
	slotBits, tfBits int
	unit             uint32 // of the frequencies
}

// layout is how a block is packed: the bits of a slot; the bits of a frequency less one in
// the low bits of the second byte, whose highest bit says that frequencies are whole
// occurrences.
type layout struct{ slot, tf uint8 }

const wholeOccurrences = 1 << 7

// layoutOf returns the smallest layout of a block's postings; base is the lowest slot that
// they could have.
func layoutOf(base uint32, slots, tfs *[blockSize]uint32) layout {
	highest, whole := uint32(0), true
	for _, tf := range tfs {
		highest, whole = max(highest, tf), whole && tf%tfUnit == 0
	}
	l := layout{slot: uint8(bits.Len32(slots[blockSize-1] - base))}
	if whole {
		l.tf = uint8(bits.Len32(highest/tfUnit-1)) | wholeOccurrences
	} else {
		l.tf = uint8(bits.Len32(highest - 1))
	}
	return l
}

// largestBlock is more than the size of any block.
const largestBlock = blockSize * 2 * 32 / 8

// bytes is the size of a block.
func (l layout) bytes() int {
	return (blockSize*int(l.slot)+7)/8 + (blockSize*int(l.tf&^wholeOccurrences)+7)/8
}

func newPacked(data []byte, l layout, base uint32) packed {
	p := packed{data: data, base: base, slotBits: int(l.slot), tfBits: int(l.tf &^ wholeOccurrences), unit: 1}
	if l.tf&wholeOccurrences != 0 {
		p.unit = tfUnit
	}
	return p
}

// pack writes a block. What it writes to is zero.
func pack(data []byte, l layout, base uint32, slots, tfs *[blockSize]uint32) {
	p := newPacked(data, l, base)
	put := func(bit int, value uint32) {
		word := data[bit>>3:]
		binary.LittleEndian.PutUint64(word, binary.LittleEndian.Uint64(word)|uint64(value)<<(bit&7))
	}
	for i, slot := range slots {
		put(i*p.slotBits, slot-base)
		put(blockSize*p.slotBits+i*p.tfBits, tfs[i]/p.unit-1)
	}
}

// number is the number of width bits, at most 32, at a bit. It reads 8 bytes.
func (p *packed) number(bit, width int) uint32 {
	return uint32(binary.LittleEndian.Uint64(p.data[bit>>3:]) >> (bit & 7) & (1<<width - 1))
}

// slot is the slot of a posting of the block.
func (p *packed) slot(i int) uint32 { return p.base + p.number(i*p.slotBits, p.slotBits) }

// tf is the frequency of a posting of the block.
func (p *packed) tf(i int) uint32 {
	return (p.number(blockSize*p.slotBits+i*p.tfBits, p.tfBits) + 1) * p.unit
}

// decode decodes all postings of the block.
func (p *packed) decode(slots, tfs *[blockSize]uint32) {
	for i := range slots {
		slots[i], tfs[i] = p.slot(i), p.tf(i)
	}
}

// search returns the first posting, from one on, whose slot is not below a slot, which is at
// most the last of the block. It begins where the slot would be if all lay equally far apart,
// and so reads few places, close together.
func (p *packed) search(from int, slot, last uint32) int {
	to := max(from, int(uint64(slot-p.base)*(blockSize-1)/uint64(last-p.base+1)))
	if step := 2; p.slot(to) < slot {
		for from = to + 1; from+step < blockSize && p.slot(from+step) < slot; step *= 2 {
			from += step + 1
		}
		to = min(from+step, blockSize-1)
	} else {
		for ; to-step >= from && p.slot(to-step) >= slot; step *= 2 {
			to -= step
		}
		from = max(from, to-step+1)
	}
	for from < to {
		if middle := (from + to) / 2; p.slot(middle) < slot {
			from = middle + 1
		} else {
			to = middle
		}
	}
	return from
}
