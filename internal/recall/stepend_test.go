package recall_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
)

// TestStepsSayHowTheyEnded: what finds a step says what it was done to, whether it
// worked and what it failed with, without secrets and bounded.
func TestStepsSayHowTheyEnded(t *testing.T) {
	r := newRig(t)
	record := func(id, text string, st memory.StepContent) {
		r.write(memory.Record{ID: id, Kind: memory.Step, Session: "mm-1", Text: text, Doc: memory.DocumentID(text), Step: &st})
	}
	record("s-fail", "mm_click confirm button disabled zebra", memory.StepContent{
		Tool:    memory.StepTool{Name: "mm_click", Target: json.RawMessage(`{"testId":"confirm-button"}`)},
		Outcome: memory.Outcome{Error: &memory.StepError{Code: "MM_DISABLED", Message: "zebra\n" + strings.Repeat("very long ", 60), Details: json.RawMessage(`{"a":1}`)}},
	})
	record("s-ok", "bash npm test zebra", memory.StepContent{
		Tool: memory.StepTool{Name: "bash", Input: json.RawMessage(`{"command":"cd app && npm test --silent"}`)}, Outcome: memory.Outcome{OK: true},
	})
	want := map[string]memory.StepEnd{"s-fail": {Target: "confirm-button", Error: &memory.StepError{Code: "MM_DISABLED"}}, "s-ok": {OK: true, Target: "npm test"}}
	check := func(where string, got map[string]memory.StepEnd) {
		t.Helper()
		if e := got["s-fail"].Error; e != nil {
			if len(e.Message) > 200 || !strings.HasPrefix(e.Message, "zebra very long") || e.Details != nil {
				t.Errorf("%s: the error is %+v, want a line of at most 200 bytes without details", where, e)
			}
			e.Message = ""
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", where, diff)
		}
	}
	found, err := r.recall.SearchSteps(t.Context(), memory.SearchStepsRequest{Query: "zebra", Project: r.project.ID})
	if err != nil {
		t.Fatal(err)
	}
	last, err := r.recall.LastSteps(t.Context(), memory.LastStepsRequest{Project: r.project.ID, Scope: &memory.Scope{Name: memory.ScopeAll}})
	if err != nil {
		t.Fatal(err)
	}
	for where, views := range map[string][]memory.StepView{"steps": found.Matches, "last": last.Steps} {
		got := map[string]memory.StepEnd{}
		for _, v := range views {
			got[v.ID] = v.StepEnd
		}
		check(where, got)
	}
	a, err := r.recall.Recall(t.Context(), memory.RecallRequest{Query: "zebra", Kinds: []memory.Kind{memory.Step}, Project: r.project.ID, MinRelevance: new(0.0)})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]memory.StepEnd{}
	for _, i := range a.Items {
		if i.StepEnd == nil {
			t.Fatalf("the step %s of an answer does not say how it ended", i.ID)
		}
		got[i.ID] = *i.StepEnd
	}
	check("recall", got)
	raw, err := json.Marshal(a.Items)
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{`"ok":false`, `"ok":true`, `"target":"npm test"`, `"error":{"code":"MM_DISABLED"`} {
		if !strings.Contains(string(raw), field) {
			t.Errorf("the JSON of an answer lacks %s: %s", field, raw)
		}
	}
}
