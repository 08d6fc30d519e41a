package lexical

import "github.com/RoaringBitmap/roaring/v2"

// bitset holds slots, which are dense. Roaring serves the callers' sets of
// documents; a scan over postings wants the plain form.
type bitset []uint64

func (b bitset) has(slot uint32) bool { return b[slot>>6]&(1<<(slot&63)) != 0 }

func (b bitset) set(slot uint32) { b[slot>>6] |= 1 << (slot & 63) }

// grown returns the set with room for n slots.
func (b bitset) grown(n int) bitset {
	for len(b) < (n+63)>>6 {
		b = append(b, 0)
	}
	return b
}

// slotTable maps documents to slots. Document numbers are dense as a whole but
// may begin anywhere, so the table is paged.
type slotTable map[uint32]*slotPage

const pageBits = 12

// slotPage holds slot+1 for each document of a page, 0 for none.
type slotPage [1 << pageBits]uint32

func (t slotTable) get(doc uint32) (uint32, bool) {
	page := t[doc>>pageBits]
	if page == nil {
		return 0, false
	}
	v := page[doc&(1<<pageBits-1)]
	return v - 1, v != 0
}

func (t slotTable) set(doc, slot uint32) {
	page := t[doc>>pageBits]
	if page == nil {
		page = new(slotPage)
		t[doc>>pageBits] = page
	}
	page[doc&(1<<pageBits-1)] = slot + 1
}

func (t slotTable) remove(doc uint32) {
	if page := t[doc>>pageBits]; page != nil {
		page[doc&(1<<pageBits-1)] = 0
	}
}

// collect appends the slots of the documents that have one, in the order of the
// documents. It reads the bitmap in batches, since a set may hold every document.
func (t slotTable) collect(slots []uint32, docs *roaring.Bitmap) []uint32 {
	var batch [256]uint32
	var page *slotPage
	key := ^uint32(0)
	it := docs.ManyIterator()
	for n := it.NextMany(batch[:]); n > 0; n = it.NextMany(batch[:]) {
		for _, doc := range batch[:n] {
			if k := doc >> pageBits; k != key {
				key, page = k, t[k]
			}
			if page == nil {
				continue
			}
			if v := page[doc&(1<<pageBits-1)]; v != 0 {
				slots = append(slots, v-1)
			}
		}
	}
	return slots
}
