package indexer

import (
	"cmp"
	"iter"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// Places returns the owners of a document that a selection allows, as Candidates does.
func (x *Indexer) Places(doc memory.DocID, sel memory.Selection) []memory.Candidate {
	num, ok := x.numbers.Lookup(doc)
	if !ok {
		return nil
	}
	return x.Candidates(num, sel)
}

// RecordCount returns how many records a selection has.
func (x *Indexer) RecordCount(sel memory.Selection) (n int) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for range x.selectedRecords(&sel) {
		n++
	}
	return n
}

// selectedRecords yields the numbers of a selection's records. It is used with mu held.
func (x *Indexer) selectedRecords(sel *memory.Selection) iter.Seq[uint32] {
	all := x.owners.allRecords()
	if sel.Project != "" && sel.Also == "" && !sel.AllLessons {
		all = x.owners.projects.of(sel.Project)
	}
	return func(yield func(uint32) bool) {
		for n := range all {
			if e := &x.owners.all[n]; e.id != "" && x.selected(e, sel) && !yield(n) {
				return
			}
		}
	}
}

// ranked is a record with what orders it.
type ranked struct {
	n       uint32
	rank    int
	created int64
}

// OrderedIDs returns a page of the ids of a selection's records: it skips some and returns
// at most `most`. Records of one rank come newest first. Total counts all of them. A page
// costs a walk over the project's records, and no sorting of them.
func (x *Indexer) OrderedIDs(sel memory.Selection, order memory.LessonOrder, skip, most int) (ids []string, total int) {
	var found []ranked
	x.mu.RLock()
	defer x.mu.RUnlock()
	for n := range x.selectedRecords(&sel) {
		e := &x.owners.all[n]
		found = append(found, ranked{n, rankIn(e, order), e.created})
	}
	compare := func(a, b ranked) int {
		byTime := cmp.Compare(b.created, a.created)
		if order == memory.OldestFirst {
			byTime = -byTime
		}
		if c := cmp.Or(cmp.Compare(b.rank, a.rank), byTime); c != 0 {
			return c
		}
		return strings.Compare(x.owners.all[a.n].id, x.owners.all[b.n].id)
	}
	page := window(found, skip, most, compare)
	ids = make([]string, len(page))
	for i, f := range page {
		ids[i] = x.owners.all[f.n].id
	}
	return ids, len(found)
}

// rankIn is the rank of a record in an order, the highest first.
func rankIn(e *owner, order memory.LessonOrder) int {
	switch {
	case e.rate == nil:
	case order == memory.WorkedFirst:
		return e.rate.Successes
	case order == memory.FailedFirst:
		return e.rate.Attempts - e.rate.Successes
	}
	return 0
}
