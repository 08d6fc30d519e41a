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
	// Name tells patterns apart: two of one name are the same.
	Name string
	// Prefix is what every value that fits begins with.
	Prefix string
	// Fits says whether a value that begins with the prefix fits. It must always say
	// the same of a value, must be quick, and is called from several goroutines.
	Fits func(value string) bool
}

const (
	// maxPatterns is how many patterns of a key are kept with their documents. A new
	// value is compared with each of them.
	maxPatterns = 16
	// unionPart is how many postings join a union under one taking of the lock.
	unionPart = 256
)

// union is the documents of all values that fit a pattern. The first question with a
// pattern looks at every distinct value that begins with its prefix; from then on the
// union follows what changes, so that later questions cost a copy of it.
type union struct {
	Pattern
	docs *roaring.Bitmap
	// ready is closed when all values that there were have joined.
	ready chan struct{}
	used  atomic.Uint64 // when it was last asked for, by Attributes.asks
	gone  bool          // it made room for another
}

func (u *union) fits(value string) bool { return strings.HasPrefix(value, u.Prefix) && u.Fits(value) }

// prepare makes the union of a pattern, or waits for who makes it already.
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
		return // nothing has the key
	}
	if u == nil {
		a.unite(key, p, now)
		return
	}
	u.used.Store(now)
	<-u.ready
}

// unite makes the union of a pattern: its values are compared outside the lock and
// join it in portions, so that nobody waits long.
func (a *Attributes) unite(key string, p Pattern, now uint64) {
	a.mu.Lock()
	v := a.keys[key]
	if v == nil {
		a.mu.Unlock()
		return
	}
	if u := v.patterns[p.Name]; u != nil { // somebody was quicker
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
	v.patterns[p.Name] = u // what appears from here on joins it by itself
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

// makeRoom drops the union that was not asked for the longest, if there are as many
// as are kept. One that is being made is never dropped.
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
		oldest.gone, oldest.docs = true, nil // postings forget it when they are next touched
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

// join has a union follow the posting.
func (p *posting) join(u *union) {
	p.forget()
	if !slices.Contains(p.unions, u) {
		p.unions = append(p.unions, u)
	}
	u.docs.Or(p.docs)
}

func (p *posting) forget() {
	if slices.ContainsFunc(p.unions, isGone) {
		p.unions = slices.DeleteFunc(p.unions, isGone)
	}
}

func isGone(u *union) bool { return u.gone }

func (p *posting) add(doc uint32) {
	p.docs.Add(doc)
	p.forget()
	for _, u := range p.unions {
		u.docs.Add(doc)
	}
}

// remove takes a document out, also out of the unions in which none of the
// attributes that it has from now on is.
func (p *posting) remove(doc uint32, next *attrSet) {
	p.docs.Remove(doc)
	p.forget()
	for _, u := range p.unions {
		if next == nil || !next.within(u) {
			u.docs.Remove(doc)
		}
	}
}

// within says that one of the attributes fits a union's pattern.
func (s *attrSet) within(u *union) bool {
	for p := range s.all() {
		if slices.Contains(p.unions, u) {
			return true
		}
	}
	return false
}
