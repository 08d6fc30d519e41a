package indexer

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/recalld/recalld/embedder/embeddertest"
	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/store"
)

// TestSavedRecordsHaveAllFields: rig.check compares each with the stored one.
func TestSavedRecordsHaveAllFields(t *testing.T) {
	r := newRig(t, nil)
	r.index.opts.SaveFrom = 1
	withdrawn := lesson("l-1", "p-1", "put aside")
	withdrawn.Event.Withdrawn = &memory.Withdrawal{At: testTime}
	followed := lesson("l-2", "p-2", "from a file")
	followed.Provenance.Origin, followed.Repo, followed.Tags = memory.OriginFollowed, "shop", []string{"a", "b"}
	proven := lesson("l-3", "p-1", "proven")
	proven.Event.Pinned, proven.Session = true, "x-1"
	proven.Event.Rate, proven.Event.Fingerprints = &memory.Rate{Successes: 2, Attempts: 3}, []string{"0123456789abcdef"}
	step := stepAt("t-1", "x-1", 1, onScreen("home"))
	step.Text, step.Doc, step.Verdicts = "a step", memory.DocumentID("a step"), &memory.VerdictCounts{Worked: 1}
	r.commit(memory.Batch{Sessions: []memory.Session{session("x-1", 0)}})
	for _, rec := range []memory.Record{withdrawn, followed, proven, step} {
		r.remember(rec)
	}
	r.save()
	if restored, warnings := r.restart(); !restored || warnings != "" {
		t.Errorf("saved indexes are used: %v, with warnings %q", restored, warnings)
	}
}

// TestOwnerWithoutIDIsNotSaved: an owner stays when the damaged value of its record is
// replaced, and must not come back in place of the new one.
func TestOwnerWithoutIDIsNotSaved(t *testing.T) {
	x, err := New(Options{Builtin: &embeddertest.Fake{Name: "fake/own", Dim: 4}})
	must(t, err)
	for _, text := range []string{"before", "after"} {
		rec := lesson("l-1", "p-1", text)
		x.addRecord(&rec)
	}
	var docs []uint32
	for e := range x.owners.stored() {
		docs = append(docs, e.doc)
	}
	after, _ := x.numbers.Lookup(memory.DocumentID("after"))
	if len(docs) != 1 || docs[0] != after {
		t.Errorf("records of the documents %v are saved, want that of %d", docs, after)
	}
}

// TestSavedRecordThereTwice refuses the file.
func TestSavedRecordThereTwice(t *testing.T) {
	x, err := New(Options{Builtin: &embeddertest.Fake{Name: "fake/own", Dim: 4}})
	must(t, err)
	var file bytes.Buffer
	to := index.NewSaver(&file)
	to.Uint(1) // a name
	to.String("lesson")
	to.Uint(0) // no others
	to.Uint(2) // records
	for range 2 {
		to.String("l-1")
		to.Uint(0)
		to.Word(0)
		for range 1 + savedNames + 1 + 2 { // size, names, bits, no tags and fingerprints
			to.Uint(0)
		}
	}
	must(t, to.Flush())
	r := &restored{x: x, ids: make([][16]byte, 1)}
	in := index.NewRestorer(file.Bytes(), nil)
	if r.readRecords(in); !errors.Is(in.Err(), index.ErrSaved) {
		t.Errorf("a record that is there twice: %v, want %v", in.Err(), index.ErrSaved)
	}
}

// disturbed is a store in which something happens while it is loaded.
type disturbed struct {
	*store.Store
	before, during func() // the store's state is chosen, and while it is passed
}

func (d disturbed) Load(ctx context.Context, l memory.Loader) (uint64, error) {
	d.before()
	file, during := l.File, sync.OnceFunc(d.during)
	l.File = func(f memory.File) error {
		during()
		return file(f)
	}
	return d.Store.Load(ctx, l)
}

// TestLessonDroppedAtStart: it does not come back, whenever it is dropped.
func TestLessonDroppedAtStart(t *testing.T) {
	for _, when := range []string{"before", "during"} {
		r := newRig(t, nil)
		r.remember(lesson("l-1", "p-1", "about badgers"), lesson("l-2", "p-1", "about foxes"))
		r.putFile("p-1", "s-1", "a.go", "a chunk")
		r.save()
		must(t, r.store.Close())
		r.start()
		drop := func(at string) func() {
			return func() {
				if at == when {
					r.commit(memory.Batch{DropRecords: []string{"l-1"}})
				}
			}
		}
		must(t, r.index.Load(t.Context(), disturbed{r.store, drop("before"), drop("during")}))
		r.check()
		r.save()
		if _, warnings := r.restart(); warnings != "" {
			t.Errorf("dropped %s the load: %s", when, warnings)
		}
	}
}

// TestLessonOfAnotherKindDropped: what it was before does not come back.
func TestLessonOfAnotherKindDropped(t *testing.T) {
	r := newRig(t, nil)
	r.remember(lesson("l-1", "p-1", "about badgers"), lesson("l-2", "p-1", "about foxes"))
	r.save()
	summary := lesson("l-1", "p-1", "about badgers")
	summary.Kind, summary.Event = memory.SessionSummary, nil
	r.remember(summary)
	r.commit(memory.Batch{DropRecords: []string{"l-1"}})
	if _, warnings := r.restart(); warnings != "" {
		t.Error(warnings)
	}
}
