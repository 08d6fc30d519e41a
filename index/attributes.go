package index

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
)

// Attr is one key and value that a document carries: kind=lesson, lang=go.
type Attr struct {
	Key, Value string
}

// Clause is one condition of a filter: the key has one of the values.
type Clause struct {
	Key string
	// Values are alternatives; without any the clause matches nothing.
	Values []string
	// Prefix makes each of Values stand for all values that begin with it,
	// for paths. It costs a look at every distinct value of the key.
	Prefix bool
}

// Attributes knows which documents carry which attributes, and turns a filter
// into a bitmap of documents. A document may carry several values of a key:
// one text that lies in two sandboxes has two. Clauses are matched against the
// document as a whole, so they cannot tell which value of one key goes with
// which of another.
//
// Attributes is safe for concurrent use. The zero value is empty and ready.
type Attributes struct {
	mu sync.RWMutex // guards all below
	// all are the documents known, with attributes or without.
	all *roaring.Bitmap
	// postings are the documents of each value, by key, then by value. A
	// value whose last document has gone is removed.
	postings map[string]map[string]*posting
	nextID   uint32
	// sets are the distinct combinations of attributes, by the ids of their
	// postings. Documents share them: the chunks of a file carry the same.
	sets map[string]*attrSet
	of   Table[*attrSet]
}

// posting holds the documents that carry one attribute.
type posting struct {
	attr Attr
	id   uint32
	docs *roaring.Bitmap
}

// attrSet is one combination of attributes, sorted by posting.
type attrSet struct {
	key      string
	postings []*posting
	docs     int
}

// Set makes attrs the attributes of doc, in place of those it had. Repeated
// attributes count once; without any the document is known and matched by a
// filter without clauses only.
func (a *Attributes) Set(doc uint32, attrs []Attr) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all == nil {
		a.all = roaring.New()
		a.postings = make(map[string]map[string]*posting)
		a.sets = make(map[string]*attrSet)
	}
	next := a.set(attrs)
	old, known := a.of.Get(doc)
	if old == next {
		return
	}
	// Add before removing, so that a posting which both have is not dropped
	// and made again.
	for _, p := range next.postings {
		p.docs.Add(doc)
	}
	next.docs++
	a.of.Set(doc, next)
	a.all.Add(doc)
	if known {
		a.release(doc, old, next)
	}
}

// Delete forgets doc. One that is not known is left at that.
func (a *Attributes) Delete(doc uint32) {
	a.mu.Lock()
	defer a.mu.Unlock()
	old, known := a.of.Get(doc)
	if !known {
		return
	}
	a.of.Delete(doc)
	a.all.Remove(doc)
	a.release(doc, old, nil)
}

// Len is how many documents are known.
func (a *Attributes) Len() int {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.of.Len()
}

// Match returns the documents that every clause matches, all known documents
// when there is none. The bitmap belongs to the caller.
func (a *Attributes) Match(clauses ...Clause) *roaring.Bitmap {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if a.all == nil {
		return roaring.New()
	}
	if len(clauses) == 0 {
		return a.all.Clone()
	}
	out := a.match(clauses[0])
	for _, c := range clauses[1:] {
		if out.IsEmpty() {
			break
		}
		out.And(a.match(c))
	}
	return out
}

// match returns the documents of one clause in a bitmap of their own.
func (a *Attributes) match(c Clause) *roaring.Bitmap {
	var found []*roaring.Bitmap
	values := a.postings[c.Key]
	if c.Prefix {
		for value, p := range values {
			begins := func(prefix string) bool { return strings.HasPrefix(value, prefix) }
			if slices.ContainsFunc(c.Values, begins) {
				found = append(found, p.docs)
			}
		}
	} else {
		for _, value := range c.Values {
			if p, ok := values[value]; ok {
				found = append(found, p.docs)
			}
		}
	}
	if len(found) == 1 {
		return found[0].Clone()
	}
	return roaring.FastOr(found...) // always a new bitmap for none or several
}

// set returns the combination of attrs, making it and its postings if new.
func (a *Attributes) set(attrs []Attr) *attrSet {
	postings := make([]*posting, 0, len(attrs))
	for _, attr := range attrs {
		postings = append(postings, a.posting(attr))
	}
	slices.SortFunc(postings, func(x, y *posting) int { return cmp.Compare(x.id, y.id) })
	postings = slices.Compact(postings)

	key := make([]byte, 0, 4*len(postings))
	for _, p := range postings {
		key = binary.BigEndian.AppendUint32(key, p.id)
	}
	s, ok := a.sets[string(key)]
	if !ok {
		s = &attrSet{key: string(key), postings: slices.Clip(postings)}
		a.sets[s.key] = s
	}
	return s
}

func (a *Attributes) posting(attr Attr) *posting {
	values, ok := a.postings[attr.Key]
	if !ok {
		values = make(map[string]*posting)
		a.postings[attr.Key] = values
	}
	p, ok := values[attr.Value]
	if !ok {
		// The strings may be cut from a file's text: keep only what is needed.
		attr.Key, attr.Value = strings.Clone(attr.Key), strings.Clone(attr.Value)
		p = &posting{attr: attr, id: a.nextID, docs: roaring.New()}
		a.nextID++
		values[attr.Value] = p
	}
	return p
}

// release takes doc out of the postings of old that next does not share, and
// removes what nobody uses any more. next is nil when the document goes.
func (a *Attributes) release(doc uint32, old, next *attrSet) {
	for _, p := range old.postings {
		if next != nil && slices.Contains(next.postings, p) {
			continue
		}
		p.docs.Remove(doc)
		if !p.docs.IsEmpty() {
			continue
		}
		values := a.postings[p.attr.Key]
		delete(values, p.attr.Value)
		if len(values) == 0 {
			delete(a.postings, p.attr.Key)
		}
	}
	if old.docs--; old.docs == 0 {
		delete(a.sets, old.key)
	}
}
