package indexer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/recalld/recalld/internal/memory"
)

// Check compares the indexes with the store, by loading a second set of indexes: every
// referenced document with its attributes and vectors, every session with its steps and
// lessons in order, every listed record, and nothing more. It must not run beside
// changes.
func (x *Indexer) Check(ctx context.Context) error {
	fresh, err := New(Options{Builtin: x.opts.Builtin, Lexical: x.opts.Lexical, NoFileNames: x.opts.NoFileNames})
	if err != nil {
		return err
	}
	x.collections.mu.RLock()
	for model, e := range x.collections.models {
		fresh.Expect(model, e)
	}
	x.collections.mu.RUnlock()
	if err := fresh.load(ctx, x.store, x.store.Read, nil); err != nil {
		return err
	}
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if a, b := x.numbers.Len(), fresh.numbers.Len(); a != b {
		bad("%d documents are numbered, the store has %d", a, b)
	}
	for i, w := range x.words {
		if a, b := w.Len(), fresh.words[i].Len(); a != b {
			bad("%d documents are searched by %s, the store has %d", a, w.Name(), b)
		}
	}
	for theirs := range roaring.Values(fresh.attrs.Match()) {
		id, _ := fresh.numbers.ID(theirs)
		ours, ok := x.numbers.Lookup(id)
		if !ok {
			bad("document %s is not indexed", memory.DocID(id))
			continue
		}
		x.compare(fresh, ours, theirs, memory.DocID(id), bad)
	}
	if a, b := x.recency.Len(), fresh.recency.Len(); a != b {
		bad("%d documents are found by their time, the store has %d", a, b)
	}
	x.compareParts(fresh, bad)
	x.compareCalled(fresh, bad)
	x.compareSessions(fresh, bad)
	x.sessions.compare(&fresh.sessions, bad)
	x.listed.compare(&fresh.listed, bad)
	x.compareFileNames(fresh, bad)
	for n := range fresh.owners.allRecords() {
		want := &fresh.owners.all[n]
		if have, ok := x.owners.record(want.id); !ok || !sameOwner(&x.owners.all[have], want) {
			bad("record %s: what filters need of it differs from what is stored", want.id)
		}
	}
	for n := range fresh.owners.allFiles() {
		want := fresh.owners.all[n].file
		if have, ok := x.owners.file(want.FileKey); !ok || x.owners.all[have].file.symbols != want.symbols {
			bad("file %s: what its chunks declare differs from what is stored", want.Path)
		}
	}
	return errors.Join(errs...)
}

// sameOwner compares all that is kept of two records but the numbers of their documents.
func sameOwner(a, b *owner) bool {
	plainly := func(e *owner) owner {
		x := *e
		x.details, x.doc = nil, 0
		return x
	}
	return plainly(a) == plainly(b) && a.turn == b.turn && slices.Equal(a.tags, b.tags) && slices.Equal(a.fingerprints, b.fingerprints) &&
		valueOf(a.rate) == valueOf(b.rate)
}

// valueOf returns what a pointer leads to, the zero value for nil.
func valueOf[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// compare reports where the session index differs from one that was just loaded.
func (s *sessionIndex) compare(fresh *sessionIndex, bad func(string, ...any)) {
	for k := range s.sessions {
		if fresh.sessions[k] == nil {
			bad("session %s: it is indexed and not stored", k.ID)
		}
	}
	for k, want := range fresh.sessions {
		have := s.sessions[k]
		if have == nil {
			bad("session %s: it is not indexed", k.ID)
			continue
		}
		if have.stored != want.stored || !sameSession(&have.session, &want.session) {
			bad("session %s: its metadata differ", k.ID)
		}
		for _, screen := range want.screens {
			if !slices.Contains(have.screens, screen) || len(have.screens) != len(want.screens) {
				bad("session %s: its screens differ", k.ID)
			}
		}
		if !slices.Equal(s.ids(have.steps), fresh.ids(want.steps)) || !slices.Equal(s.ids(have.lessons), fresh.ids(want.lessons)) {
			bad("session %s: its steps or lessons differ, or their order", k.ID)
		}
	}
	for project, want := range fresh.listed {
		same := func(a, b *indexedSession) bool { return a.session.ID == b.session.ID }
		if !slices.EqualFunc(s.listed[project], want, same) {
			bad("project %s: its sessions are in another order", project)
		}
	}
}

// sameSession compares what the session index keeps of two sessions. A stored session
// has no empty lists and no monotonic clock; one just written may have both.
func sameSession(a, b *memory.Session) bool {
	return a.Key() == b.Key() && a.Client == b.Client && a.CreatedAt.Equal(b.CreatedAt) && a.EndedAt.Equal(b.EndedAt) &&
		a.Goal == b.Goal && slices.Equal(a.FlowTags, b.FlowTags) && slices.Equal(a.Tags, b.Tags) && valueOf(a.Git) == valueOf(b.Git) &&
		a.Screenshots == b.Screenshots && a.Bare == b.Bare
}

func (s *sessionIndex) ids(list []sessionItem) []string {
	ids := make([]string, len(list))
	for i, p := range list {
		ids[i] = s.owners.all[p.owner].id
	}
	return ids
}

func (x *Indexer) compare(fresh *Indexer, ours, theirs uint32, id memory.DocID, bad func(string, ...any)) {
	a, _ := x.docs.Get(ours)
	b, _ := fresh.docs.Get(theirs)
	if have, want := x.attrs.Of(ours), fresh.attrs.Of(theirs); !slices.Equal(have, want) {
		bad("document %s: its attributes are %q, should be %q", id, have, want)
	}
	if have, want := x.refIDs(&a), fresh.refIDs(&b); !slices.Equal(have, want) {
		bad("document %s: its owners are %q, should be %q", id, have, want)
	}
	if x.several.Contains(ours) != fresh.several.Contains(theirs) && a.set == nil {
		bad("document %s: whether it has several locations is wrong", id)
	}
	if fresh.mixed.Contains(theirs) && !x.mixed.Contains(ours) {
		bad("document %s: its locations differ, but it is not marked as such", id)
	}
	if a.newest != 0 && !x.recency.Holds(ours, a.newest) {
		bad("document %s: it is not found by its time", id)
	}
	if a.newest != b.newest {
		bad("document %s: its time is %d ms, should be %d", id, a.newest, b.newest)
	}
	if a.names != b.names {
		bad("document %s: the names that it declares differ", id)
	}
	if a.paths != b.paths || a.indexed != b.indexed {
		bad("document %s: its paths are %q, should be %q", id, a.paths, b.paths)
	}
	for _, s := range fresh.collections.list() {
		own := x.collections.find(s.name)
		if own == nil {
			bad("collection %s is not held", s.name)
			continue
		}
		if !slices.Equal(own.vectors.Vector(ours), s.vectors.Vector(theirs)) {
			bad("document %s: its vector in %s differs", id, s.name)
		}
	}
}

// compareSessions reports records whose session differs from indexes that were just
// loaded.
func (x *Indexer) compareSessions(fresh *Indexer, bad func(string, ...any)) {
	if a, b := len(x.owners.sessions), len(fresh.owners.sessions); a != b {
		bad("%d sessions have records, the store has %d", a, b)
	}
	ids := func(x *Indexer, session string) (ids []string) {
		for n := range x.owners.sessions.of(session) {
			e := &x.owners.all[n]
			doc, _ := x.numbers.ID(e.doc)
			ids = append(ids, e.id+" of "+memory.DocID(doc).String())
		}
		slices.Sort(ids)
		return ids
	}
	for session := range fresh.owners.sessions {
		if have, want := ids(x, session.Value()), ids(fresh, session.Value()); !slices.Equal(have, want) {
			bad("session %s: its records are %q, should be %q", session.Value(), have, want)
		}
	}
}

// refIDs returns the owners of a document, in order.
func (x *Indexer) refIDs(d *document) []string {
	var ids []string
	for r := range d.all() {
		e := &x.owners.all[r.owner]
		if e.file != nil {
			ids = append(ids, fmt.Sprintf("%s/%s:%d", e.file.Sandbox, e.file.Path, r.ord))
		} else {
			ids = append(ids, e.id)
		}
	}
	slices.Sort(ids)
	return ids
}
