package ledger

import (
	"fmt"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/ingest"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/recall"
	"github.com/recalld/recalld/internal/store"
	"github.com/recalld/recalld/internal/testkit/backend"
)

// choice is that of contract 6.
var choice = Choice{TopK: memory.DefaultTopK, TopN: memory.DefaultTopN, IncludeScore: memory.DefaultIncludeScore}

var testTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// rig is a ledger over a real store, with the real paths of writing and reading.
type rig struct {
	t       testing.TB
	store   *store.Store
	ingest  *ingest.Service
	recall  *recall.Service
	ledger  *Ledger
	project memory.Project
	caller  memory.Caller
	now     time.Time
}

// newRig opens a rig that is checked and closed at the end of the test.
func newRig(t testing.TB) *rig {
	t.Helper()
	r := &rig{t: t, project: memory.Project{ID: "p-demo", Name: "demo", Names: []string{"demo"}}, now: testTime, caller: memory.Caller{Client: "test"}}
	clock := func() time.Time { return r.now }
	parts := backend.New(t, backend.Options{Clock: clock, Redact: backend.RedactSecret})
	r.store, r.ingest, r.recall = parts.Store, parts.Ingest, parts.Recall
	var err error
	r.ledger, err = New(Options{Store: r.store, Writer: r.ingest, Projects: parts.Projects, Sessions: r.ingest, Recall: r.recall, Catalogue: noEntries{}, Choice: choice, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	r.write(memory.Batch{}) // the project
	return r
}

// noEntries is a catalogue without entries.
type noEntries struct{}

func (noEntries) Items(string) []memory.EntryState { return nil }

func (r *rig) write(b memory.Batch) memory.Committed {
	r.t.Helper()
	c, err := r.ingest.Write(r.t.Context(), r.project, b)
	if err != nil {
		r.t.Fatalf("write %+v: %v", b, err)
	}
	return c
}

// lesson remembers a lesson and returns its id.
func (r *rig) lesson(context, lesson, rate string) string {
	r.t.Helper()
	out, err := r.ingest.Remember(r.t.Context(), memory.RememberRequest{
		Project: "demo", Context: context, Lesson: lesson, SuccessRate: rate, Type: memory.EventSuccess,
	})
	if err != nil {
		r.t.Fatalf("remember %q: %v", lesson, err)
	}
	return out.ID
}

// rule registers a rule and returns its id.
func (r *rig) rule(name, content string) string {
	r.t.Helper()
	id := "u-" + name
	r.write(memory.Batch{Records: []memory.Record{{
		ID: id, Kind: memory.Rule, Project: r.project.ID, Created: r.now, Text: name + "\n" + content, Entry: &memory.Entry{Name: name, Content: content},
	}}})
	return id
}

// session opens a session.
func (r *rig) session(id string) {
	r.t.Helper()
	if _, err := r.ingest.StartSession(r.t.Context(), memory.StartSessionRequest{SessionID: id, Project: "demo", Caller: r.caller}); err != nil {
		r.t.Fatalf("start session %s: %v", id, err)
	}
}

// receipt keeps a receipt with items and returns its id.
func (r *rig) receipt(items ...memory.ReceiptItem) string {
	r.t.Helper()
	id := recall.ReceiptID(r.now)
	r.write(memory.Batch{Receipts: []memory.Receipt{{ID: id, At: r.now, Project: r.project.ID, Items: items}}})
	return id
}

// judge gives a verdict that must be accepted.
func (r *rig) judge(receipt, item string, v memory.Verdict) *memory.FeedbackResult {
	r.t.Helper()
	out, err := r.ledger.Feedback(r.t.Context(), memory.FeedbackRequest{Receipt: receipt, Item: item, Verdict: v})
	if err != nil {
		r.t.Fatalf("feedback %s on %q of %s: %v", v, item, receipt, err)
	}
	return out
}

// counts are the rate and the verdicts of a record: "2/3 worked 2 failed 1".
func (r *rig) counts(id string) string {
	r.t.Helper()
	rec, err := r.store.Record(id)
	if err != nil {
		r.t.Fatalf("record %s: %v", id, err)
	}
	text := "-"
	if rec.Event != nil && rec.Event.Rate != nil {
		text = rec.Event.Rate.String()
	}
	if v := rec.Verdicts; v != nil {
		for i, n := range []int{v.Worked, v.Failed, v.Irrelevant, v.Outdated} {
			if n > 0 {
				text += fmt.Sprintf(" %s %d", memory.Verdicts[i], n)
			}
		}
	}
	return text
}
