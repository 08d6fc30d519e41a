package index

import (
	"cmp"
	"encoding/binary"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2"
)

// Attr is one key and value that a document carries: kind=lesson, lang=go.
type Attr struct {
	Key, Value string
}

// Clause is one condition of a filter: the key has one of the values, or one that
// fits the pattern.
type Clause struct {
	Key string
	// Values are alternatives. Without values and without a pattern the clause matches
	// nothing.
	Values []string
	// Pattern adds all values that match it. It is used for paths.
	Pattern *Pattern
}

// Attributes knows which documents carry which attributes, and turns a filter into a bitmap
// of documents. A document may carry several values of a key: a text in two sandboxes has
// two. Clauses are matched against the document as a whole, so they cannot tell which value
// of one key goes with which of another.
//
// Attributes is safe for concurrent use. The zero value is empty and ready.
type Attributes struct {
	mu sync.RWMutex // guards all below
	// all are the documents known, with attributes or without.
	all *roaring.Bitmap
	// keys hold the documents of each value. A value without documents is removed, and a
	// key without values and patterns.
	keys   map[string]*values
	nextID uint32
	// sets are the distinct combinations of attributes, by the ids of their postings. The
	// chunks of a file share one.
	sets map[string]*attrSet
	of   Table[*attrSet]

	asks atomic.Uint64 // pattern queries so far, see union.used
}

// values are the postings and patterns of one key.
type values struct {
	of       map[string]*posting
	order    *Sorted[*posting]
	patterns map[string]*union // patterns queried so far, by name
}

// posting holds the documents that carry one attribute.
type posting struct {
	attr   Attr
	id     uint32
	docs   docSet
	unions []*union // of the patterns that the value matches
	dead   bool     // its last document was removed
}

// attrSet is one combination of attributes, sorted by posting.
type attrSet struct {
	key      string
	postings []*posting
	docs     int
	// own replaces the fields above in the combination that Change made for a single
	// document. No other document shares it.
	own map[*posting]struct{}
}

func (s *attrSet) has(p *posting) bool {
	if s.own != nil {
		_, ok := s.own[p]
		return ok
	}
	return slices.Contains(s.postings, p)
}

func (s *attrSet) all() iter.Seq[*posting] {
	if s.own != nil {
		return maps.Keys(s.own)
	}
	return slices.Values(s.postings)
}

// Set replaces the attributes of doc with attrs. Repeated attributes count once. A document
// without attributes is still known: only a filter without clauses matches it.
func (a *Attributes) Set(doc uint32, attrs []Attr) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.init()
	next := a.set(attrs)
	old, known := a.of.Get(doc)
	if old == next {
		return
	}
	// Add before removing, so that a posting which both have is not dropped
	// and made again.
	for _, p := range next.postings {
		p.add(doc)
	}
	next.docs++
	a.of.Set(doc, next)
	a.all.Add(doc)
	if known {
		a.release(doc, old, next)
	}
}

// Fill gives documents the same attributes. None of them may be known yet.
func (a *Attributes) Fill(docs []uint32, attrs []Attr) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.init()
	s := a.set(attrs)
	for _, p := range s.postings {
		p.docs.addMany(docs)
		for _, u := range p.unions {
			u.docs.AddMany(docs)
		}
	}
	s.docs += len(docs)
	for _, doc := range docs {
		a.of.Set(doc, s)
	}
	a.all.AddMany(docs)
}

// Change adds attributes to a document and removes others. Its cost depends on the number
// of changed attributes, not on how many the document has. Adding an attribute that the
// document has, or removing one that it lacks, is a no-op.
func (a *Attributes) Change(doc uint32, add, remove []Attr) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.init()
	s, known := a.of.Get(doc)
	if !known || s.own == nil {
		own := &attrSet{own: map[*posting]struct{}{}}
		if known {
			for _, p := range s.postings {
				own.own[p] = struct{}{}
			}
			a.leave(s)
		}
		s = own
		a.of.Set(doc, s)
		a.all.Add(doc)
	}
	for _, attr := range add {
		p := a.posting(attr)
		s.own[p] = struct{}{}
		p.add(doc)
	}
	for _, attr := range remove {
		v := a.keys[attr.Key]
		if v == nil || v.of[attr.Value] == nil {
			continue
		}
		if p := v.of[attr.Value]; s.has(p) {
			delete(s.own, p)
			a.remove(doc, p, s)
		}
	}
}

// Of returns the attributes of a document, by key, then by value.
func (a *Attributes) Of(doc uint32) []Attr {
	a.mu.RLock()
	defer a.mu.RUnlock()
	s, known := a.of.Get(doc)
	if !known {
		return nil
	}
	var attrs []Attr
	for p := range s.all() {
		attrs = append(attrs, p.attr)
	}
	slices.SortFunc(attrs, func(x, y Attr) int { return cmp.Or(cmp.Compare(x.Key, y.Key), cmp.Compare(x.Value, y.Value)) })
	return attrs
}

func (a *Attributes) init() {
	if a.all == nil {
		a.all = roaring.New()
		a.keys = make(map[string]*values)
		a.sets = make(map[string]*attrSet)
	}
}

// Delete forgets doc. Deleting an unknown document is a no-op.
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

// Match returns the documents that match every clause, or all known documents without
// clauses. The bitmap belongs to the caller.
func (a *Attributes) Match(clauses ...Clause) *roaring.Bitmap {
	for _, c := range clauses {
		if c.Pattern != nil {
			a.prepare(c.Key, *c.Pattern)
		}
	}
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
	out := roaring.New()
	v := a.keys[c.Key]
	if v == nil {
		return out
	}
	for _, value := range c.Values {
		if p, ok := v.of[value]; ok {
			p.docs.addTo(out)
		}
	}
	if c.Pattern != nil {
		if u := v.patterns[c.Pattern.Name]; u != nil {
			out.Or(u.docs)
		} else { // the union was evicted since it was prepared
			for p := range v.within(c.Pattern.Prefix) {
				if c.Pattern.Fits(p.attr.Value) {
					p.docs.addTo(out)
				}
			}
		}
	}
	return out
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
	v, ok := a.keys[attr.Key]
	if !ok {
		v = &values{of: make(map[string]*posting), order: NewSorted(byValue)}
		a.keys[attr.Key] = v
	}
	p, ok := v.of[attr.Value]
	if !ok {
		// The strings may be parts of a file's text: clone them so that the text can be
		// freed.
		attr.Key, attr.Value = strings.Clone(attr.Key), strings.Clone(attr.Value)
		p = &posting{attr: attr, id: a.nextID}
		a.nextID++
		v.of[attr.Value] = p
		v.order.Insert(p)
		for _, u := range v.patterns {
			if u.fits(attr.Value) {
				p.unions = append(p.unions, u)
			}
		}
	}
	return p
}

// release takes doc out of the postings of old that next does not share, and removes
// combinations and postings without documents. next is nil when the document is removed.
func (a *Attributes) release(doc uint32, old, next *attrSet) {
	for p := range old.all() {
		if next == nil || !next.has(p) {
			a.remove(doc, p, next)
		}
	}
	a.leave(old)
}

// remove takes doc out of a posting. next are the attributes that doc keeps, nil for none.
func (a *Attributes) remove(doc uint32, p *posting, next *attrSet) {
	p.remove(doc, next)
	if !p.docs.isEmpty() {
		return
	}
	p.dead = true
	v := a.keys[p.attr.Key]
	delete(v.of, p.attr.Value)
	v.order.Delete(p)
	if len(v.of) == 0 && len(v.patterns) == 0 {
		delete(a.keys, p.attr.Key)
	}
}

// leave takes a document out of a combination.
func (a *Attributes) leave(s *attrSet) {
	if s.own != nil {
		return
	}
	if s.docs--; s.docs == 0 {
		delete(a.sets, s.key)
	}
}
