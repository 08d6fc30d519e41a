package indexer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"sync"

	"github.com/recalld/recalld/internal/memory"
)

// listedKindNames are the kinds of the roster, in the order of memory.Kinds.
var listedKinds = []memory.Kind{memory.Task, memory.Blocker, memory.Rule, memory.Reference, memory.Tool}

func listedKindNames() []string {
	names := make([]string, len(listedKinds))
	for i, kind := range listedKinds {
		names[i] = string(kind)
	}
	return names
}

// recordCache holds whole the records that are listed rather than searched: what was done
// and what is blocked, and the entries of catalogues. They are few, and every request
// lists an agent asks for them. It has a lock of its own, so that nobody waits for the
// words of a large file to be indexed.
type recordCache struct {
	mu   sync.RWMutex // guards what follows
	byID map[string]*memory.Record
	// lists are the records of one project and kind in the order of Entries. They are
	// values, so that a list is handed out by copying one piece of memory, not by
	// following a thousand pointers. Their texts are those of byID.
	lists map[cacheKey][]memory.Record
	// loading says that the lists are in any order: Load is at work.
	loading bool
}

type cacheKey struct {
	project string
	kind    memory.Kind
}

func newRecordCache() recordCache {
	return recordCache{byID: map[string]*memory.Record{}, lists: map[cacheKey][]memory.Record{}, loading: true}
}

// Entries returns the records of a project that are of these kinds, or of all the
// recordCache's when none is named, by Created, then Entry.Ord, then id. The roster's are
// tasks and blockers with a Task, and rules, references and tools with an Entry: a
// reference without one is a text of its own. While Load is at work they are those
// that it has come across. What the records point to must not be written to.
func (x *Indexer) Entries(project string, kinds ...memory.Kind) []memory.Record {
	if len(kinds) == 0 {
		kinds = listedKinds
	}
	return x.listed.list(project, kinds)
}

// Entry returns a record of the roster, as Entries does, and whether it is there.
func (x *Indexer) Entry(id string) (memory.Record, bool) {
	x.listed.mu.RLock()
	defer x.listed.mu.RUnlock()
	r, ok := x.listed.byID[id]
	if !ok {
		return memory.Record{}, false
	}
	return *r, true
}

// Loaded says that Load has ended: what is committed is found from here on.
func (x *Indexer) Loaded() bool { return x.ready() }

// isListed says that a record belongs on the roster.
func isListed(r *memory.Record) bool {
	switch r.Kind {
	case memory.Task, memory.Blocker:
		return r.Task != nil
	case memory.Rule, memory.Reference, memory.Tool:
		return r.Entry != nil
	}
	return false
}

func (l *recordCache) list(project string, kinds []memory.Kind) []memory.Record {
	l.mu.RLock()
	defer l.mu.RUnlock()
	var lists [][]memory.Record
	for i, kind := range kinds {
		if list := l.lists[cacheKey{project, kind}]; len(list) > 0 && !slices.Contains(kinds[:i], kind) {
			lists = append(lists, list)
		}
	}
	switch {
	case l.loading:
		all := slices.Concat(lists...)
		slices.SortFunc(all, compareListedValues)
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
			if len(list) > 0 && (first < 0 || compareListed(&list[0], &lists[first][0]) < 0) {
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
func (l *recordCache) apply(changes []memory.RecordChange) {
	wanted := func(c memory.RecordChange) bool {
		return c.Old != nil && isListed(c.Old) || c.New != nil && isListed(c.New)
	}
	if !slices.ContainsFunc(changes, wanted) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range changes {
		if c.New != nil && isListed(c.New) {
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
func (l *recordCache) put(r *memory.Record) {
	k := cacheKey{r.Project, r.Kind}
	if old, ok := l.byID[r.ID]; ok {
		if k == (cacheKey{old.Project, old.Kind}) && compareListed(old, r) == 0 {
			l.lists[k][l.find(k, old)] = *r
			l.byID[r.ID] = r
			return
		}
		l.remove(old)
	}
	l.byID[r.ID] = r
	at := len(l.lists[k])
	if !l.loading {
		at, _ = slices.BinarySearchFunc(l.lists[k], *r, compareListedValues)
	}
	l.lists[k] = slices.Insert(l.lists[k], at, *r)
}

// find returns where a record of the roster is in its list. It is called with mu held.
func (l *recordCache) find(k cacheKey, r *memory.Record) int {
	if !l.loading {
		at, _ := slices.BinarySearchFunc(l.lists[k], *r, compareListedValues)
		return at
	}
	for at := range l.lists[k] {
		if l.lists[k][at].ID == r.ID {
			return at
		}
	}
	return -1
}

// remove takes out a record as it is on the roster. It is called with mu held.
func (l *recordCache) remove(r *memory.Record) {
	delete(l.byID, r.ID)
	k := cacheKey{r.Project, r.Kind}
	at := l.find(k, r)
	if l.lists[k] = slices.Delete(l.lists[k], at, at+1); len(l.lists[k]) == 0 {
		delete(l.lists, k)
	}
}

// finishLoad orders what came in any order while loading.
func (l *recordCache) finishLoad() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, list := range l.lists {
		slices.SortFunc(list, compareListedValues)
	}
	l.loading = false
}

// compareListedValues is the order of Entries.
func compareListedValues(a, b memory.Record) int { return compareListed(&a, &b) }

// compareListed is byPlace for those who compare many: records are large.
func compareListed(a, b *memory.Record) int {
	return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(ordOf(a), ordOf(b)), cmp.Compare(a.ID, b.ID))
}

func ordOf(r *memory.Record) int {
	if r.Entry == nil {
		return 0
	}
	return r.Entry.Ord
}

// compare reports where the roster differs from one that was just loaded.
func (l *recordCache) compare(fresh *recordCache, bad func(string, ...any)) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	for k, list := range l.lists {
		if !slices.EqualFunc(list, fresh.lists[k], func(a, b memory.Record) bool { return a.ID == b.ID }) {
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
