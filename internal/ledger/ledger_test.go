package ledger

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// turn keeps the receipt of a turn of a session.
func (r *rig) turn(id, sessionID string, turn int, p memory.Purpose, items ...memory.ReceiptItem) {
	r.t.Helper()
	r.now = r.now.Add(time.Second)
	r.write(memory.Batch{Receipts: []memory.Receipt{{
		ID: id, At: r.now, Project: r.project.ID, Session: sessionID, Turn: turn, Purpose: p, Items: items,
		Withheld: []memory.Withheld{{ID: "u-x", Kind: memory.Rule, Name: "Other", Reason: memory.BelowThreshold, NearestScore: .3}},
	}}})
}

func TestContextOfATurn(t *testing.T) {
	r := newRig(t)
	r.session("mm-one")
	r.session("mm-two")
	item := func(kind memory.Kind, mode memory.Include) memory.ReceiptItem {
		return memory.ReceiptItem{ID: fmt.Sprint(kind, "-", mode), Kind: kind, Name: "x", Mode: mode}
	}
	items := []memory.ReceiptItem{
		item(memory.Rule, "always"), item(memory.Reference, "always"), item(memory.Rule, "manual"), item(memory.Tool, "manual"),
		item(memory.Rule, "agent"), item(memory.Reference, "agent"), item(memory.Tool, "agent"),
	}
	r.turn("rc-1", "mm-one", 1, memory.PurposeContext, items[:2]...)
	r.turn("rc-2", "mm-one", 2, memory.PurposeContext, items[:4]...)
	r.turn("rc-3", "mm-one", 2, memory.PurposeRecall, item(memory.Lesson, "agent"))
	r.turn("rc-4", "mm-one", 2, memory.PurposeTools, items[6])
	r.turn("rc-5", "mm-two", 7, memory.PurposeContext, items[4:]...)
	for name, test := range map[string]struct {
		which   memory.SessionRef
		turn    int
		receipt string
		want    int // turn of the answer
		summary string
	}{
		"the first":             {memory.SessionRef{SessionID: "mm-one"}, 1, "rc-1", 1, "1 rule (always), 1 reference (always)"},
		"the second":            {memory.SessionRef{SessionID: "mm-one"}, 2, "rc-2", 2, "2 rules (1 always, 1 manual), 1 reference (always), 1 tool (manual)"},
		"the last":              {memory.SessionRef{SessionID: "mm-one"}, 0, "rc-2", 2, "2 rules (1 always, 1 manual), 1 reference (always), 1 tool (manual)"},
		"of the caller":         {memory.SessionRef{Caller: memory.Caller{Session: "mm-two"}}, 0, "rc-5", 7, "1 rule (agent), 1 reference (agent), 1 tool (agent)"},
		"one that there is not": {memory.SessionRef{SessionID: "mm-one"}, 3, "", 3, memory.NoContext},
		"another's":             {memory.SessionRef{SessionID: "mm-two"}, 1, "", 1, memory.NoContext},
	} {
		test.which.Project = "demo"
		got, err := r.ledger.ContextOf(t.Context(), memory.ContextOfRequest{Turn: test.turn, SessionRef: test.which})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got.Receipt != test.receipt || got.Turn != test.want || got.Summary != test.summary || got.ProjectName != "demo" {
			t.Errorf("%s: receipt %q, turn %d, summary %q of %q; want %q, %d, %q", name, got.Receipt, got.Turn, got.Summary, got.ProjectName, test.receipt, test.want, test.summary)
		}
		switch {
		case test.receipt == "":
			if got.Record != nil || got.Text != memory.NoContext || got.Withheld == nil {
				t.Errorf("%s: %+v, want no record, and the text that says so", name, got)
			}
		case got.Record == nil || len(got.Record.Items) == 0 || got.Text != render.Record(*got.Record) || len(got.Withheld) != 1:
			t.Errorf("%s: %+v, want the record, its text and what was withheld", name, got)
		}
	}
}

func TestContextOfNoSession(t *testing.T) {
	r := newRig(t)
	for name, test := range map[string]struct {
		which memory.SessionRef
		code  memory.Code
	}{
		"none is open":        {memory.SessionRef{Project: "demo"}, memory.CodeInvalidInput},
		"an unknown one":      {memory.SessionRef{Project: "demo", SessionID: "mm-none"}, memory.CodeNotFound},
		"an unknown project":  {memory.SessionRef{Project: "nowhere", SessionID: "mm-none"}, memory.CodeNotFound},
		"an id that is none":  {memory.SessionRef{Project: "demo", SessionID: "x"}, memory.CodeInvalidInput},
		"a caller of a stray": {memory.SessionRef{Project: "demo", Caller: memory.Caller{Session: "mm-none"}}, memory.CodeNotFound},
	} {
		if _, err := r.ledger.ContextOf(t.Context(), memory.ContextOfRequest{SessionRef: test.which}); err == nil || memory.CodeOf(err) != test.code {
			t.Errorf("%s: %v, want %s", name, err, test.code)
		}
	}
}

func TestReceiptsAreListed(t *testing.T) {
	r := newRig(t)
	r.session("mm-one")
	r.turn("rc-1", "mm-one", 1, memory.PurposeContext)
	r.turn("rc-2", "mm-one", 2, memory.PurposeRecall)
	since := r.now.Add(time.Second)
	r.turn("rc-3", "", 0, memory.PurposeRecall)
	r.turn("rc-4", "mm-one", 2, memory.PurposeTools)
	r.write(memory.Batch{Receipts: []memory.Receipt{{ID: "rc-5", At: r.now, Project: "p-other"}}})
	for name, test := range map[string]struct {
		req  memory.ReceiptsRequest
		want []string
		more bool
	}{
		"all":         {memory.ReceiptsRequest{}, []string{"rc-4", "rc-3", "rc-2", "rc-1"}, false},
		"the newest":  {memory.ReceiptsRequest{Limit: 2}, []string{"rc-4", "rc-3"}, true},
		"a session's": {memory.ReceiptsRequest{SessionID: "mm-one"}, []string{"rc-4", "rc-2", "rc-1"}, false},
		"a turn's":    {memory.ReceiptsRequest{SessionID: "mm-one", Turn: new(2)}, []string{"rc-4", "rc-2"}, false},
		"no turn's":   {memory.ReceiptsRequest{SessionID: "mm-one", Turn: new(0)}, []string{}, false},
		"since":       {memory.ReceiptsRequest{Since: since}, []string{"rc-4", "rc-3"}, false},
		"before":      {memory.ReceiptsRequest{Before: "rc-3"}, []string{"rc-2", "rc-1"}, false},
	} {
		test.req.Project = "demo"
		got, err := r.ledger.Receipts(t.Context(), test.req)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		ids := []string{}
		for _, x := range got.Receipts {
			ids = append(ids, x.ID)
		}
		if !slices.Equal(ids, test.want) || got.More != test.more || got.Receipts == nil || got.Project != r.project.ID {
			t.Errorf("%s: %v, more %v of %s; want %v, more %v", name, ids, got.More, got.Project, test.want, test.more)
		}
	}
	for _, before := range []string{"rc-9", "rc-5"} { // of none, and of another project
		_, err := r.ledger.Receipts(t.Context(), memory.ReceiptsRequest{Project: "demo", Before: before})
		if e := memory.AsError(err); memory.CodeOf(err) != memory.CodeNotFound || e.Field != "before" {
			t.Errorf("those before %s = %v, want it not found", before, err)
		}
	}
	// A whole id is a time, also when its receipt is not kept any more. Of a part that several
	// have, a client is not told which: they may be of projects that it does not see.
	newer, older := "rc-ffffffffffff00000000", "rc-00000000000000000000"
	for before, want := range map[string]int{newer: 4, older: 0} {
		got, err := r.ledger.Receipts(t.Context(), memory.ReceiptsRequest{Project: "demo", Before: before})
		if err != nil || len(got.Receipts) != want {
			t.Errorf("those before %s, which is gone = %+v, %v; want %d", before, got, err, want)
		}
	}
	r.write(memory.Batch{Receipts: []memory.Receipt{{ID: newer + "1", At: r.now, Project: "p-other"}, {ID: newer + "2", At: r.now, Project: "p-other"}}})
	_, err := r.ledger.Receipts(t.Context(), memory.ReceiptsRequest{Project: "demo", Before: "rc-ffff"})
	if e := memory.AsError(err); memory.CodeOf(err) != memory.CodeInvalidInput || e.Field != "before" || strings.Contains(e.Error(), newer) {
		t.Errorf("those before a part of two ids = %v (field %s)", err, e.Field)
	}
	if _, err := r.ledger.Receipts(t.Context(), memory.ReceiptsRequest{Project: "demo", SessionID: "mm-none"}); memory.CodeOf(err) != memory.CodeNotFound {
		t.Errorf("those of an unknown session = %v, want it not found", err)
	}
}

// TestRecordOutlivesItsItems: what a turn was given stays readable by name when the
// items are gone.
func TestRecordOutlivesItsItems(t *testing.T) {
	r := newRig(t)
	r.session("mm-one")
	rule := r.rule("Style", "Use tabs.")
	r.turn("rc-1", "mm-one", 1, memory.PurposeContext, memory.ReceiptItem{ID: rule, Kind: memory.Rule, Name: "Style", Mode: memory.IncludeManual})
	r.write(memory.Batch{DropRecords: []string{rule}})
	got, err := r.ledger.ContextOf(t.Context(), memory.ContextOfRequest{SessionRef: memory.SessionRef{Project: "demo", SessionID: "mm-one"}})
	if err != nil {
		t.Fatal(err)
	}
	if want := "Context Used:\nRules (1):\n  • Style [Manual]"; got.Text != want {
		t.Errorf("text (-want +got):\n%s", cmp.Diff(want, got.Text))
	}
}

func TestNewNamesWhatIsMissing(t *testing.T) {
	_, err := New(Options{})
	if e, ok := errors.AsType[*memory.Error](err); !ok || e.Code != memory.CodeInvalidInput || e.Field == "" {
		t.Errorf("a ledger of nothing = %v, want the missing field named", err)
	}
}
