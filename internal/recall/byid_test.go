package recall_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/recall"
	"github.com/recalld/recalld/internal/render"
)

// TestWhole asks for memories by their ids: each is there in full, or the reason why not.
func TestWhole(t *testing.T) {
	r := newRig(t)
	long := strings.Repeat("give the cache back to its owner; ", 60)
	step := memory.StepContent{
		Tool:        memory.StepTool{Name: "bash", Input: json.RawMessage(`{"command":"npm test"}`), Target: json.RawMessage(`"payments-api"`)},
		Outcome:     memory.Outcome{Error: &memory.StepError{Code: "E1", Message: "one test of 40 failed"}},
		Observation: json.RawMessage(`{"log":"expected 3, got 4"}`), Labels: []string{"verification"},
	}
	r.write(
		memory.Record{ID: "l-7f3a11", Kind: memory.Lesson, Repo: "demo", Event: &memory.Event{Type: memory.EventError, Context: "npm install", Lesson: long, Command: "sudo chown -R me ~/.npm", Rate: &memory.Rate{Successes: 9, Attempts: 10}}},
		memory.Record{ID: "l-7f3b22", Kind: memory.Lesson, Repo: "demo", Event: &memory.Event{Type: memory.EventPattern, Lesson: "another one"}},
		memory.Record{ID: "l-aside0", Kind: memory.Lesson, Repo: "demo", Event: &memory.Event{Type: memory.EventPattern, Lesson: "wrong", Withdrawn: &memory.Withdrawal{Reason: "retracted", By: "l-7f3b22"}}},
		memory.Record{ID: "t-1a2b3c", Kind: memory.Task, Task: &memory.TaskContent{TaskID: "task-042", RequiresContext: true, Intent: "Add login", Summary: "done so", Report: json.RawMessage(`{"valid":true}`)}},
		memory.Record{ID: "y-2b3c4d", Kind: memory.SessionSummary, Provenance: memory.Provenance{Origin: memory.OriginTeam, Agent: "ann"}, Text: "Totals are rounded.\nNext: tests."},
		memory.Record{ID: "u-rule00", Kind: memory.Rule, Entry: &memory.Entry{Name: "Auth", Content: "Line one.\nLine two."}},
		memory.Record{ID: "s-91a0bb", Kind: memory.Step, Session: "mm-1", Step: &step},
	)
	r.write(memory.Record{ID: "s-other0", Kind: memory.Step, Project: "p-other", Session: "mm-2", Step: &step})
	r.write(memory.Record{ID: "l-other0", Kind: memory.Lesson, Project: "p-other", Repo: "other", Event: &memory.Event{Type: memory.EventPattern, Lesson: "of another project"}})
	ask := func(req memory.RecallRequest) *memory.RecallResponse {
		t.Helper()
		req.Project = r.project.ID
		a, err := r.recall.Recall(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	a := ask(memory.RecallRequest{IDs: []string{"s-91a0", "l-7f3a", "t-1a2b3c", "u-rule00", "l-7f3a11", "y-2b3c"}})
	if len(a.Items) != 5 || a.Items[0].ID != "s-91a0bb" || a.Items[1].ID != "l-7f3a11" || a.NothingRelevant {
		t.Fatalf("items %+v, want the five in the order asked, none twice", a.Items)
	}
	for _, want := range []string{
		"Tool: bash", "failed: E1: one test of 40 failed", "Target: payments-api", `{"log":"expected 3, got 4"}`, "Session: mm-1",
		strings.TrimSpace(long), "Command: sudo chown -R me ~/.npm", "(9/10 success)", "Intent: Add login", "Summary: done so", "Line one.\n  Line two.", // a further line is no field
		"session summary [2026-02-03] [team: ann]\nTotals are rounded.\nNext: tests.",
	} {
		if !strings.Contains(a.Text, want) {
			t.Errorf("the text lacks %q:\n%s", want, a.Text)
		}
	}
	if s := a.Items[0].Step; s == nil || s.Outcome.OK || string(s.Tool.Target) != `"payments-api"` || string(s.Observation) == "" {
		t.Errorf("the step is %+v, want outcome, target and observation", s)
	}
	for id, want := range map[string]memory.Reason{
		"l-7f3": memory.Ambiguous, "l-0000": memory.NotFound, "l-aside0": memory.Retracted, "s-other0": memory.OtherProject,
		"l-other0": memory.OtherProject, "c-00ff": memory.NotFound,
	} {
		a := ask(memory.RecallRequest{IDs: []string{id}})
		if len(a.Items) > 0 || len(a.Withheld) != 1 || a.Withheld[0].Reason != want || !strings.Contains(a.Text, render.ReasonText(want)) || a.NothingRelevant {
			t.Errorf("%s: withheld %+v, text %q; want %s", id, a.Withheld, a.Text, want)
		}
	}
	small := ask(memory.RecallRequest{IDs: []string{"l-7f3a11", "t-1a2b3c"}, MaxTokens: 200})
	if len(small.Items) != 1 || !small.Items[0].Cut || small.Tokens > 200 || len(small.Withheld) != 1 || small.Withheld[0].Reason != memory.OverBudget {
		t.Errorf("in 200 tokens: %d items in %d tokens, withheld %+v; want the first, cut, and the second over the budget", len(small.Items), small.Tokens, small.Withheld)
	}
	for _, most := range []int{100, 200} {
		small := ask(memory.RecallRequest{IDs: []string{"l-7f3a11"}, MaxTokens: most})
		if want := "more bytes; a larger max_tokens shows them)"; !strings.Contains(small.Text, want) || small.Tokens > most {
			t.Errorf("in %d tokens the text is\n%s\nwant it to say how to see the rest: %q", most, small.Text, want)
		}
	}
	receipt, err := r.recall.Receipt(t.Context(), a.Receipt)
	if err == nil && len(receipt.Items) != 5 {
		t.Errorf("the receipt has %d items, want 5", len(receipt.Items))
	}
	if _, err := r.recall.Recall(t.Context(), memory.RecallRequest{IDs: make([]string, 21)}); memory.CodeOf(err) != memory.CodeInvalidInput {
		t.Errorf("21 ids: %v, want them refused", err)
	}
}

// TestWholeHoldsNoSecret: the fields of a whole memory pass the rules again, as its text does.
func TestWholeHoldsNoSecret(t *testing.T) {
	r := newRig(t, func(_ *rig, o *recall.Options) {
		o.Redact = func(text string) (string, int) { return strings.ReplaceAll(text, "hunter2", "[redacted]"), 0 }
	})
	git := memory.Git{Branch: "branch-hunter2", Commit: "commit-hunter2"}
	step := memory.StepContent{
		Tool: memory.StepTool{Name: "bash"}, Outcome: memory.Outcome{OK: true}, Screen: "screen-hunter2", Screenshot: "picture-hunter2.png", Git: &git,
	}
	task := memory.TaskContent{TaskID: "task-hunter2", Type: "type-hunter2", Intent: "hunter2", Report: json.RawMessage(`{"valid":true}`)}
	r.write(
		memory.Record{ID: "s-91a0bb", Kind: memory.Step, Session: "mm-1", Step: &step},
		memory.Record{ID: "t-1a2b3c", Kind: memory.Task, Task: &task},
	)
	a, err := r.recall.Recall(t.Context(), memory.RecallRequest{IDs: []string{"s-91a0bb", "t-1a2b3c"}, Project: r.project.ID})
	if err != nil || len(a.Items) != 2 {
		t.Fatalf("%+v, %v; want the step and the task", a, err)
	}
	if text, err := json.Marshal(a); err != nil || strings.Contains(string(text), "hunter2") {
		t.Errorf("%v, the answer is %s", err, text)
	}
}

// TestWholeOfAnother: what is asked without a project's name finds everybody's lessons,
// as recall does.
func TestWholeOfAnother(t *testing.T) {
	r := newRig(t)
	r.write(memory.Record{ID: "l-other0", Kind: memory.Lesson, Project: "p-other", Repo: "other", Event: &memory.Event{Type: memory.EventPattern, Lesson: "of another project"}})
	a, err := r.recall.Recall(t.Context(), memory.RecallRequest{IDs: []string{"l-other0"}, Caller: memory.Caller{Dir: t.TempDir()}})
	if err != nil || len(a.Items) != 1 || !strings.Contains(a.Text, "[from other]") {
		t.Errorf("%+v, %v; want the lesson, marked", a, err)
	}
}

// TestTasksAreRecalled by default, and blockers with them.
func TestTasksAreRecalled(t *testing.T) {
	r := newRig(t)
	r.write(
		memory.Record{ID: "t-1", Kind: memory.Task, Text: "task-042 migrate invoices to cents", Task: &memory.TaskContent{TaskID: "task-042", RequiresContext: true, Intent: "migrate invoices to cents"}},
		memory.Record{ID: "b-1", Kind: memory.Blocker, Text: "task-043 migrate invoices waits for the ledger", Task: &memory.TaskContent{TaskID: "task-043", Reason: "migrate invoices waits for the ledger"}},
	)
	a, err := r.recall.Recall(t.Context(), memory.RecallRequest{Query: "migrate invoices", Project: r.project.ID})
	if err != nil || len(a.Items) != 2 || !strings.Contains(a.Text, `task-042 "migrate invoices to cents"`) || !strings.Contains(a.Text, "task-043 is blocked: migrate invoices waits") {
		t.Errorf("%v\n%s\nwant the task and the blocker", err, a.Text)
	}
	unrelated, err := r.recall.Recall(t.Context(), memory.RecallRequest{Query: "photosynthesis of deep sea algae", Project: r.project.ID})
	if err != nil || !unrelated.NothingRelevant {
		t.Errorf("an unrelated question finds %+v, %v", unrelated.Items, err)
	}
}
