package ingest

import (
	"encoding/json"
	"errors"
	"runtime"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

func taskRecord(project, id, text string) memory.Record {
	return memory.Record{ID: id, Kind: memory.Task, Project: project, Created: testTime, Text: text, Task: &memory.TaskContent{TaskID: id}}
}

// What others made is committed with its project and found by its text.
func TestWrite(t *testing.T) {
	r := newRig(t)
	p := r.project()
	b := memory.Batch{
		RequestID: "one", Records: []memory.Record{taskRecord(p.ID, "t-1", "migrate the ledger"), taskRecord(p.ID, "t-2", "migrate the ledger")},
		Action: "test",
	}
	c, err := r.ingest.Write(t.Context(), p, b)
	must(t, err)
	if got, want := r.contents(), (contents{Records: 2, Documents: 1, Projects: 1}); got != want {
		t.Errorf("the store holds %+v, want %+v", got, want)
	}
	doc := memory.DocumentID("migrate the ledger")
	if got := r.record("t-1"); got.Doc != doc {
		t.Errorf("the record names document %s, want %s", got.Doc, doc)
	}
	if !b.Records[0].Doc.IsZero() {
		t.Error("the caller's records were written to")
	}
	again, err := r.ingest.Write(t.Context(), p, b)
	if err != nil || !again.Repeated || again.Seq != c.Seq {
		t.Errorf("the same request once more is %+v, %v; want the answer %+v, repeated", again, err, c)
	}
}

// A project that is only an id is not stored: recalld's own tools have one.
func TestWriteOfNoProject(t *testing.T) {
	r := newRig(t)
	if _, err := r.ingest.Write(t.Context(), memory.Project{ID: "own"}, memory.Batch{Records: []memory.Record{taskRecord("own", "o-1", "x y")}}); err != nil {
		t.Fatal(err)
	}
	if got, want := r.contents(), (contents{Records: 1, Documents: 1}); got != want {
		t.Errorf("the store holds %+v, want %+v", got, want)
	}
}

// A document that is held when a batch is made and swept before it is committed is
// written with it the second time.
func TestWriteOfSweptDocument(t *testing.T) {
	r := newRig(t, func(_ *rig, o *Options) {
		o.Held = func(memory.Document) bool { return true } // as if swept a moment later
	})
	p := r.project()
	if _, err := r.ingest.Write(t.Context(), p, memory.Batch{Records: []memory.Record{taskRecord(p.ID, "t-1", "swept")}}); err != nil {
		t.Fatal(err)
	}
	if terms, err := r.store.Terms(memory.DocumentID("swept")); err != nil || len(terms) == 0 {
		t.Errorf("the document's terms are %q, %v; want some", terms, err)
	}
}

// What a batch follows from cannot be forgotten while it is made: it is never
// brought back by it.
func TestWriteWithAgainstForget(t *testing.T) {
	r := newRig(t)
	p := r.project()
	if _, err := r.ingest.Write(t.Context(), p, memory.Batch{Records: []memory.Record{taskRecord(p.ID, "t-1", "before")}}); err != nil {
		t.Fatal(err)
	}
	var forgot error
	done := make(chan struct{})
	_, err := r.ingest.WriteWith(t.Context(), p, func() (memory.Batch, error) {
		old, err := r.store.Record("t-1")
		go func() {
			defer close(done)
			_, forgot = r.ingest.Forget(t.Context(), memory.ForgetRequest{IDs: []string{"t-1"}}, r.store)
		}()
		for r.ingest.forgetting.TryRLock() { // until Forget waits, or wrongly is done
			r.ingest.forgetting.RUnlock()
			select {
			case <-done:
				return memory.Batch{Records: []memory.Record{old}}, err
			default:
				runtime.Gosched()
			}
		}
		return memory.Batch{Records: []memory.Record{old}}, err
	})
	<-done
	must(t, errors.Join(err, forgot))
	if _, err := r.store.Record("t-1"); memory.CodeOf(err) != memory.CodeNotFound {
		t.Errorf("the forgotten record: %v, want %s", err, memory.CodeNotFound)
	}
	failed := errors.New("nothing to write")
	if _, err := r.ingest.WriteWith(t.Context(), p, func() (memory.Batch, error) { return memory.Batch{}, failed }); !errors.Is(err, failed) {
		t.Errorf("a batch that cannot be made: %v, want %v", err, failed)
	}
}

func TestClean(t *testing.T) {
	r := newRig(t)
	for in, want := range map[string]struct {
		text string
		n    int
	}{
		" plain ":         {"plain", 0},
		"a hunter2":       {"a [redac", 1}, // within 8 characters
		"longer than 8 x": {"longer than 8 x", 0},
	} {
		if got, n := r.ingest.Clean(in, 8); got != want.text || n != want.n {
			t.Errorf("Clean(%q) = %q, %d; want %q, %d", in, got, n, want.text, want.n)
		}
	}
	for in, want := range map[string]struct {
		value string
		n     int
	}{
		`{"a":["hunter2", 1.0]}`: {`{"a":["[redacted]", 1.0]}`, 1},
		`null`:                   {``, 0},
		`{"a"`:                   {`{"a"`, 0},
	} {
		if got, n := r.ingest.CleanJSON(json.RawMessage(in)); string(got) != want.value || n != want.n {
			t.Errorf("CleanJSON(%s) = %s, %d; want %s, %d", in, got, n, want.value, want.n)
		}
	}
}
