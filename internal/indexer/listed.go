package indexer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"sync"

	"github.com/recalld/recalld/internal/memory"
)

// listedKinds are the kinds in the record cache, in the order of memory.Kinds.
var listedKinds = []memory.Kind{memory.Task, memory.Blocker, memory.Rule, memory.Reference, memory.Tool}

// recordCache holds the records that are listed, not searched: tasks, blockers and the
// entries of catalogues. They are few, and every request of an agent lists them. The
// cache has a lock of its own, so that a list need not wait while a large file is indexed.
type recordCache struct {
	mu   sync.RWMutex // guards the fields below
	byID map[string]*memory.Record
	// lists has the records of one project and kind in the order of Entries. They are
	// values: a list is returned by copying one block of memory instead of following a
	// thousand pointers. Both maps always hold the same records.
	lists map[cacheKey][]memory.Record
	// loading is set while Load runs: the lists are not sorted yet.
	loading bool
}

type cacheKey struct {
	project string
	kind    memory.Kind
}

func newRecordCache() recordCache {
	return recordCache{byID: map[string]*memory.Record{}, lists: map[cacheKey][]memory.Record{}, loading: true}
}

// Entries returns the records of a project that are of these kinds, or of all listed kinds
// when none is named, by Created, then Entry.Ord, then id. Listed are tasks and blockers
// with a Task, and rules, references and tools with an Entry. While Load runs, the result
// holds what was loaded so far. The caller must not change what the records point to.
func (x *Indexer) Entries(project string, kinds ...memory.Kind) []memory.Record {
	if len(kinds) == 0 {
		kinds = listedKinds
	}
	return x.listed.list(project, kinds)
}

// isListed reports whether a record belongs in the cache.
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

// merge merges sorted lists, one for each kind.
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

// apply applies a change at once: a record that is being replaced is never missing. The
// cache keeps the records, which must not be changed.
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
		} else if old, ok := l.byID[cmp.Or(c.New, c.Old).ID]; ok {
			l.remove(old)
		}
	}
}

// put adds a record, or replaces the one with its id. It is called with mu held.
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

// find returns the index of a cached record in its list. It is called with mu held, and
// not while the lists are loaded: Load has each record once.
func (l *recordCache) find(k cacheKey, r *memory.Record) int {
	at, _ := slices.BinarySearchFunc(l.lists[k], *r, compareListedValues)
	return at
}

// remove removes a cached record. It is called with mu held.
func (l *recordCache) remove(r *memory.Record) {
	delete(l.byID, r.ID)
	k := cacheKey{r.Project, r.Kind}
	at := l.find(k, r)
	if l.lists[k] = slices.Delete(l.lists[k], at, at+1); len(l.lists[k]) == 0 {
		delete(l.lists, k)
	}
}

// finishLoad sorts the lists.
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

// compareListed is compareListedValues without copying the records, which are large.
func compareListed(a, b *memory.Record) int {
	return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(ordOf(a), ordOf(b)), cmp.Compare(a.ID, b.ID))
}

func ordOf(r *memory.Record) int {
	if r.Entry == nil {
		return 0
	}
	return r.Entry.Ord
}

// compare reports where the cache differs from one that was just loaded.
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

// sameRecord compares two records. A stored one has no empty lists and no monotonic
// clock, a new one may have them.
func sameRecord(a, b *memory.Record) bool {
	said := func(r memory.Record) []byte {
		r.Created, r.Updated = r.Created.UTC(), r.Updated.UTC()
		b, err := json.Marshal(r)
		if err != nil {
			return []byte(r.ID) // invalid raw JSON, which cannot be compared
		}
		return b
	}
	return bytes.Equal(said(*a), said(*b))
}
