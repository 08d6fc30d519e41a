package ingest

import (
	"context"
	"slices"

	"github.com/recalld/recalld/internal/memory"
)

// edit changes a record, or makes it: it is given one without an id where there
// is none yet. It says whether it changed anything, and changes nothing of what
// the record given points to.
type edit func(r memory.Record) (memory.Record, bool)

// changes gathers changes of records for one commit. They are tried on what is
// stored now, to see which of them change anything, and made again inside the
// commit on what is stored by then.
type changes struct {
	records Records
	now     map[string]memory.Record // by id, as changed so far
	edits   map[string][]edit        // by id, those that changed something
	order   []string                 // ids, as they first changed
}

func (s *Service) newRewrite() *changes {
	return &changes{records: s.opts.Records, now: map[string]memory.Record{}, edits: map[string][]edit{}}
}

// record returns a record with the changes so far, one without an id where there
// is none.
func (w *changes) record(id string) (memory.Record, error) {
	if r, ok := w.now[id]; ok {
		return r, nil
	}
	r, err := w.records.Record(id)
	if err != nil && memory.CodeOf(err) != memory.CodeNotFound {
		return memory.Record{}, err
	}
	if err != nil {
		r = memory.Record{}
	}
	w.now[id] = r
	return r, nil
}

// change makes a change and says whether it changed anything.
func (w *changes) change(id string, f edit) (bool, error) {
	r, err := w.record(id)
	if err != nil {
		return false, err
	}
	r, changed := f(r)
	if !changed {
		return false, nil
	}
	w.now[id] = r
	if len(w.edits[id]) == 0 {
		w.order = append(w.order, id)
	}
	w.edits[id] = append(w.edits[id], f)
	return true, nil
}

// commit writes what was changed with the rest of a batch; nothing changed is
// nothing written.
func (w *changes) commit(ctx context.Context, s *Service, b memory.Batch) (memory.Committed, error) {
	if len(w.order) == 0 {
		return memory.Committed{}, nil
	}
	var texts []memory.Document
	for _, id := range w.order {
		r := w.now[id]
		b.Records = append(b.Records, r)
		texts = append(texts, memory.Document{ID: r.Doc, Text: r.Text})
	}
	b.Merge = func(old, _ memory.Record) memory.Record {
		for _, f := range w.edits[old.ID] {
			old, _ = f(old)
		}
		return old
	}
	return s.commit(ctx, b, texts)
}

// bySize cuts a list into parts of at most maxPart items and about maxPartBytes,
// so that each fits into one commit.
func bySize[T any](items []T, size func(T) int) [][]T {
	var parts [][]T
	start, bytes := 0, 0
	for i, item := range items {
		n := size(item)
		if i > start && (i-start == maxPart || bytes+n > maxPartBytes) {
			parts = append(parts, items[start:i])
			start, bytes = i, 0
		}
		bytes += n
	}
	if start < len(items) {
		parts = append(parts, slices.Clip(items[start:]))
	}
	return parts
}

// The bounds of one commit of an import.
const (
	maxPart      = 256
	maxPartBytes = 1 << 20
)
