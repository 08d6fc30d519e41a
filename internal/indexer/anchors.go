package indexer

import (
	"cmp"
	"slices"
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

// RecordIDs returns the ids of the records of a selection, newest first. It scans all
// records.
func (x *Indexer) RecordIDs(sel memory.Selection) []string {
	type dated struct {
		id      string
		created int64
	}
	var found []dated
	x.mu.RLock()
	for n := range x.owners.allRecords() {
		if e := &x.owners.all[n]; x.selected(e, &sel) {
			found = append(found, dated{e.id, e.created})
		}
	}
	x.mu.RUnlock()
	slices.SortFunc(found, func(a, b dated) int { return cmp.Or(cmp.Compare(b.created, a.created), strings.Compare(a.id, b.id)) })
	ids := make([]string, len(found))
	for i, f := range found {
		ids[i] = f.id
	}
	return ids
}
