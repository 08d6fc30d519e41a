package agentctx

import (
	"context"
	"fmt"
	"slices"

	"github.com/recalld/recalld/internal/memory"
)

// taskState is the tasks and blockers of a project, each oldest first.
type taskState struct {
	tasks, blockers []memory.Record
	// bytes are the sizes of the records in JSON, by id.
	bytes map[string]int
}

// stateFrame is the size of a state without tasks and blockers:
// {"completed_tasks":[],"active_blockers":[]}.
const stateFrame = 43

// state reads the state of a project.
func (s *Tasks) state(ctx context.Context, project string) (taskState, error) {
	st := taskState{bytes: map[string]int{}}
	records, err := s.records(ctx, project)
	if err != nil {
		return st, err
	}
	for _, r := range records {
		st.bytes[r.ID] = jsonSize(r)
		if r.Kind == memory.Blocker {
			st.blockers = append(st.blockers, r)
		} else {
			st.tasks = append(st.tasks, r)
		}
	}
	return st, nil
}

// records returns the tasks and blockers of a project, oldest first.
func (s *Tasks) records(ctx context.Context, project string) ([]memory.Record, error) {
	if s.opts.Records.Loaded() {
		return s.opts.Records.Entries(project, memory.Task, memory.Blocker), nil
	}
	var all []memory.Record
	for _, kind := range []memory.Kind{memory.Task, memory.Blocker} {
		for r, err := range s.opts.Store.ProjectRecords(ctx, project, kind) {
			if memory.CodeOf(err) == memory.CodeCorrupt {
				continue // perhaps not even of the project; doctor reports it
			}
			if err != nil {
				return nil, fmt.Errorf("read tasks: %w", err)
			}
			if r.Task != nil {
				all = append(all, r)
			}
		}
	}
	slices.SortFunc(all, byAge)
	return all, nil
}

// jsonSize is the size of a record in the JSON of a state, with a comma.
func jsonSize(r memory.Record) int { return len(jsonOf(r)) + 1 }

// put adds records of one kind; a record replaces the one with its id.
func (st *taskState) put(records ...memory.Record) {
	if len(records) == 0 {
		return
	}
	list := &st.tasks
	if records[0].Kind == memory.Blocker {
		list = &st.blockers
	}
	replaced := make(map[string]bool, len(records))
	for _, r := range records {
		replaced[r.ID] = true
		st.bytes[r.ID] = jsonSize(r)
	}
	*list = slices.DeleteFunc(*list, func(r memory.Record) bool { return replaced[r.ID] })
	*list = append(*list, records...)
	slices.SortFunc(*list, byAge)
}

// remove removes a blocker.
func (st *taskState) remove(r memory.Record) {
	st.blockers = slices.DeleteFunc(st.blockers, func(x memory.Record) bool { return x.ID == r.ID })
}

// trim removes the oldest completed tasks until the state is within its bounds, and returns
// them. It keeps the task with the id keep, which was reported just now, whatever its time.
func (st *taskState) trim(keep string) (gone []memory.Record) {
	total, n := stateFrame+st.size(st.tasks)+st.size(st.blockers), len(st.tasks)
	st.tasks = slices.DeleteFunc(st.tasks, func(r memory.Record) bool {
		if n <= memory.MaxTasks && total <= memory.MaxTaskState || r.ID == keep {
			return false
		}
		n--
		total -= st.bytes[r.ID]
		gone = append(gone, r)
		return true
	})
	return gone
}

func (st *taskState) size(records []memory.Record) (n int) {
	for _, r := range records {
		n += st.bytes[r.ID]
	}
	return n
}

// checkBlockers returns CodeConflict if the state has too many blockers.
func (st *taskState) checkBlockers() error {
	e := &memory.Error{Code: memory.CodeConflict, Field: "task_id", Hint: "resolve some with unblock_task: a blocker never gives way by itself"}
	switch n := st.size(st.blockers); {
	case len(st.blockers) > memory.MaxBlockers:
		e.Limit, e.Message = fmt.Sprintf("at most %d active blockers", memory.MaxBlockers), "the project has as many active blockers as it may have"
	case n > memory.MaxBlockerState:
		e.Limit, e.Message = fmt.Sprintf("at most %d bytes of active blockers", memory.MaxBlockerState), fmt.Sprintf("with this one they take %d bytes", n)
	default:
		return nil
	}
	return e
}

// ids returns the ids of records.
func ids(records []memory.Record) []string {
	var out []string
	for _, r := range records {
		out = append(out, r.ID)
	}
	return out
}

// taskIDs returns the ids of the tasks of records.
func taskIDs(records []memory.Record) []string {
	var out []string
	for _, r := range records {
		out = append(out, r.Task.TaskID)
	}
	return out
}
