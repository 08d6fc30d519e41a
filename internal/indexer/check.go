package indexer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/recalld/recalld/index/lexical"
	"github.com/recalld/recalld/internal/memory"
)

// Check compares the indexes with what the store holds: every document that a
// record or file references is in them, with its attributes and its vectors,
// and nothing else is. It must not run beside changes.
func (x *Indexer) Check(ctx context.Context) error {
	fresh, err := New(Options{Builtin: x.opts.Builtin, Lexical: x.opts.Lexical})
	if err != nil {
		return err
	}
	x.spaces.mu.RLock()
	for model, e := range x.spaces.models {
		fresh.Expect(model, e)
	}
	x.spaces.mu.RUnlock()
	if err := fresh.Load(ctx, x.store); err != nil {
		return err
	}
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if a, b := x.numbers.Len(), fresh.numbers.Len(); a != b {
		bad("%d documents are numbered, the store has %d", a, b)
	}
	if a, b := x.lexical.Len(), fresh.lexical.Len(); a != b {
		bad("%d documents are searched by words, the store has %d", a, b)
	}
	all := fresh.attrs.Match()
	for it := all.Iterator(); it.HasNext(); {
		theirs := it.Next()
		id, _ := fresh.numbers.ID(theirs)
		ours, ok := x.numbers.Lookup(id)
		if !ok {
			bad("document %s is not indexed", memory.DocID(id))
			continue
		}
		x.compare(fresh, ours, theirs, memory.DocID(id), bad)
	}
	return errors.Join(errs...)
}

func (x *Indexer) compare(fresh *Indexer, ours, theirs uint32, id memory.DocID, bad func(string, ...any)) {
	a, _ := x.docs.Get(ours)
	b, _ := fresh.docs.Get(theirs)
	if !sameAttrs(x, a, fresh, b) {
		bad("document %s: its attributes differ", id)
	}
	if a.paths != b.paths || a.indexed != b.indexed {
		bad("document %s: its paths are %q, should be %q", id, a.paths, b.paths)
	}
	for _, s := range fresh.spaces.list() {
		own := x.spaces.find(s.name)
		if own == nil {
			bad("space %s is not held", s.name)
			continue
		}
		if !slices.Equal(own.vectors.Vector(ours), s.vectors.Vector(theirs)) {
			bad("document %s: its vector in %s differs", id, s.name)
		}
	}
}

func sameAttrs(x *Indexer, a document, y *Indexer, b document) bool {
	left, right := x.attributes(a.refs), y.attributes(b.refs)
	if len(left) != len(right) {
		return false
	}
	for _, attr := range left {
		if !slices.Contains(right, attr) {
			return false
		}
	}
	return true
}

// Analyze turns text into the encoded terms that the store keeps.
func Analyze(text string) []byte { return lexical.EncodeTerms(lexical.Analyze(text)) }
