package lexical

import (
	"math/bits"
	"math/rand/v2"

	"github.com/cespare/xxhash/v2"
)

// dictionary numbers terms in the order of their arrival. It identifies a term by a 64-bit
// hash, the same in every process, and stores no text. At load every posting is one look-up,
// and a look-up costs its cache misses: one here, four in a map of strings. Two terms with
// equal hashes would be treated as one; among a million terms the chance of any such pair
// is one in 37 million, and its effect a wrong word in common.
type dictionary struct {
	// spread is odd and random: a text made for it cannot crowd terms into a few slots.
	spread uint64
	slots  []dictionarySlot // open addressing; a power of two, at most 3/4 full
	size   int              // number of terms
}

// dictionarySlot is empty when number is 0.
type dictionarySlot struct {
	hash   uint64
	number uint32 // number of the term, plus one
}

const minDictionary = 1 << 10

// newDictionary returns a dictionary without terms, with room for some.
func newDictionary(room int) dictionary {
	size := minDictionary
	for 3*size < 4*room {
		size *= 2
	}
	return dictionary{spread: rand.Uint64() | 1, slots: make([]dictionarySlot, size)}
}

// hash identifies the term in the dictionary.
func (d *dictionary) hash(term string) uint64 { return xxhash.Sum64String(term) }

// hashBytes is hash of a term in bytes.
func (d *dictionary) hashBytes(term []byte) uint64 { return xxhash.Sum64(term) }

// place returns the slot with the hash, or the empty slot where it belongs.
func (d *dictionary) place(hash uint64) *dictionarySlot {
	mask := uint64(len(d.slots) - 1)
	for i := hash * d.spread >> (64 - bits.TrailingZeros(uint(len(d.slots)))); ; i = (i + 1) & mask {
		if slot := &d.slots[i]; slot.number == 0 || slot.hash == hash {
			return slot
		}
	}
}

// find returns the number of a term.
func (d *dictionary) find(hash uint64) (uint32, bool) {
	slot := d.place(hash)
	return slot.number - 1, slot.number != 0
}

// add returns the number of a term, assigning one if it is new.
func (d *dictionary) add(hash uint64) uint32 {
	slot := d.place(hash)
	if slot.number == 0 {
		if 4*(d.size+1) > 3*len(d.slots) {
			d.grow()
			slot = d.place(hash)
		}
		d.size++
		*slot = dictionarySlot{hash, uint32(d.size)}
	}
	return slot.number - 1
}

func (d *dictionary) grow() {
	before := d.slots
	d.slots = make([]dictionarySlot, 2*len(before))
	for _, slot := range before {
		if slot.number != 0 {
			*d.place(slot.hash) = slot
		}
	}
}
