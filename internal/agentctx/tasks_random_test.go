package agentctx

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/embedder/builtin"
	"github.com/recalld/recalld/internal/indexer"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/testkit/underrace"
	"github.com/recalld/recalld/internal/testlong"
)

// taskModel is a project's state as contract 3 describes it, in the plainest form.
type taskModel struct {
	tasks, blockers map[string]time.Time // by task id
	resolved        map[string]bool      // task id and time
}

// names returns the names of what is held, oldest first, as names does.
func (m *taskModel) names(p string) string {
	list := func(held map[string]time.Time, id func(string) string) string {
		return strings.Join(slices.SortedFunc(maps.Keys(held), func(a, b string) int {
			return cmp.Or(held[a].Compare(held[b]), strings.Compare(id(a), id(b)))
		}), " ")
	}
	return list(m.tasks, func(t string) string { return memory.RecordID("t", p, t) }) + " | " + list(m.blockers, func(t string) string { return blockerID(p, t) })
}

// trim drops the oldest tasks over the bound, but not keep.
func (m *taskModel) trim(p, keep string) {
	for len(m.tasks) > memory.MaxTasks {
		order := strings.Fields(m.names(p))
		if order[0] == keep {
			order = order[1:]
		}
		delete(m.tasks, order[0])
	}
}

// Whatever is done in whatever order, what is held is what the model holds, and it is
// held after a restart.
func TestRandomTaskOperations(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	r := newTaskRig(t)
	project := r.window(0).Project
	m := taskModel{tasks: map[string]time.Time{}, blockers: map[string]time.Time{}, resolved: map[string]bool{}}
	mark := func(id string, at time.Time) string { return fmt.Sprint(id, at.UnixMilli()) }
	// Whole minutes of few hours, so that times meet.
	someTime := func() time.Time { return taskTime.Add(-time.Duration(random.IntN(300)) * time.Minute) }
	for op := range underrace.Steps(testlong.Steps(200, 600), 100) {
		at := someTime()
		id := fmt.Sprintf("t%d", random.IntN(160))
		what := ""
		switch random.IntN(10) {
		case 0, 1, 2, 3, 4, 5:
			what = "complete " + id
			r.complete(memory.CompleteTaskRequest{TaskID: id, CompletedAt: at})
			m.tasks[id] = at
			m.trim(project, id)
		case 6, 7:
			what = "block " + id
			_, err := r.tasks.BlockTask(t.Context(), memory.BlockTaskRequest{TaskID: id, Reason: "waits", BlockedAt: at, Caller: r.caller})
			must(t, err)
			m.blockers[id] = at
			delete(m.resolved, mark(id, at))
		case 8:
			what = "unblock " + id
			_, err := r.tasks.UnblockTask(t.Context(), memory.UnblockTaskRequest{TaskID: id, Caller: r.caller})
			blockedAt, blocked := m.blockers[id]
			if blocked != (err == nil) {
				t.Fatalf("operation %d, %s: %v, and the model says blocked: %v", op, what, err, blocked)
			}
			if blocked {
				m.resolved[mark(id, blockedAt)] = true
				delete(m.blockers, id)
			}
		case 9:
			what = "load"
			var tasks, blockers []string
			for range random.IntN(30) {
				id, at := fmt.Sprintf("t%d", random.IntN(160)), someTime()
				if _, held := m.blockers[id]; !held && !m.resolved[mark(id, at)] && !strings.Contains(strings.Join(blockers, ""), `"`+id+`"`) {
					m.blockers[id] = at
					blockers = append(blockers, fmt.Sprintf(`{"task_id":"%s","reason":"r","blocked_at":"%s"}`, id, at.Format(time.RFC3339)))
				}
				id, at = fmt.Sprintf("t%d", random.IntN(160)), someTime()
				if _, held := m.tasks[id]; !held {
					m.tasks[id] = at
					tasks = append(tasks, fmt.Sprintf(`{"task_id":"%s","completed_at":"%s","validation_report":{}}`, id, at.Format(time.RFC3339)))
				}
			}
			m.trim(project, "")
			r.load(`{"completed_tasks":[` + strings.Join(tasks, ",") + `],"blockers":[` + strings.Join(blockers, ",") + `]}`)
		}
		if got, want := names(r.window(100)), m.names(project); got != want {
			t.Fatalf("after operation %d, %s, the state is\n%s\nwant\n%s", op, what, got, want)
		}
	}
	again, err := indexer.New(indexer.Options{Builtin: builtin.New()})
	must(t, err)
	t.Cleanup(again.Close)
	before, err := json.Marshal(r.index.Entries(project, memory.Task, memory.Blocker))
	must(t, err)
	must(t, again.Load(t.Context(), r.store))
	after, err := json.Marshal(again.Entries(project, memory.Task, memory.Blocker))
	if err != nil || string(after) != string(before) {
		t.Errorf("after a restart the state is\n%s\nwant\n%s (%v)", after, before, err)
	}
}
