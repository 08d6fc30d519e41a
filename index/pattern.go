package index

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2"
)

// Pattern is a condition on the values of a key.
type Pattern struct {
	// Name identifies the pattern: two patterns with one name are the same.
	Name string
	// Prefix begins every matching value.
	Prefix string
	// Fits says whether a value with the prefix matches. It must be deterministic, quick
	// and safe to call from several goroutines.
	Fits func(value string) bool
}

const (
	// maxPatterns is how many patterns of a key have their union cached. A new value is
	// compared with each of them.
	maxPatterns = 16
	// unionPart is how many postings join a union under one hold of the lock.
	unionPart = 256
)

// union is the set of documents of all values that match a pattern. The first query with a
// pattern tests every distinct value with its prefix; afterwards the union follows changes,
// so that later queries only copy it.
type union struct {
	Pattern
	docs *roaring.Bitmap
	// ready is closed when all existing values have joined.
	ready chan struct{}
	used  atomic.Uint64 // last use, by Attributes.asks
	gone  bool          // evicted for another
}

func (u *union) fits(value string) bool { return strings.HasPrefix(value, u.Prefix) && u.Fits(value) }

// prepare makes the union of a pattern, or waits for the goroutine that is making it.
func (a *Attributes) prepare(key string, p Pattern) {
	now := a.asks.Add(1)
	a.mu.RLock()
	v := a.keys[key]
	var u *union
	if v != nil {
		u = v.patterns[p.Name]
	}
	a.mu.RUnlock()
	if v == nil {
		return // no value of this key
	}
	if u == nil {
		a.unite(key, p, now)
		return
	}
	u.used.Store(now)
	<-u.ready
}

// unite makes the union of a pattern. Its values are compared outside the lock and join in
// portions, so that no other caller waits long.
func (a *Attributes) unite(key string, p Pattern, now uint64) {
	a.mu.Lock()
	v := a.keys[key]
	if v == nil {
		a.mu.Unlock()
		return
	}
	if u := v.patterns[p.Name]; u != nil { // another goroutine was quicker
		a.mu.Unlock()
		<-u.ready
		return
	}
	u := &union{Pattern: p, docs: roaring.New(), ready: make(chan struct{})}
	u.used.Store(now)
	v.makeRoom()
	if v.patterns == nil {
		v.patterns = map[string]*union{}
	}
	v.patterns[p.Name] = u // from here on new values join by themselves
	there := slices.Collect(v.within(p.Prefix))
	a.mu.Unlock()
	defer close(u.ready)

	there = slices.DeleteFunc(there, func(p *posting) bool { return !u.Fits(p.attr.Value) })
	for part := range slices.Chunk(there, unionPart) {
		a.mu.Lock()
		for _, p := range part {
			if !p.dead {
				p.join(u)
			}
		}
		a.mu.Unlock()
	}
}

// makeRoom drops the least recently used union if there are maxPatterns. A union that is
// being made is never dropped.
func (v *values) makeRoom() {
	if len(v.patterns) < maxPatterns {
		return
	}
	var oldest *union
	least := uint64(math.MaxUint64)
	for _, u := range v.patterns {
		select {
		case <-u.ready:
		default:
			continue
		}
		if used := u.used.Load(); used < least {
			oldest, least = u, used
		}
	}
	if oldest != nil {
		delete(v.patterns, oldest.Name)
		oldest.gone, oldest.docs = true, nil // postings drop their reference when they are next touched
	}
}

// within yields the postings whose values begin with a prefix.
func (v *values) within(prefix string) iter.Seq[*posting] {
	return func(yield func(*posting) bool) {
		for p := range v.order.From(&posting{attr: Attr{Value: prefix}}) {
			if !strings.HasPrefix(p.attr.Value, prefix) || !yield(p) {
				return
			}
		}
	}
}

func byValue(a, b *posting) int { return cmp.Compare(a.attr.Value, b.attr.Value) }

// join makes a union follow the posting.
func (p *posting) join(u *union) {
	p.forget()
	if !slices.Contains(p.unions, u) {
		p.unions = append(p.unions, u)
	}
	p.docs.addTo(u.docs)
}

func (p *posting) forget() {
	if slices.ContainsFunc(p.unions, isGone) {
		p.unions = slices.DeleteFunc(p.unions, isGone)
	}
}

func isGone(u *union) bool { return u.gone }

func (p *posting) add(doc uint32) {
	p.docs.add(doc)
	p.forget()
	for _, u := range p.unions {
		u.docs.Add(doc)
	}
}

// remove takes a document out, also from the unions that match none of the attributes in
// next.
func (p *posting) remove(doc uint32, next *attrSet) {
	p.docs.remove(doc)
	p.forget()
	for _, u := range p.unions {
		if next == nil || !next.within(u) {
			u.docs.Remove(doc)
		}
	}
}

// within says whether one of the attributes matches a union's pattern.
func (s *attrSet) within(u *union) bool {
	for p := range s.all() {
		if slices.Contains(p.unions, u) {
			return true
		}
	}
	return false
}
