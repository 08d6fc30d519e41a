package ingest

import (
	"context"
	"slices"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// change is one change of a lesson: an observation of it, its withdrawal, the end of that, its
// marks, an outcome, or what a member of the team says of it.
type change struct {
	// one is the lesson as it was told, nil for other changes. Counted says that only its
	// rate counts; live, that a caller told it now.
	one           *memory.Record
	counted, live bool
	// share is what a member of the team says of the lesson; nil for other changes. Without
	// one, the member takes it back.
	share *memory.TeamShare
	// withdrawal withdraws a lesson of project; nil for other changes.
	withdrawal *memory.Withdrawal
	project    string
	// restored ends a withdrawal at a time.
	restored bool
	// mark, if set, changes the marks of a lesson.
	mark *memory.MarkLessonRequest
	// succeeded is an outcome at a time; it counts where no other change is set.
	succeeded bool
	at        time.Time
}

// apply returns a lesson with a change, and whether it changed anything. The lesson has no
// id where there is none yet.
func (c *change) apply(r memory.Record) (memory.Record, bool) {
	switch {
	case c.share != nil:
		return shared(r, c.one, *c.share)
	case c.one != nil && c.counted:
		return adoptRate(r, *c.one)
	case c.one != nil:
		return observe(r, *c.one, c.live)
	case c.withdrawal != nil:
		return withdrawn(r, c.project, *c.withdrawal, c.live)
	case c.restored:
		return restored(r, c.at)
	case c.mark != nil:
		return marked(r, c.mark.Pinned, c.mark.Private)
	default:
		return withOutcome(r, c.succeeded, c.at)
	}
}

// changes are changes of lessons for one commit. They are applied to what is stored now,
// which tells what is to be embedded, and again inside the commit (merge), for a lesson
// may change between the two.
type changes struct {
	records Records
	now     map[string]memory.Record    // by id, as changed so far, and after the commit as committed
	byID    map[string][]change         // those that changed something
	order   []string                    // ids, as they first changed
	docs    map[memory.DocID]memory.Doc // documents that are made already
}

func (s *Service) newChanges() *changes {
	return &changes{records: s.opts.Records, now: map[string]memory.Record{}, byID: map[string][]change{}}
}

// record returns a record with the changes so far, one without an id if there is none.
func (w *changes) record(id string) (memory.Record, error) {
	if r, ok := w.now[id]; ok {
		return r, nil
	}
	r, _, err := find(w.records, id)
	if err == nil {
		w.now[id] = r
	}
	return r, err
}

// find returns a stored record, and whether there is one.
func find(stored Records, id string) (r memory.Record, known bool, err error) {
	r, err = stored.Record(id)
	if memory.CodeOf(err) == memory.CodeNotFound {
		return memory.Record{}, false, nil
	}
	return r, err == nil, err
}

// shownID is the length of the shortest beginning of an id that answers show.
const shownID = len("l-") + 6

// wholeID returns the only id that begins so, as answers show it, or id itself.
func wholeID(stored Records, id string) (string, error) {
	if len(id) < shownID {
		return id, nil
	}
	alike, err := stored.RecordIDs(id, 2)
	if err != nil || len(alike) != 1 {
		return id, err
	}
	return alike[0], nil
}

// wholeIDs returns the whole ids of a project's lessons. Other ids stay as they are: the
// answer to a beginning must not tell of other projects.
func (w *changes) wholeIDs(project string, ids ...string) ([]string, error) {
	ids = slices.Clone(ids)
	for i := range ids {
		whole, err := wholeID(w.records, ids[i])
		if err != nil {
			return nil, err
		}
		if r, err := w.record(whole); err != nil {
			return nil, err
		} else if r.Project == project {
			ids[i] = whole
		}
	}
	return ids, nil
}

// add applies a change to what is stored, and says whether it changed anything.
func (w *changes) add(id string, c change) (bool, error) {
	r, err := w.record(id)
	if err != nil {
		return false, err
	}
	r, changed := c.apply(r)
	if !changed {
		return false, nil
	}
	w.now[id] = r
	if len(w.byID[id]) == 0 {
		w.order = append(w.order, id)
	}
	w.byID[id] = append(w.byID[id], c)
	return true, nil
}

// merge applies the changes to the record that is stored when they are committed, and keeps
// what comes of it: the caller of the commit waits.
func (w *changes) merge(stored, _ memory.Record) memory.Record {
	for _, c := range w.byID[stored.ID] {
		stored, _ = c.apply(stored)
	}
	w.now[stored.ID] = stored
	return stored
}

// commitChanges writes the changed lessons with the rest of a batch. Without a change it writes
// nothing.
func (s *Service) commitChanges(ctx context.Context, w *changes, b memory.Batch) (memory.Committed, error) {
	if len(w.order) == 0 {
		return memory.Committed{}, nil
	}
	texts := make([]memory.Document, 0, len(w.order))
	put := map[memory.DocID]bool{} // two lessons may have one text
	for _, id := range w.order {
		r := w.now[id]
		b.Records = append(b.Records, r)
		switch doc, made := w.docs[r.Doc]; {
		case !made:
			texts = append(texts, memory.Document{ID: r.Doc, Text: r.Text})
		case !put[r.Doc]:
			put[r.Doc] = true
			b.Docs = append(b.Docs, doc)
		}
	}
	b.Merge = w.merge
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
		parts = append(parts, items[start:])
	}
	return parts
}

// The bounds of one commit of an import.
const (
	maxPart      = 256
	maxPartBytes = 1 << 20
)
