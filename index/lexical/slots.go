package lexical

import (
	"github.com/RoaringBitmap/roaring/v2"

	"github.com/recalld/recalld/index"
)

// bitset holds slots, which are dense. Callers' sets of documents are roaring bitmaps; a
// scan over postings is faster with a plain bitset.
type bitset []uint64

func (b bitset) has(slot uint32) bool { return b[slot>>6]&(1<<(slot&63)) != 0 }

func (b bitset) set(slot uint32) { b[slot>>6] |= 1 << (slot & 63) }

// grown returns the set with capacity for n slots.
func (b bitset) grown(n int) bitset {
	for len(b) < (n+63)>>6 {
		b = append(b, 0)
	}
	return b
}

// slotsOf appends the slots of the documents that have one, in the order of the
// documents. It reads the bitmap in batches, since a set may hold every document.
func slotsOf(table *index.Table[uint32], slots []uint32, docs *roaring.Bitmap) []uint32 {
	var batch [256]uint32
	it := docs.ManyIterator()
	for n := it.NextMany(batch[:]); n > 0; n = it.NextMany(batch[:]) {
		for _, doc := range batch[:n] {
			if slot, ok := table.Get(doc); ok {
				slots = append(slots, slot)
			}
		}
	}
	return slots
}
