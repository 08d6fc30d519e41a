package agentctx

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/indexer"
	"github.com/recalld/recalld/internal/ingest"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/redact"
	"github.com/recalld/recalld/internal/store"
	"github.com/recalld/recalld/internal/testkit/backend"
)

var taskTime = time.Date(2026, 1, 11, 9, 55, 30, 0, time.UTC)

// taskRig is working memory over a real store, real indexes, the real write path and a
// real folder.
type taskRig struct {
	t      testing.TB
	tasks  *Tasks
	ingest *ingest.Service
	store  *store.Store
	index  *indexer.Indexer
	repo   string // a repository's folder, called "demo"
	caller memory.Caller
	now    time.Time
}

// newTaskRig opens a rig that is checked and closed at the end of the test. change may
// replace what working memory is made of.
func newTaskRig(t testing.TB, change ...func(*taskRig, *TaskOptions)) *taskRig {
	t.Helper()
	r := &taskRig{t: t, repo: backend.Repo(t), now: taskTime}
	r.caller = memory.Caller{Dir: r.repo, Client: "test"}
	clock := func() time.Time { return r.now }
	parts := backend.New(t, backend.Options{MemTableSize: 4 << 20 /* for the largest state */, Clock: clock, Redact: redact.Redact, RedactValue: redact.Value})
	r.store, r.index, r.ingest = parts.Store, parts.Index, parts.Ingest
	var err error
	opts := TaskOptions{Ports: Ports{Writer: r.ingest, Projects: parts.Projects, Records: r.index, Store: r.store, Clock: clock}, Settings: defaultTasks}
	for _, c := range change {
		c(r, &opts)
	}
	if r.tasks, err = NewTasks(opts); err != nil {
		t.Fatal(err)
	}
	return r
}

// withAuditFile has a rig write the audit file of its repository.
func withAuditFile(r *taskRig, o *TaskOptions) {
	o.AuditFile = func(_ context.Context, caller memory.Caller, _ string, line []byte) (string, error) {
		if caller.Dir == "" {
			return "", nil
		}
		return fsx.AppendLine(caller.Dir, "logs", "audit.log.jsonl", line)
	}
}

const passed, failed = `{"valid":true}`, `{"valid":false}`

// complete reports a task that must be accepted, a minute after the one before.
func (r *taskRig) complete(req memory.CompleteTaskRequest) *memory.TaskSaved {
	r.t.Helper()
	if req.Project == "" && req.Caller == (memory.Caller{}) {
		req.Caller = r.caller
	}
	if req.ValidationReport == nil {
		req.ValidationReport = json.RawMessage(passed)
	}
	out, err := r.tasks.CompleteTask(r.t.Context(), req)
	if err != nil {
		r.t.Fatalf("complete %+v: %v", req, err)
	}
	r.now = r.now.Add(time.Minute)
	return out
}

func (r *taskRig) block(id, reason string) *memory.TaskSaved {
	r.t.Helper()
	out, err := r.tasks.BlockTask(r.t.Context(), memory.BlockTaskRequest{TaskID: id, Reason: reason, Caller: r.caller})
	if err != nil {
		r.t.Fatalf("block %s: %v", id, err)
	}
	r.now = r.now.Add(time.Minute)
	return out
}

func (r *taskRig) load(state string) *memory.TasksLoaded {
	r.t.Helper()
	out, err := r.tasks.LoadTasks(r.t.Context(), memory.LoadTasksRequest{State: json.RawMessage(state), Caller: r.caller})
	if err != nil {
		r.t.Fatalf("load %.200s: %v", state, err)
	}
	return out
}

func (r *taskRig) window(limit int) *memory.TaskWindow {
	r.t.Helper()
	w, err := r.tasks.TaskWindow(r.t.Context(), memory.TaskWindowRequest{Limit: limit, Caller: r.caller})
	if err != nil {
		r.t.Fatalf("window: %v", err)
	}
	return w
}

// names are the ids of the tasks and blockers of a window, "task-1 task-2 | task-3".
func names(w *memory.TaskWindow) string {
	var tasks, blockers []string
	for _, t := range w.Tasks {
		tasks = append(tasks, t.TaskID)
	}
	for _, b := range w.Blockers {
		blockers = append(blockers, b.TaskID)
	}
	return strings.Join(tasks, " ") + " | " + strings.Join(blockers, " ")
}

// audit returns the store's log of events, oldest first.
func (r *taskRig) audit() []memory.TaskEvent {
	r.t.Helper()
	var out []memory.TaskEvent
	err := r.store.View(func(v store.View) error {
		for entries, err := range v.Audit() {
			if err != nil {
				return err
			}
			for _, e := range entries {
				text, _ := e.Detail.(string)
				var event memory.TaskEvent
				if err := json.Unmarshal([]byte(text), &event); err != nil {
					return fmt.Errorf("event %v: %w", e.Detail, err)
				}
				out = append(out, event)
			}
		}
		return nil
	})
	must(r.t, err)
	return out
}
