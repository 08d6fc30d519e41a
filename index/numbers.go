package index

import (
	"hash/maphash"
	"sync"
)

// Numbers gives documents their dense numbers: 0, 1, 2 … in the order in which they are
// first seen. A number is never reused by the process, so an old number means the same
// document or none. At a million documents it takes 26 bytes for each.
//
// Numbers is safe for concurrent use. The zero value is empty and ready.
type Numbers struct {
	mu sync.RWMutex // guards all below
	// numbers finds the number of an id, ids holds them.
	numbers Finder
	ids     Table[[16]byte]
	next    uint32
	seed    maphash.Seed // made for the first id
}

// Number returns the number of id, assigning the next one if it has none; isNew says
// whether it did.
func (n *Numbers) Number(id [16]byte) (number uint32, isNew bool) {
	if number, ok := n.Lookup(id); ok {
		return number, false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	// Another caller may have assigned it between the two locks.
	if number, ok := n.find(id); ok {
		return number, false
	}
	if n.seed == (maphash.Seed{}) {
		n.seed = maphash.MakeSeed()
	}
	number = n.next
	n.next++
	n.ids.Set(number, id)
	n.numbers.Add(number, n.hashOf)
	return number, true
}

// Fill numbers ids from 0 on. Nothing may be numbered yet. If an id is there twice, nothing
// is numbered, and Fill returns false.
func (n *Numbers) Fill(ids [][16]byte) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.seed = maphash.MakeSeed()
	n.numbers.Grow(len(ids), n.hashOf)
	for _, id := range ids {
		if _, twice := n.find(id); twice {
			n.numbers, n.ids, n.next = Finder{}, Table[[16]byte]{}, 0
			return false
		}
		n.ids.Set(n.next, id)
		n.numbers.Add(n.next, n.hashOf)
		n.next++
	}
	return true
}

// Limit is one more than the highest number.
func (n *Numbers) Limit() uint32 {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.next
}

// find and hashOf are called with mu held.

func (n *Numbers) find(id [16]byte) (uint32, bool) {
	if n.numbers.Len() == 0 {
		return 0, false
	}
	return n.numbers.Find(maphash.Bytes(n.seed, id[:]), func(number uint32) bool {
		have, _ := n.ids.Get(number)
		return have == id
	})
}

func (n *Numbers) hashOf(number uint32) uint64 {
	id, _ := n.ids.Get(number)
	return maphash.Bytes(n.seed, id[:])
}

// Reserve returns a number that no document gets: that of something beside a document,
// such as a part of it.
func (n *Numbers) Reserve() uint32 {
	n.mu.Lock()
	defer n.mu.Unlock()
	number := n.next
	n.next++
	return number
}

// Lookup returns the number of id and whether it has one.
func (n *Numbers) Lookup(id [16]byte) (number uint32, ok bool) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.find(id)
}

// ID returns the document that has number and whether there is one.
func (n *Numbers) ID(number uint32) (id [16]byte, ok bool) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.ids.Get(number)
}

// Free forgets number and its document. If the document is added again, it gets a new
// number. An unknown number is ignored.
func (n *Numbers) Free(number uint32) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, ok := n.ids.Get(number); ok {
		n.numbers.Remove(number, n.hashOf)
		n.ids.Delete(number)
	}
}

// Len is how many documents have a number.
func (n *Numbers) Len() int {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.numbers.Len()
}
