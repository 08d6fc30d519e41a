package agentctx

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/testkit/underrace"
)

// What is kept of a task depends on whether it requires context.
func TestCompleteTask(t *testing.T) {
	needs := TaskSettings{Window: 5, RequiresContext: true}
	for name, test := range map[string]struct {
		settings TaskSettings
		req      memory.CompleteTaskRequest
		want     memory.TaskContent
		text     string
	}{
		"opaque": {defaultTasks,
			memory.CompleteTaskRequest{TaskID: "task-1", TaskType: "fix", Intent: "hidden", Summary: "hidden", ValidationReport: json.RawMessage(`{"valid": false, "errors": ["hidden"]}`)},
			memory.TaskContent{TaskID: "task-1", Type: "fix", Report: json.RawMessage(`{"valid":false,"errors":["hidden"]}`)},
			"task-1\nfix"},
		"with context": {defaultTasks,
			memory.CompleteTaskRequest{TaskID: "task-1", RequiresContext: new(true), Intent: "Add login", Summary: "Login by mail", ValidationReport: json.RawMessage(`{"valid":false,"errors":["no tests"]}`)},
			memory.TaskContent{TaskID: "task-1", RequiresContext: true, Intent: "Add login", Summary: "Login by mail", Report: json.RawMessage(`{"valid":false,"errors":["no tests"]}`)},
			"task-1\nAdd login\nLogin by mail\nno tests"},
		"summary made": {needs,
			memory.CompleteTaskRequest{TaskID: "task-1", Intent: "Add login", ValidationReport: json.RawMessage(`{"valid":true}`)},
			memory.TaskContent{TaskID: "task-1", RequiresContext: true, Intent: "Add login", Summary: "Add login: succeeded.", Report: json.RawMessage(`{"valid":true}`)},
			"task-1\nAdd login\nAdd login: succeeded."},
		"said to need none": {needs,
			memory.CompleteTaskRequest{TaskID: "task-1", RequiresContext: new(false), Intent: "hidden", ValidationReport: json.RawMessage(`{}`)},
			memory.TaskContent{TaskID: "task-1", Report: json.RawMessage(`{}`)}, "task-1"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newTaskRig(t, func(_ *taskRig, o *TaskOptions) { o.Settings = test.settings })
			kept := r.complete(test.req)
			want := &memory.TaskSaved{ID: kept.ID, TaskID: "task-1", Project: kept.Project, ProjectName: "demo", Completed: 1, Seq: kept.Seq, NotKept: kept.NotKept}
			if diff := cmp.Diff(want, kept); diff != "" || !strings.HasPrefix(kept.ID, "t-") || kept.Seq == 0 {
				t.Errorf("the answer (-want +got):\n%s", diff)
			}
			rec, err := r.store.Record(kept.ID)
			must(t, err)
			if diff := cmp.Diff(&test.want, rec.Task); diff != "" || rec.Text != test.text || rec.Kind != memory.Task || !rec.Created.Equal(taskTime) {
				t.Errorf("the record is of kind %s at %s, found by %q, want %q (-want +got):\n%s", rec.Kind, rec.Created, rec.Text, test.text, diff)
			}
		})
	}
}

// A task reported again replaces the first, and its text goes with it.
func TestTaskReplaced(t *testing.T) {
	r := newTaskRig(t)
	r.complete(memory.CompleteTaskRequest{TaskID: "t", RequiresContext: new(true), Intent: "first"})
	kept := r.complete(memory.CompleteTaskRequest{TaskID: " t ", RequiresContext: new(true), Intent: "second"})
	if w := r.window(0); kept.Completed != 1 || len(w.Tasks) != 1 || w.Tasks[0].Intent != "second" {
		t.Errorf("%d tasks are kept, and shown: %s", kept.Completed, w.Text)
	}
	if n := r.index.Documents(); n != 1 {
		t.Errorf("%d documents are indexed, want that of the second report", n)
	}
}

// Over the bound of their number the oldest tasks give way, and the log has them.
func TestOldestTasksGiveWay(t *testing.T) {
	r := newTaskRig(t)
	for i := range memory.MaxTasks {
		if kept := r.complete(memory.CompleteTaskRequest{TaskID: fmt.Sprintf("t%d", i)}); kept.Dropped != 0 || kept.Completed != i+1 {
			t.Fatalf("task %d: %d dropped and %d held", i, kept.Dropped, kept.Completed)
		}
	}
	kept := r.complete(memory.CompleteTaskRequest{TaskID: "new"})
	if kept.Dropped != 1 || kept.Completed != memory.MaxTasks {
		t.Errorf("one over the bound dropped %d and left %d, want 1 and %d", kept.Dropped, kept.Completed, memory.MaxTasks)
	}
	if w := r.window(100); w.Tasks[0].TaskID != "t1" || w.Tasks[99].TaskID != "new" {
		t.Errorf("the state begins with %s and ends with %s, want t1 and new", w.Tasks[0].TaskID, w.Tasks[99].TaskID)
	}
	// What is reported now stays, however old it says it is.
	kept = r.complete(memory.CompleteTaskRequest{TaskID: "ancient", CompletedAt: taskTime.AddDate(-1, 0, 0)})
	if w := r.window(100); kept.Dropped != 1 || w.Tasks[0].TaskID != "ancient" || w.Tasks[1].TaskID != "t2" {
		t.Errorf("after an old report the state begins with %s and %s, want ancient and t2", w.Tasks[0].TaskID, w.Tasks[1].TaskID)
	}
	events := r.audit()
	if len(events) != memory.MaxTasks+2 {
		t.Fatalf("the log has %d events, want one of every report", len(events))
	}
	var first memory.CompletedTask
	if err := json.Unmarshal(events[0].Task, &first); err != nil || first.TaskID != "t0" || events[0].Event != memory.TaskCompleted {
		t.Errorf("the first event is %s of %s, %v; want that of the task that gave way", events[0].Event, events[0].Task, err)
	}
	if got := events[memory.MaxTasks].GaveWay; !slices.Equal(got, []string{"t0"}) {
		t.Errorf("the event says that %v gave way, want t0", got)
	}
}

// stateBytes is what a project's state takes as JSON.
func (r *taskRig) stateBytes() int {
	r.t.Helper()
	w := r.window(memory.MaxWindow)
	raw, err := json.Marshal(map[string]any{"completed_tasks": w.Tasks, "active_blockers": w.Blockers})
	must(r.t, err)
	return len(raw)
}

// Over the bound of their bytes the oldest tasks give way too, to a task and to a
// blocker.
func TestStateKeepsToItsBytes(t *testing.T) {
	underrace.Skip(t, "a limit, met by one caller")
	r := newTaskRig(t)
	large := json.RawMessage(`{"valid":true,"log":"` + strings.Repeat("ü", 30_000) + `"}`) // 60 kB
	dropped := 0
	for i := range 12 {
		dropped += r.complete(memory.CompleteTaskRequest{TaskID: fmt.Sprintf("t%d", i), ValidationReport: large}).Dropped
		if n := r.stateBytes(); n > memory.MaxTaskState {
			t.Fatalf("after task %d the state takes %d bytes, at most %d are allowed", i, n, memory.MaxTaskState)
		}
	}
	if w := r.window(100); dropped != 4 || len(w.Tasks) != 8 || w.Tasks[7].TaskID != "t11" {
		t.Errorf("%d tasks gave way and %d are left, want 4 and the 8 that fit", dropped, len(w.Tasks))
	}
	held := r.window(100).Total
	for i := range 20 {
		kept := r.block(fmt.Sprintf("b%d", i), strings.Repeat("ü", memory.MaxReason))
		held -= kept.Dropped
		if n := r.stateBytes(); n > memory.MaxTaskState || kept.Blocked != i+1 || kept.Completed != held {
			t.Fatalf("after blocker %d the state takes %d bytes, with %d blockers and %d tasks, want %d and %d", i, n, kept.Blocked, kept.Completed, i+1, held)
		}
	}
	if held == 8 {
		t.Error("no task gave way to the blockers")
	}
}

// A blocker never gives way: one too many is refused, by number and by bytes.
func TestTooManyBlockers(t *testing.T) {
	underrace.Skip(t, "a limit, met by one caller")
	r := newTaskRig(t)
	for i := range memory.MaxBlockers {
		r.block(fmt.Sprintf("b%d", i), "waits")
	}
	refuse := func(id, reason, limit string) {
		t.Helper()
		_, err := r.tasks.BlockTask(t.Context(), memory.BlockTaskRequest{TaskID: id, Reason: reason, Caller: r.caller})
		if e := memory.AsError(err); e.Code != memory.CodeConflict || e.Limit != limit {
			t.Errorf("one too many: %v, want %s with the limit %q", err, memory.CodeConflict, limit)
		}
	}
	refuse("new", "waits", "at most 200 active blockers")
	if kept := r.block("b7", "waits for another reason"); kept.Blocked != memory.MaxBlockers {
		t.Errorf("a blocker replaced leaves %d, want %d", kept.Blocked, memory.MaxBlockers)
	}
	for i := range memory.MaxBlockers - 10 { // ten stay
		if _, err := r.tasks.UnblockTask(t.Context(), memory.UnblockTaskRequest{TaskID: fmt.Sprintf("b%d", i), Caller: r.caller}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range memory.MaxBlockerState / (2 * memory.MaxReason) {
		_, err := r.tasks.BlockTask(t.Context(), memory.BlockTaskRequest{TaskID: fmt.Sprintf("l%d", i), Reason: strings.Repeat("ü", memory.MaxReason), Caller: r.caller})
		if err != nil {
			if e := memory.AsError(err); e.Code != memory.CodeConflict || e.Limit != "at most 250000 bytes of active blockers" {
				t.Fatalf("blocker %d: %v, want %s with the limit of bytes", i, err, memory.CodeConflict)
			}
			return
		}
	}
	t.Errorf("blockers of %d bytes were all taken", memory.MaxBlockerState)
}

// A resolved blocker is gone, and resolving it again is an error.
func TestUnblock(t *testing.T) {
	r := newTaskRig(t)
	blocked := r.block("task-9", "no key")
	req := memory.UnblockTaskRequest{TaskID: "task-9", Resolution: "the key was found", Caller: r.caller}
	kept, err := r.tasks.UnblockTask(t.Context(), req)
	if err != nil || kept.ID != blocked.ID || kept.Blocked != 0 || kept.Dropped != 0 {
		t.Fatalf("resolved: %+v, %v", kept, err)
	}
	if _, err := r.tasks.UnblockTask(t.Context(), req); memory.CodeOf(err) != memory.CodeNotFound || memory.AsError(err).Field != "task_id" {
		t.Errorf("resolved again: %v, want %s of task_id", err, memory.CodeNotFound)
	}
	events := r.audit()
	if last := events[len(events)-1]; last.Event != memory.TaskUnblocked || last.Resolution != "the key was found" || !strings.Contains(string(last.Blocker), "no key") {
		t.Errorf("the log ends with %+v, want the blocker in full with how it was resolved", last)
	}
}

// A request that is repeated is answered as the first and changes nothing, whatever
// has happened since.
func TestRepeatedRequests(t *testing.T) {
	r := newTaskRig(t)
	done := memory.CompleteTaskRequest{RequestID: "r1", TaskID: "t", ValidationReport: json.RawMessage(passed), Caller: r.caller}
	block := memory.BlockTaskRequest{RequestID: "r2", TaskID: "b", Reason: "waits", Caller: r.caller}
	unblock := memory.UnblockTaskRequest{RequestID: "r3", TaskID: "b", Caller: r.caller}
	calls := []func() (*memory.TaskSaved, error){
		func() (*memory.TaskSaved, error) { return r.tasks.CompleteTask(t.Context(), done) },
		func() (*memory.TaskSaved, error) { return r.tasks.BlockTask(t.Context(), block) },
		func() (*memory.TaskSaved, error) { return r.tasks.UnblockTask(t.Context(), unblock) },
	}
	var first []*memory.TaskSaved
	for i, call := range calls {
		kept, err := call()
		if err != nil {
			t.Fatalf("call %d: %v", i, err)
		}
		first = append(first, kept)
	}
	r.now = r.now.Add(time.Hour)
	// The state would refuse the second now, and the third.
	for i := range memory.MaxBlockers {
		r.block(fmt.Sprintf("b%d", i), "waits")
	}
	events := len(r.audit())
	for i, call := range calls {
		again, err := call()
		if err != nil || again.ID != first[i].ID || again.Seq != first[i].Seq {
			t.Errorf("call %d again: %+v, %v; want %+v", i, again, err, first[i])
		}
	}
	if n := len(r.audit()); n != events {
		t.Errorf("repeated requests are %d further events", n-events)
	}
	if w := r.window(0); len(w.Tasks) != 1 || !w.Tasks[0].CompletedAt.Equal(taskTime) || len(w.Blockers) != memory.MaxBlockers {
		t.Errorf("afterwards there are %d tasks and %d blockers", len(w.Tasks), len(w.Blockers))
	}
}

// A request that was refused was not done: it may be sent again when it can be.
func TestRefusedRequestIsSentAgain(t *testing.T) {
	r := newTaskRig(t)
	unblock := memory.UnblockTaskRequest{RequestID: "r1", TaskID: "b", Caller: r.caller}
	for range 2 {
		if _, err := r.tasks.UnblockTask(t.Context(), unblock); memory.CodeOf(err) != memory.CodeNotFound || memory.AsError(err).Field != "task_id" {
			t.Fatalf("unblock what is not blocked: %v, want %s of task_id", err, memory.CodeNotFound)
		}
	}
	r.block("b", "waits")
	for range 2 { // the second is a repetition
		if kept, err := r.tasks.UnblockTask(t.Context(), unblock); err != nil || kept.Blocked != 0 {
			t.Fatalf("the same request when it is blocked: %+v, %v", kept, err)
		}
	}
}

// No secret reaches a record, an event or the window, and a task is not named by one.
func TestSecretsAreTakenOut(t *testing.T) {
	r := newTaskRig(t)
	const secret = "ghp_0123456789abcdefghijABCDEFGHIJ456789"
	kept := r.complete(memory.CompleteTaskRequest{
		TaskID: "t", TaskType: secret, RequiresContext: new(true), Intent: "use " + secret, Summary: "used " + secret,
		ValidationReport: json.RawMessage(`{"valid":true,"errors":["` + secret + `"]}`),
		Caller:           memory.Caller{Dir: r.repo, Client: secret},
	})
	blocked := r.block("b", "the token "+secret+" is refused")
	resolved, err := r.tasks.UnblockTask(t.Context(), memory.UnblockTaskRequest{TaskID: "b", Resolution: secret, Caller: r.caller})
	if err != nil || !kept.Redacted || !blocked.Redacted || !resolved.Redacted {
		t.Errorf("redacted: %v, %v, %v, %v; want it said of all", kept.Redacted, blocked.Redacted, resolved.Redacted, err)
	}
	loaded := r.load(`[{"task_id":"old","completed_at":"2025-01-01T00:00:00Z","validation_report":{},"token":"` + secret + `"}]`)
	if !loaded.Redacted || loaded.Tasks != 1 {
		t.Errorf("a state with a secret is loaded as %+v, want it redacted", loaded)
	}
	all, err := json.Marshal([]any{r.audit(), r.window(100), r.index.Entries(kept.Project)})
	if err != nil || strings.Contains(string(all), secret[4:20]) {
		t.Errorf("the secret is still there: %s, %v", all, err)
	}
	_, err = r.tasks.CompleteTask(t.Context(), memory.CompleteTaskRequest{TaskID: secret, ValidationReport: json.RawMessage(passed), Caller: r.caller})
	if e := memory.AsError(err); e.Code != memory.CodeInvalidInput || e.Field != "task_id" {
		t.Errorf("a task named by a secret: %v, want %s of task_id", err, memory.CodeInvalidInput)
	}
}

// Many writers of one project lose no update, and the bounds hold throughout.
func TestManyWriters(t *testing.T) {
	r := newTaskRig(t)
	const writers, each = 16, 12
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range each {
				kept, err := r.tasks.CompleteTask(t.Context(), memory.CompleteTaskRequest{
					TaskID: fmt.Sprintf("t%d-%d", w, i), ValidationReport: json.RawMessage(passed), Caller: r.caller,
				})
				if err != nil || kept.Completed > memory.MaxTasks {
					t.Errorf("task %d of writer %d: %+v, %v", i, w, kept, err)
					return
				}
			}
			if _, err := r.tasks.BlockTask(t.Context(), memory.BlockTaskRequest{TaskID: fmt.Sprintf("b%d", w), Reason: "waits", Caller: r.caller}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	w := r.window(100)
	if w.Total != memory.MaxTasks || len(w.Blockers) != writers {
		t.Errorf("%d tasks and %d blockers are held, want %d and %d", w.Total, len(w.Blockers), memory.MaxTasks, writers)
	}
	held, gone := map[string]bool{}, map[string]bool{}
	for _, x := range w.Tasks {
		held[x.TaskID] = true
	}
	for _, e := range r.audit() {
		for _, id := range e.GaveWay {
			if gone[id] || held[id] {
				t.Errorf("%s gave way twice, or is still held", id)
			}
			gone[id] = true
		}
	}
	if len(held)+len(gone) != writers*each {
		t.Errorf("%d tasks are held and %d gave way, want %d in all", len(held), len(gone), writers*each)
	}
	if last := w.Tasks[len(w.Tasks)-1]; !strings.HasSuffix(last.TaskID, fmt.Sprintf("-%d", each-1)) {
		t.Errorf("the newest task is %s, want the last of a writer", last.TaskID)
	}
}

// A task or blocker from the future would stay the newest until then. In a state that is
// taken over, a task gets the time of now.
func TestTasksAreNotAhead(t *testing.T) {
	r := newTaskRig(t)
	for ahead, refused := range map[time.Duration]bool{memory.MaxAhead - time.Minute: false, 24 * time.Hour: true} {
		at := r.now.Add(ahead)
		_, completed := r.tasks.CompleteTask(t.Context(), memory.CompleteTaskRequest{TaskID: "t", CompletedAt: at, ValidationReport: json.RawMessage(passed), Caller: r.caller})
		_, blocked := r.tasks.BlockTask(t.Context(), memory.BlockTaskRequest{TaskID: "b", Reason: "waits", BlockedAt: at, Caller: r.caller})
		for field, err := range map[string]error{"completed_at": completed, "blocked_at": blocked} {
			if (err != nil) != refused || refused && (memory.CodeOf(err) != memory.CodeInvalidInput || memory.AsError(err).Field != field) {
				t.Errorf("%s %s ahead: %v, refused: want %v", field, ahead, err, refused)
			}
		}
	}
	r.now = r.now.Add(time.Hour)
	r.load(`[{"task_id": "loaded", "completed_at": "2999-01-01T00:00:00Z", "validation_report": {}}]`)
	if w := r.window(0); !w.Tasks[len(w.Tasks)-1].CompletedAt.Equal(r.now) {
		t.Errorf("it is %s, and the loaded task is of %s", r.now, w.Tasks[len(w.Tasks)-1].CompletedAt)
	}
}
