package agentctx

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/store"
)

// auditText is all of the store's log as JSON.
func (r *taskRig) auditText() string {
	r.t.Helper()
	var all []memory.AuditEntry
	err := r.store.View(func(v store.View) error {
		for lines, err := range v.Audit() {
			if err != nil {
				return err
			}
			all = append(all, lines...)
		}
		return nil
	})
	must(r.t, err)
	text, err := json.Marshal(all)
	must(r.t, err)
	return string(text)
}

// What is forgotten is not read in the audit log either; that something was reported
// is, and all that others reported.
func TestForgottenInTheAuditLog(t *testing.T) {
	r := newTaskRig(t)
	task := func(id, intent string) *memory.TaskSaved {
		return r.complete(memory.CompleteTaskRequest{TaskID: id, RequiresContext: new(true), Intent: intent})
	}
	first := task("task-1", "hide the salmon")
	task("task-1", "hide the salmon again")
	task("task-2", "feed the heron")
	blocker := r.block("task-3", "the otter has the key")
	if _, err := r.tasks.UnblockTask(t.Context(), memory.UnblockTaskRequest{TaskID: "task-3", Resolution: "the otter left", Caller: r.caller}); err != nil {
		t.Fatal(err)
	}
	r.block("task-3", "the otter is back")
	r.load(`[{"task_id":"old","completed_at":"2025-01-01T00:00:00Z","requires_context":true,"intent":"count the newts","validation_report":{}}]`)
	check := func(what string, there, gone []string) {
		t.Helper()
		text := r.auditText()
		for _, word := range there {
			if !strings.Contains(text, word) {
				t.Errorf("%s: the log does not have %q", what, word)
			}
		}
		for _, word := range gone {
			if strings.Contains(text, word) {
				t.Errorf("%s: the log still has %q", what, word)
			}
		}
		if n := strings.Count(text, `"complete task"`); n != 3 {
			t.Errorf("%s: the log has %d completed tasks, want 3", what, n)
		}
	}
	check("before", []string{"salmon", "heron", "otter", "newts"}, nil)
	forget := func(req memory.ForgetRequest) {
		t.Helper()
		if _, err := r.ingest.Forget(t.Context(), req, r.store); err != nil {
			t.Fatal(err)
		}
	}
	forget(memory.ForgetRequest{IDs: []string{first.ID}})
	check("a task forgotten", []string{"heron", "otter", "newts"}, []string{"salmon"})
	forget(memory.ForgetRequest{IDs: []string{blocker.ID}})
	check("a blocker forgotten", []string{"heron", "newts"}, []string{"salmon", "otter"})
	forget(memory.ForgetRequest{Project: first.Project})
	check("the project forgotten", nil, []string{"salmon", "otter", "heron", "newts"})
}
