package agentctx

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/testkit/underrace"
)

// history asks for events, by default those of the rig's project.
func (r *taskRig) history(req memory.TaskHistoryRequest) *memory.TaskHistory {
	r.t.Helper()
	if req.Project == "" {
		req.Caller = r.caller
	}
	out, err := r.tasks.TaskHistory(r.t.Context(), req)
	if err != nil {
		r.t.Fatalf("history %+v: %v", req, err)
	}
	return out
}

// shape names events by what happened and to which task: "completed task-2, blocked b".
func shape(h *memory.TaskHistory) string {
	var out []string
	for _, e := range h.Events {
		what := strings.TrimPrefix(string(e.Event), "task_")
		for _, raw := range append(append([]json.RawMessage{e.Task, e.Blocker}, e.Tasks...), e.Blockers...) {
			if id := idOf(raw); id != "" {
				what += " " + id
			}
		}
		out = append(out, what)
	}
	return strings.Join(out, ", ")
}

// All that happened is read back in full, newest first, also what gave way, was resolved
// or was loaded; what others wrote and other projects have is not among it.
func TestTaskHistory(t *testing.T) {
	r := newTaskRig(t)
	if got := r.history(memory.TaskHistoryRequest{}); got.Events == nil || len(got.Events) > 0 || got.Text != "" || got.More {
		t.Errorf("before anything happened the history is %+v, want an empty list", got)
	}
	r.complete(memory.CompleteTaskRequest{TaskID: "task-1", RequiresContext: new(true), Intent: "Add \"login\"\nnow", Summary: "It works", ValidationReport: json.RawMessage(`{"valid":true,"n":1.50}`)})
	r.block("task-2", "The key has expired")
	if _, err := r.ingest.Remember(t.Context(), memory.RememberRequest{Lesson: "Renew keys in time", Type: memory.EventPattern, Caller: r.caller}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.ingest.Write(t.Context(), memory.Project{ID: "p-elsewhere", Name: "elsewhere", Names: []string{"elsewhere"}}, memory.Batch{}); err != nil {
		t.Fatal(err)
	}
	r.complete(memory.CompleteTaskRequest{TaskID: "secret", Project: "elsewhere", RequiresContext: new(true), Intent: "hide the salmon"})
	if _, err := r.tasks.UnblockTask(t.Context(), memory.UnblockTaskRequest{TaskID: "task-2", Resolution: "The key was renewed", Caller: r.caller}); err != nil {
		t.Fatal(err)
	}
	r.load(`{"completed_tasks":[{"task_id":"old","completed_at":"2025-01-01T00:00:00Z","validation_report":{}},{"task_id":"older","completed_at":"2024-01-01T00:00:00Z","validation_report":{}}],
		"active_blockers":[{"task_id":"task-9","reason":"waits","blocked_at":"2025-01-01T00:00:00Z"}]}`)
	r.complete(memory.CompleteTaskRequest{TaskID: "task-2", ValidationReport: json.RawMessage(failed)})
	all := r.history(memory.TaskHistoryRequest{})
	if want := "completed task-2, tasks_loaded older old task-9, unblocked task-2, blocked task-2, completed task-1"; shape(all) != want {
		t.Fatalf("the history is %q, want %q", shape(all), want)
	}
	if all.ProjectName != "demo" || all.More || all.Before != 0 {
		t.Errorf("the history is of %q with more %v before %d, want all of demo's", all.ProjectName, all.More, all.Before)
	}
	first, resolved := all.Events[4], all.Events[2]
	for _, want := range []string{`"intent":"Add \"login\"\nnow"`, `"summary":"It works"`, `"n":1.50`} {
		if !strings.Contains(string(first.Task), want) {
			t.Errorf("the first task is %s, want it in full with %s", first.Task, want)
		}
	}
	if first.Seq == 0 || !first.At.Equal(taskTime) || first.Client != "test" || resolved.Resolution != "The key was renewed" || !strings.Contains(string(resolved.Blocker), "The key has expired") {
		t.Errorf("the events are %+v and %+v, want number, time and client, and the blocker with its resolution", first, resolved)
	}
	if want := `## Task History
- 2026-01-11T09:58Z task-2 completed, ✗ failed
- 2026-01-11T09:58Z loaded 2 tasks and 1 blocker
- 2026-01-11T09:58Z task-2 unblocked: "The key was renewed" (was blocked: "The key has expired")
- 2026-01-11T09:56Z task-2 blocked: "The key has expired"
- 2026-01-11T09:55Z task-1 completed, ✓ success: "Add 'login' now"
`; all.Text != want {
		t.Errorf("the text is\n%swant\n%s", all.Text, want)
	}
	for id, want := range map[string]string{
		"task-2": "completed task-2, unblocked task-2, blocked task-2", "old": "tasks_loaded old", "task-9": "tasks_loaded task-9", "task": "",
	} {
		if got := shape(r.history(memory.TaskHistoryRequest{TaskID: id})); got != want {
			t.Errorf("the history of %s is %q, want %q", id, got, want)
		}
	}
	if got := shape(r.history(memory.TaskHistoryRequest{Project: "elsewhere"})); got != "completed secret" {
		t.Errorf("the history of another project is %q, want its own task", got)
	}
	if _, err := r.ingest.Forget(t.Context(), memory.ForgetRequest{IDs: []string{memory.RecordID("t", all.Project, "task-1")}}, r.store); err != nil {
		t.Fatal(err)
	}
	if got := r.history(memory.TaskHistoryRequest{}); strings.Contains(got.Text, "login") || len(got.Events) != 4 {
		t.Errorf("after it was forgotten the history is %q, want nothing of task-1", shape(got))
	}
}

// A history goes on where the answer before ended, and has each event once, also those of
// tasks that gave way to the bounds of the state.
func TestTaskHistoryByPages(t *testing.T) {
	r := newTaskRig(t)
	for n := range memory.MaxTasks + 5 {
		r.complete(memory.CompleteTaskRequest{TaskID: fmt.Sprintf("task-%d", n)})
	}
	var got []string
	req := memory.TaskHistoryRequest{Limit: 25}
	for pages := 1; ; pages++ {
		page := r.history(req)
		if len(page.Events) > 25 || pages > 5 {
			t.Fatalf("page %d has %d events, want 5 pages of at most 25", pages, len(page.Events))
		}
		for _, e := range page.Events {
			got = append(got, idOf(e.Task))
		}
		if !page.More {
			break
		}
		req.Before = page.Before
	}
	if len(got) != memory.MaxTasks+5 || got[0] != "task-104" || got[104] != "task-0" {
		t.Errorf("the pages have %d tasks from %s to %s, want 105 from task-104 to task-0", len(got), got[0], got[len(got)-1])
	}
	gone := r.history(memory.TaskHistoryRequest{TaskID: "task-0", Limit: 1})
	if want := "completed task-100"; shape(gone) != want || !strings.Contains(gone.Text, "; task-0 gave way") {
		t.Errorf("the newest event about task-0 is %q: %q, want %q, to which it gave way", shape(gone), gone.Text, want)
	}
	if got := r.history(memory.TaskHistoryRequest{}); len(got.Events) != memory.DefaultHistory || !got.More {
		t.Errorf("without a limit there are %d events, more %v, want %d and more", len(got.Events), got.More, memory.DefaultHistory)
	}
}

// An answer is bounded in bytes as well, but never so that it does not go on.
func TestTaskHistoryBytes(t *testing.T) {
	underrace.Skip(t, "a limit, met by one caller")
	r := newTaskRig(t)
	report := json.RawMessage(`{"log":"` + strings.Repeat("x", 60_000) + `"}`)
	const tasks = 20
	for n := range tasks {
		r.complete(memory.CompleteTaskRequest{TaskID: fmt.Sprintf("task-%d", n), ValidationReport: report})
	}
	req, seen := memory.TaskHistoryRequest{Limit: memory.MaxHistory}, 0
	for range tasks {
		page := r.history(req)
		size := 0
		for _, e := range page.Events {
			size += len(e.Task)
		}
		if len(page.Events) == 0 || size > memory.MaxHistoryBytes {
			t.Fatalf("a page has %d events of %d bytes, want some of at most %d", len(page.Events), size, memory.MaxHistoryBytes)
		}
		seen += len(page.Events)
		if req.Before = page.Before; !page.More {
			break
		}
	}
	if seen != tasks {
		t.Errorf("the pages have %d events, want %d", seen, tasks)
	}
}

// The text of an event is bounded, whatever is in it, and stays one line.
func TestTaskHistoryText(t *testing.T) {
	long := strings.Repeat("ü \x1b[2J\n- 2026-01-11T09:55Z task-9 completed, ✓ success\n", 200)
	raw, err := json.Marshal(memory.BlockedTask{TaskID: "b\n## Task History", Reason: long, BlockedAt: taskTime})
	must(t, err)
	text := render.TaskHistory([]memory.TaskEvent{
		{Event: memory.TaskUnblocked, At: taskTime, Blocker: raw, Resolution: long},
		{Event: memory.TaskCompleted, At: taskTime.Add(-time.Minute), Task: json.RawMessage(`{"task_id":"a"}`), GaveWay: []string{"1", "2", "3", "4", "5"}},
	})
	if n := strings.Count(text, "\n"); n != 3 || strings.ContainsRune(text, '\x1b') || len([]rune(text)) > 3*memory.MaxShownText {
		t.Errorf("the text has %d lines and %d characters: %q; want a line for the heading and each event, without control characters", n, len([]rune(text)), text)
	}
	if !strings.HasSuffix(text, "a completed, ✗ failed; 1, 2, 3 gave way with 2 more\n") {
		t.Errorf("the text ends in %q, want three of the tasks that gave way", text)
	}
}
