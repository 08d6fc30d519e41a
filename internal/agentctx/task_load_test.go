package agentctx

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/recalld/recalld/internal/memory"
)

// loadCounts are those of an answer.
func loadCounts(l *memory.TasksLoaded) string {
	return fmt.Sprintf("tasks %d, blockers %d, known %d, dropped %d, settled %d", l.Tasks, l.Blockers, l.Known, l.Dropped, l.Settled)
}

const oldStateText = `{
	"version": 3,
	"completed_tasks": [
		{"task_id": "task-041", "completed_at": "2026-01-11T09:55:59Z", "validation_report": {"valid": true}, "host_field": {"a": [1.50]}},
		{"task_id": "task-042", "completed_at": "2026-01-11T11:00:00+01:00", "requires_context": true, "intent": "Add login", "validation_report": {"valid": false, "errors": ["no tests"]}}
	],
	"active_blockers": [{"task_id": "task-N", "reason": "waits", "blocked_at": "2026-01-11T09:00Z", "owner": "me"}]
}`

// An old state is taken over, its unknown fields kept, and loading it again changes
// nothing.
func TestLoadTasks(t *testing.T) {
	for name, state := range map[string]string{
		"snake case": oldStateText,
		"camel case": strings.NewReplacer("completed_tasks", "completedTasks", "active_blockers", "blockers", "task_id", "taskId",
			"completed_at", "completedAt", "requires_context", "requiresContext", "validation_report", "validationReport", "blocked_at", "blockedAt").Replace(oldStateText),
	} {
		t.Run(name, func(t *testing.T) {
			r := newTaskRig(t)
			loaded := r.load(state)
			if got, want := loadCounts(loaded), "tasks 2, blockers 1, known 0, dropped 0, settled 0"; got != want || loaded.ProjectName != "demo" {
				t.Errorf("loaded: %s, want %s", got, want)
			}
			w := r.window(0)
			want := []memory.CompletedTask{
				{TaskID: "task-041", CompletedAt: time.Date(2026, 1, 11, 9, 55, 59, 0, time.UTC), ValidationReport: json.RawMessage(`{"valid":true}`)},
				{TaskID: "task-042", CompletedAt: time.Date(2026, 1, 11, 10, 0, 0, 0, time.UTC), RequiresContext: true, Intent: "Add login",
					Summary: "Add login: failed. Failing: no tests.", ValidationReport: json.RawMessage(`{"valid":false,"errors":["no tests"]}`)},
			}
			if diff := cmp.Diff(want, w.Tasks); diff != "" {
				t.Errorf("the tasks (-want +got):\n%s", diff)
			}
			extra := map[string]string{}
			for _, x := range r.index.Entries(loaded.Project) {
				for field, raw := range x.Extra {
					extra[x.Task.TaskID+"."+field] = string(raw)
				}
			}
			if diff := cmp.Diff(map[string]string{"task-041.host_field": `{"a":[1.50]}`, "task-N.owner": `"me"`}, extra); diff != "" {
				t.Errorf("the unknown fields (-want +got):\n%s", diff)
			}
			events, seq := len(r.audit()), r.store.Seq()
			if got, want := loadCounts(r.load(state)), "tasks 0, blockers 0, known 3, dropped 0, settled 0"; got != want {
				t.Errorf("loaded again: %s, want %s", got, want)
			}
			if r.store.Seq() != seq || len(r.audit()) != events || events != 1 {
				t.Errorf("loading again is %d commits and %d events, want none", r.store.Seq()-seq, len(r.audit())-events)
			}
		})
	}
}

// What is held stays as it is; of two entries with one id the newer counts.
func TestLoadOfKnown(t *testing.T) {
	r := newTaskRig(t)
	r.complete(memory.CompleteTaskRequest{TaskID: "a", RequiresContext: new(true), Intent: "ours"})
	loaded := r.load(`[
		{"task_id":"a","completed_at":"2027-01-01T00:00:00Z","requires_context":true,"intent":"theirs","validation_report":{}},
		{"task_id":"b","completed_at":"2025-02-01T00:00:00Z","task_type":"newer","validation_report":{}},
		{"task_id":"b","completed_at":"2025-01-01T00:00:00Z","task_type":"older","validation_report":{}}]`)
	if got, want := loadCounts(loaded), "tasks 1, blockers 0, known 2, dropped 0, settled 0"; got != want {
		t.Errorf("loaded: %s, want %s", got, want)
	}
	w := r.window(0)
	if names(w) != "b a | " || w.Tasks[0].TaskType != "newer" || w.Tasks[1].Intent != "ours" {
		t.Errorf("the state is %+v, want the newer b and our a", w.Tasks)
	}
}

// Tasks that were forgotten and blockers that were resolved do not come back, until
// they are reported anew.
func TestLoadOfSettled(t *testing.T) {
	r := newTaskRig(t)
	r.load(oldStateText)
	if _, err := r.tasks.UnblockTask(t.Context(), memory.UnblockTaskRequest{TaskID: "task-N", Caller: r.caller}); err != nil {
		t.Fatal(err)
	}
	id := r.window(0).Project
	if _, err := r.ingest.Forget(t.Context(), memory.ForgetRequest{IDs: []string{memory.RecordID("t", id, "task-041")}}, r.store); err != nil {
		t.Fatal(err)
	}
	if got, want := loadCounts(r.load(oldStateText)), "tasks 0, blockers 0, known 1, dropped 0, settled 2"; got != want {
		t.Errorf("loaded again: %s, want %s", got, want)
	}
	// Another blocker of the task is another one.
	later := strings.Replace(oldStateText, "09:00Z", "09:30Z", 1)
	if got, want := loadCounts(r.load(later)), "tasks 0, blockers 1, known 1, dropped 0, settled 1"; got != want {
		t.Errorf("a later state is loaded: %s, want %s", got, want)
	}
	r.complete(memory.CompleteTaskRequest{TaskID: "task-041"})
	if got, want := loadCounts(r.load(oldStateText)), "tasks 0, blockers 0, known 3, dropped 0, settled 0"; got != want {
		t.Errorf("once it is reported anew: %s, want %s", got, want)
	}
}

// A state over the bounds leaves its newest tasks and blockers, and again it changes
// nothing.
func TestLoadOverTheBounds(t *testing.T) {
	var tasks, blockers []string
	for i := range 300 {
		at := taskTime.Add(time.Duration(i) * time.Minute).Format(time.RFC3339)
		tasks = append(tasks, fmt.Sprintf(`{"task_id":"t%d","completed_at":"%s","validation_report":{"valid":true}}`, i, at))
		blockers = append(blockers, fmt.Sprintf(`{"task_id":"b%d","reason":"waits","blocked_at":"%s"}`, i, at))
	}
	r := newTaskRig(t)
	r.block("ours", "is older than all, and stays")
	r.now = taskTime.Add(300 * time.Minute)
	// Another program's order is not ours.
	slices.Reverse(tasks)
	state := `{"completed_tasks":[` + strings.Join(tasks, ",") + `],"blockers":[` + strings.Join(blockers, ",") + `]}`
	if got, want := loadCounts(r.load(state)), "tasks 100, blockers 199, known 0, dropped 301, settled 0"; got != want {
		t.Errorf("loaded: %s, want %s", got, want)
	}
	w := r.window(100)
	if w.Tasks[0].TaskID != "t200" || w.Tasks[99].TaskID != "t299" || w.Blockers[0].TaskID != "ours" || w.Blockers[1].TaskID != "b101" {
		t.Errorf("%s to %s and %s, %s are held, want t200 to t299 and ours, b101", w.Tasks[0].TaskID, w.Tasks[99].TaskID, w.Blockers[0].TaskID, w.Blockers[1].TaskID)
	}
	seq := r.store.Seq()
	if got, want := loadCounts(r.load(state)), "tasks 0, blockers 0, known 299, dropped 301, settled 0"; got != want || r.store.Seq() != seq {
		t.Errorf("again: %s, and %d commits, want %s and none", got, r.store.Seq()-seq, want)
	}
	if events := r.audit(); len(events[1].Tasks) != 300 || len(events[1].Blockers) != 300 || len(events[1].GaveWay) != 200 {
		t.Errorf("the log has %d tasks and %d blockers of the state, and %d that gave way, want 300, 300 and 200",
			len(events[1].Tasks), len(events[1].Blockers), len(events[1].GaveWay))
	}
}

// A state of the largest size is one commit.
func TestLoadTheLargest(t *testing.T) {
	var tasks []string
	for i := range 17 {
		tasks = append(tasks, fmt.Sprintf(`{"task_id":"t%02d","completed_at":"2026-01-01T00:00:%02dZ","validation_report":{"x":"%s"}}`, i, i, strings.Repeat("ab", 30_700)))
	}
	state := "[" + strings.Join(tasks, ",") + "]"
	state += strings.Repeat(" ", memory.MaxLoadedState-len(state))
	r := newTaskRig(t)
	loaded := r.load(state)
	if loaded.Tasks < 7 || loaded.Tasks+loaded.Dropped != 17 || r.stateBytes() > memory.MaxTaskState {
		t.Errorf("loaded: %s, %d bytes", loadCounts(loaded), r.stateBytes())
	}
}

// A repeated request is answered as the first, though all is known by then.
func TestLoadRepeated(t *testing.T) {
	r := newTaskRig(t)
	req := memory.LoadTasksRequest{RequestID: "r1", State: json.RawMessage(oldStateText), Caller: r.caller}
	first, err := r.tasks.LoadTasks(t.Context(), req)
	must(t, err)
	again, err := r.tasks.LoadTasks(t.Context(), req)
	if diff := cmp.Diff(first, again); err != nil || diff != "" {
		t.Errorf("the second answer, %v (-first +second):\n%s", err, diff)
	}
}

// What is malformed refuses the whole state, and says where.
func TestLoadOfMalformed(t *testing.T) {
	r := newTaskRig(t)
	seq := r.store.Seq()
	good := `{"task_id":"a","completed_at":"2026-01-01T00:00:00Z","validation_report":{}}`
	for state, field := range map[string]string{
		`[` + good + `,{"task_id":"","completed_at":"2026-01-01T00:00:00Z","validation_report":{}}]`: "completed_tasks[1].task_id",
		`[` + good + `,7]`:    "completed_tasks[1]",
		`[` + good + `,null]`: "completed_tasks[1]",
		`[{"task_id":7,"completed_at":"2026-01-01T00:00:00Z","validation_report":{}}]`:                                                "completed_tasks[0].task_id",
		`[{"task_id":"a","validation_report":{}}]`:                                                                                    "completed_tasks[0].completed_at",
		`[{"task_id":"a","completed_at":"yesterday","validation_report":{}}]`:                                                         "completed_tasks[0].completed_at",
		`[{"task_id":"a","completed_at":"1960-01-01T00:00:00Z","validation_report":{}}]`:                                              "completed_tasks[0].completed_at",
		`[{"task_id":"a","completed_at":"2026-01-01T00:00:00Z"}]`:                                                                     "completed_tasks[0].validation_report",
		`[{"task_id":"a","completed_at":"2026-01-01T00:00:00Z","validation_report":[]}]`:                                              "completed_tasks[0].validation_report",
		`[{"task_id":"a","completed_at":"2026-01-01T00:00:00Z","validation_report":{},"requires_context":"yes"}]`:                     "completed_tasks[0].requires_context",
		`[{"task_id":"a","taskId":"b","completed_at":"2026-01-01T00:00:00Z","validation_report":{}}]`:                                 "completed_tasks[0].taskId",
		`[{"task_id":"a","completed_at":"2026-01-01T00:00:00Z","validation_report":{},"x":"` + strings.Repeat("x", maxExtra) + `"}]`:  "completed_tasks[0]",
		`[{"task_id":"a","completed_at":"2026-01-01T00:00:00Z","validation_report":{},"intent":"` + strings.Repeat("x", 2001) + `"}]`: "completed_tasks[0].intent",
		`{"completed_tasks":{}}`: "state.completed_tasks",
		`{"active_blockers":[{"task_id":"a","blocked_at":"2026-01-01T00:00:00Z"}]}`:       "active_blockers[0].reason",
		`{"activeBlockers":[{"task_id":"a","reason":"r"}]}`:                               "active_blockers[0].blocked_at",
		`{"blockers":[{"task_id":"a","reason":"r","blocked_at":"2026-13-01T00:00:00Z"}]}`: "active_blockers[0].blocked_at",
		`7`:   "state",
		`[`:   "state",
		`{"`:  "state",
		``:    "state",
		`"x"`: "state",
		`[` + good + `]` + strings.Repeat(" ", memory.MaxLoadedState): "state",
	} {
		_, err := r.tasks.LoadTasks(t.Context(), memory.LoadTasksRequest{State: json.RawMessage(state), Caller: r.caller})
		if e := memory.AsError(err); e.Code != memory.CodeInvalidInput || e.Field != field || e.Limit == "" {
			t.Errorf("%.150s: %v, want %s of %s with its limit", state, err, memory.CodeInvalidInput, field)
		}
		if r.store.Seq() != seq {
			t.Fatalf("%.150s: something was written", state)
		}
	}
}

// Reading a state never panics, and what it accepts is what loading can keep: written
// again, it is read alike.
func FuzzReadOldState(f *testing.F) {
	f.Add([]byte(oldStateText))
	f.Add([]byte(`[{"taskId":"a","completedAt":"2026-01-01T00:00:00.5+02:00","validationReport":{"valid":1},"requiresContext":null}]`))
	f.Add([]byte(`{"completed_tasks":null,"blockers":[{}]}`))
	f.Add([]byte(`[[]]`))
	p := memory.Project{ID: "p", Name: "demo"}
	f.Fuzz(func(t *testing.T, raw []byte) {
		req := memory.LoadTasksRequest{State: raw}
		if memory.Check(&req) != nil {
			return
		}
		old, err := readLegacyState(raw)
		if err != nil {
			if e := memory.AsError(err); e.Code != memory.CodeInvalidInput || e.Field == "" {
				t.Fatalf("an error names no field: %v", err)
			}
			return
		}
		var tasks, blockers []json.RawMessage
		for _, x := range old.tasks {
			tasks = append(tasks, jsonOf(taskRecord(p, x.CompletedTask, x.extra)))
		}
		for _, x := range old.blockers {
			blockers = append(blockers, jsonOf(blockerRecord(p, x.BlockedTask, x.extra)))
		}
		state, err := json.Marshal(map[string]any{"completed_tasks": tasks, "active_blockers": blockers})
		if err != nil {
			t.Fatalf("%q cannot be written again: %v", raw, err)
		}
		again, err := readLegacyState(state)
		if err != nil {
			t.Fatalf("%q is written as %q, which cannot be read: %v", raw, state, err)
		}
		opts := cmp.Options{
			cmp.AllowUnexported(legacyState{}, legacyTask{}, legacyBlocker{}), cmpopts.EquateEmpty(),
			cmp.Transformer("compact", func(raw json.RawMessage) string { return compacted(raw) }),
		}
		if diff := cmp.Diff(old, again, opts); diff != "" {
			t.Errorf("%q is read otherwise once it was written (-first +second):\n%s", raw, diff)
		}
	})
}

// compacted is a JSON value in one form.
func compacted(raw json.RawMessage) string {
	out, err := json.Marshal(raw)
	if err != nil {
		return "invalid: " + err.Error()
	}
	return string(out)
}
