package index

import (
	"cmp"
	"iter"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

const (
	// recencyBlock is the most documents in a block, and recencyGroup the most blocks in a
	// group. A query looks into one block and ORs the bitmaps of one group; each other
	// group is one bitmap for up to 16,384 documents.
	recencyBlock = 256
	recencyGroup = 64
)

// Recency orders documents by a time, and returns those at or after a time. A query costs a
// few hundred steps and one union for each 16,384 documents, not a look at every document.
//
// The zero value is empty and ready. It is not safe for concurrent use: its owner locks.
type Recency struct {
	groups []*recencyRange // oldest first, none empty
}

// recencyRange is a group with its blocks, or a block with its documents.
type recencyRange struct {
	docs   *roaring.Bitmap
	blocks []*recencyRange // of a group
	stamps []stamp         // of a block
}

// stamp is a document and its time in milliseconds.
type stamp struct {
	at  int64
	doc uint32
}

func compareStamps(a, b stamp) int {
	if a.at != b.at { // nearly always
		return cmp.Compare(a.at, b.at)
	}
	return cmp.Compare(a.doc, b.doc)
}

func (r *recencyRange) first() stamp {
	if r.blocks != nil {
		return r.blocks[0].stamps[0]
	}
	return r.stamps[0]
}

// holding returns the index of the range that a stamp is in or belongs into.
func holding(ranges []*recencyRange, s stamp) int {
	at, found := slices.BinarySearchFunc(ranges, s, func(r *recencyRange, s stamp) int { return compareStamps(r.first(), s) })
	if found || at == 0 {
		return at
	}
	return at - 1
}

// Add adds a document, which must not be in the set, with its time.
func (r *Recency) Add(doc uint32, at int64) {
	s := stamp{at, doc}
	if len(r.groups) == 0 {
		block := &recencyRange{docs: roaring.BitmapOf(doc), stamps: []stamp{s}}
		r.groups = []*recencyRange{{docs: roaring.BitmapOf(doc), blocks: []*recencyRange{block}}}
		return
	}
	g := holding(r.groups, s)
	group := r.groups[g]
	b := holding(group.blocks, s)
	block := group.blocks[b]
	group.docs.Add(doc)
	block.docs.Add(doc)
	i, _ := slices.BinarySearchFunc(block.stamps, s, compareStamps)
	block.stamps = slices.Insert(block.stamps, i, s)
	if len(block.stamps) <= recencyBlock {
		return
	}
	half := splitAt(len(block.stamps), i, g == len(r.groups)-1 && b == len(group.blocks)-1)
	upper := &recencyRange{docs: roaring.New(), stamps: slices.Clone(block.stamps[half:])}
	for _, s := range upper.stamps {
		upper.docs.Add(s.doc)
	}
	block.stamps = slices.Clip(block.stamps[:half])
	block.docs.AndNot(upper.docs)
	group.blocks = slices.Insert(group.blocks, b+1, upper)
	if len(group.blocks) <= recencyGroup {
		return
	}
	half = splitAt(len(group.blocks), b+1, g == len(r.groups)-1)
	next := &recencyRange{docs: roaring.New(), blocks: slices.Clone(group.blocks[half:])}
	for _, block := range next.blocks {
		next.docs.Or(block.docs)
	}
	group.blocks = slices.Clip(group.blocks[:half])
	group.docs.AndNot(next.docs)
	r.groups = slices.Insert(r.groups, g+1, next)
}

// Fill makes an empty set one of documents with their times, each of them once.
func (r *Recency) Fill(docs iter.Seq2[uint32, int64]) {
	var stamps []stamp
	for doc, at := range docs {
		stamps = append(stamps, stamp{at, doc})
	}
	slices.SortFunc(stamps, compareStamps)
	numbers := make([]uint32, len(stamps))
	for i, s := range stamps {
		numbers[i] = s.doc
	}
	for len(stamps) > 0 {
		group := &recencyRange{docs: roaring.BitmapOf(numbers[:min(len(numbers), recencyBlock*recencyGroup)]...)}
		for len(stamps) > 0 && len(group.blocks) < recencyGroup {
			n := min(len(stamps), recencyBlock)
			group.blocks = append(group.blocks, &recencyRange{docs: roaring.BitmapOf(numbers[:n]...), stamps: slices.Clone(stamps[:n])})
			stamps, numbers = stamps[n:], numbers[n:]
		}
		r.groups = append(r.groups, group)
	}
}

// splitAt is where a range of n is split after an insertion at i. Documents that arrive in
// the order of their times leave full ranges behind.
func splitAt(n, i int, last bool) int {
	if last && i == n-1 {
		return n - 1
	}
	return n / 2
}

// Remove removes a document with the time that it was added with.
func (r *Recency) Remove(doc uint32, at int64) {
	s := stamp{at, doc}
	if len(r.groups) == 0 {
		return
	}
	g := holding(r.groups, s)
	group := r.groups[g]
	b := holding(group.blocks, s)
	block := group.blocks[b]
	i, found := slices.BinarySearchFunc(block.stamps, s, compareStamps)
	if !found {
		return
	}
	block.stamps = slices.Delete(block.stamps, i, i+1)
	block.docs.Remove(doc)
	group.docs.Remove(doc)
	if len(block.stamps) > 0 {
		return
	}
	if group.blocks = slices.Delete(group.blocks, b, b+1); len(group.blocks) == 0 {
		r.groups = slices.Delete(r.groups, g, g+1)
	}
}

// Holds says whether a document is in the set with a time.
func (r *Recency) Holds(doc uint32, at int64) bool {
	s := stamp{at, doc}
	if len(r.groups) == 0 {
		return false
	}
	group := r.groups[holding(r.groups, s)]
	_, found := slices.BinarySearchFunc(group.blocks[holding(group.blocks, s)].stamps, s, compareStamps)
	return found
}

// Since returns the documents whose time is at or later. The bitmap belongs to the caller.
func (r *Recency) Since(at int64) *roaring.Bitmap {
	s := stamp{at: at}
	if len(r.groups) == 0 {
		return roaring.New()
	}
	g := holding(r.groups, s)
	group := r.groups[g]
	b := holding(group.blocks, s)
	var whole []*roaring.Bitmap
	for _, later := range group.blocks[b+1:] {
		whole = append(whole, later.docs)
	}
	for _, later := range r.groups[g+1:] {
		whole = append(whole, later.docs)
	}
	out := roaring.FastOr(whole...)
	stamps := group.blocks[b].stamps
	i, _ := slices.BinarySearchFunc(stamps, s, compareStamps)
	for _, s := range stamps[i:] {
		out.Add(s.doc)
	}
	return out
}

// Len is the number of documents.
func (r *Recency) Len() int {
	n := 0
	for _, g := range r.groups {
		n += int(g.docs.GetCardinality())
	}
	return n
}
