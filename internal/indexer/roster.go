package indexer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"sync"

	"github.com/recalld/recalld/internal/memory"
)

// listed are the kinds of the roster, in the order of memory.Kinds.
var listed = []memory.Kind{memory.Task, memory.Blocker, memory.Rule, memory.Reference, memory.Tool}

func listedKinds() []string {
	names := make([]string, len(listed))
	for i, kind := range listed {
		names[i] = string(kind)
	}
	return names
}

// roster holds whole the records that are listed rather than searched: what was done
// and what is blocked, and the entries of catalogues. They are few, and every request
// of an agent asks for them. It has a lock of its own, so that nobody waits for the
// words of a large file to be indexed.
type roster struct {
	mu   sync.RWMutex // guards what follows
	byID map[string]*memory.Record
	// of are the records of one project and kind in the order of Entries.
	of map[rosterKey][]*memory.Record
	// unsettled says that the lists are in any order: Load is at work.
	unsettled bool
}

type rosterKey struct {
	project string
	kind    memory.Kind
}

func newRoster() roster {
	return roster{byID: map[string]*memory.Record{}, of: map[rosterKey][]*memory.Record{}, unsettled: true}
}

// Entries returns the records of a project that are of these kinds, or of all the
// roster's when none is named, by Created, then Entry.Ord, then id. The roster's are
// tasks and blockers with a Task, and rules, references and tools with an Entry: a
// reference without one is a text of its own. While Load is at work they are those
// that it has come across. What the records point to must not be written to.
func (x *Indexer) Entries(project string, kinds ...memory.Kind) []memory.Record {
	if len(kinds) == 0 {
		kinds = listed
	}
	return x.roster.list(project, kinds)
}

// Entry returns a record of the roster, as Entries does, and whether it is there.
func (x *Indexer) Entry(id string) (memory.Record, bool) {
	x.roster.mu.RLock()
	defer x.roster.mu.RUnlock()
	r, ok := x.roster.byID[id]
	if !ok {
		return memory.Record{}, false
	}
	return *r, true
}

// Loaded says that Load has ended: what is committed is found from here on.
func (x *Indexer) Loaded() bool { return x.ready() }

// onRoster says that a record belongs on the roster.
func onRoster(r *memory.Record) bool {
	switch r.Kind {
	case memory.Task, memory.Blocker:
		return r.Task != nil
	case memory.Rule, memory.Reference, memory.Tool:
		return r.Entry != nil
	}
	return false
}

func (l *roster) list(project string, kinds []memory.Kind) []memory.Record {
	l.mu.RLock()
	defer l.mu.RUnlock()
	n, lists := 0, 0
	for i, kind := range kinds {
		if list := l.of[rosterKey{project, kind}]; len(list) > 0 && !slices.Contains(kinds[:i], kind) {
			n, lists = n+len(list), lists+1
		}
	}
	if n == 0 {
		return nil
	}
	found := make([]*memory.Record, 0, n)
	for i, kind := range kinds {
		if !slices.Contains(kinds[:i], kind) {
			found = append(found, l.of[rosterKey{project, kind}]...)
		}
	}
	if l.unsettled || lists > 1 {
		slices.SortFunc(found, byPlace)
	}
	out := make([]memory.Record, n)
	for i, r := range found {
		out[i] = *r
	}
	return out
}

// apply takes in what a change wrote and drops what it removed, all at once: nobody
// finds a record missing that is being replaced. Records are kept and must not be
// written to.
func (l *roster) apply(changes []memory.RecordChange) {
	wanted := func(c memory.RecordChange) bool {
		return c.Old != nil && onRoster(c.Old) || c.New != nil && onRoster(c.New)
	}
	if !slices.ContainsFunc(changes, wanted) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range changes {
		if c.Old != nil {
			l.remove(c.Old.ID)
		}
		if c.New != nil && onRoster(c.New) {
			l.put(c.New)
		}
	}
}

// put takes a record in, in place of the one of its id. It is called with mu held.
func (l *roster) put(r *memory.Record) {
	l.remove(r.ID) // there is one if what was stored of it was damaged
	l.byID[r.ID] = r
	k := rosterKey{r.Project, r.Kind}
	at := len(l.of[k])
	if !l.unsettled {
		at, _ = slices.BinarySearchFunc(l.of[k], r, byPlace)
	}
	l.of[k] = slices.Insert(l.of[k], at, r)
}

// remove is called with mu held.
func (l *roster) remove(id string) {
	r, ok := l.byID[id]
	if !ok {
		return
	}
	delete(l.byID, id)
	k := rosterKey{r.Project, r.Kind}
	at := slices.Index(l.of[k], r)
	if l.of[k] = slices.Delete(l.of[k], at, at+1); len(l.of[k]) == 0 {
		delete(l.of, k)
	}
}

// settle orders what came in any order while loading.
func (l *roster) settle() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, list := range l.of {
		slices.SortFunc(list, byPlace)
	}
	l.unsettled = false
}

// byPlace is the order of Entries.
func byPlace(a, b *memory.Record) int {
	return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(ordOf(a), ordOf(b)), cmp.Compare(a.ID, b.ID))
}

func ordOf(r *memory.Record) int {
	if r.Entry == nil {
		return 0
	}
	return r.Entry.Ord
}

// compare reports where the roster differs from one that was just loaded.
func (l *roster) compare(fresh *roster, bad func(string, ...any)) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	for k, list := range l.of {
		if !slices.EqualFunc(list, fresh.of[k], func(a, b *memory.Record) bool { return a.ID == b.ID }) {
			bad("project %s: its %ss are not those that are stored, or in another order", k.project, k.kind)
		}
	}
	if len(l.byID) != len(fresh.byID) {
		bad("%d records are listed, the store has %d", len(l.byID), len(fresh.byID))
	}
	for id, want := range fresh.byID {
		if have := l.byID[id]; have == nil || !sameRecord(have, want) {
			bad("%s %s: it is listed otherwise than it is stored", want.Kind, id)
		}
	}
}

// sameRecord compares what two records say. A stored one has no empty lists and no
// monotonic clock, a fresh one may.
func sameRecord(a, b *memory.Record) bool {
	said := func(r memory.Record) []byte {
		r.Created, r.Updated = r.Created.UTC(), r.Updated.UTC()
		b, err := json.Marshal(r)
		if err != nil {
			return []byte(r.ID) // raw JSON that is none: both have it, and cannot be told apart
		}
		return b
	}
	return bytes.Equal(said(*a), said(*b))
}
