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
	// of are the records of one project and kind in the order of Entries. They are
	// values, so that a list is handed out by copying one piece of memory, not by
	// following a thousand pointers. Their texts are those of byID.
	of map[rosterKey][]memory.Record
	// unsettled says that the lists are in any order: Load is at work.
	unsettled bool
}

type rosterKey struct {
	project string
	kind    memory.Kind
}

func newRoster() roster {
	return roster{byID: map[string]*memory.Record{}, of: map[rosterKey][]memory.Record{}, unsettled: true}
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
	var lists [][]memory.Record
	for i, kind := range kinds {
		if list := l.of[rosterKey{project, kind}]; len(list) > 0 && !slices.Contains(kinds[:i], kind) {
			lists = append(lists, list)
		}
	}
	switch {
	case l.unsettled:
		all := slices.Concat(lists...)
		slices.SortFunc(all, byPlace)
		return all
	case len(lists) == 1:
		return slices.Clone(lists[0])
	}
	return merge(lists)
}

// merge joins lists that are in order, which are one for each kind at most.
func merge(lists [][]memory.Record) []memory.Record {
	n := 0
	for _, list := range lists {
		n += len(list)
	}
	if n == 0 {
		return nil
	}
	all := make([]memory.Record, 0, n)
	for len(all) < n {
		first := -1
		for i, list := range lists {
			if len(list) > 0 && (first < 0 || comparePlace(&list[0], &lists[first][0]) < 0) {
				first = i
			}
		}
		all = append(all, lists[first][0])
		lists[first] = lists[first][1:]
	}
	return all
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
		if c.New != nil && onRoster(c.New) {
			l.put(c.New)
		} else if old, ok := l.byID[idOf(c)]; ok {
			l.remove(old)
		}
	}
}

func idOf(c memory.RecordChange) string {
	if c.New != nil {
		return c.New.ID
	}
	return c.Old.ID
}

// put takes a record in, in place of the one of its id, whatever was stored of
// that. It is called with mu held.
func (l *roster) put(r *memory.Record) {
	k := rosterKey{r.Project, r.Kind}
	if old, ok := l.byID[r.ID]; ok {
		if k == (rosterKey{old.Project, old.Kind}) && comparePlace(old, r) == 0 {
			l.of[k][l.find(k, old)] = *r
			l.byID[r.ID] = r
			return
		}
		l.remove(old)
	}
	l.byID[r.ID] = r
	at := len(l.of[k])
	if !l.unsettled {
		at, _ = slices.BinarySearchFunc(l.of[k], *r, byPlace)
	}
	l.of[k] = slices.Insert(l.of[k], at, *r)
}

// find returns where a record of the roster is in its list. It is called with mu held.
func (l *roster) find(k rosterKey, r *memory.Record) int {
	if !l.unsettled {
		at, _ := slices.BinarySearchFunc(l.of[k], *r, byPlace)
		return at
	}
	for at := range l.of[k] {
		if l.of[k][at].ID == r.ID {
			return at
		}
	}
	return -1
}

// remove takes out a record as it is on the roster. It is called with mu held.
func (l *roster) remove(r *memory.Record) {
	delete(l.byID, r.ID)
	k := rosterKey{r.Project, r.Kind}
	at := l.find(k, r)
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
func byPlace(a, b memory.Record) int { return comparePlace(&a, &b) }

// comparePlace is byPlace for those who compare many: records are large.
func comparePlace(a, b *memory.Record) int {
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
		if !slices.EqualFunc(list, fresh.of[k], func(a, b memory.Record) bool { return a.ID == b.ID }) {
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
