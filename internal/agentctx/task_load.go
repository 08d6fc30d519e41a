package agentctx

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// LoadTasks carries out service.LoadTasks. Stored tasks and blockers stay as they are.
// Over the bounds the newest tasks are kept, whether stored or loaded; loaded blockers
// fill the room that the active ones leave, the newest first. Tasks that were forgotten
// and blockers that were resolved do not come back.
func (s *Tasks) LoadTasks(ctx context.Context, req memory.LoadTasksRequest) (*memory.TasksLoaded, error) {
	p, err := s.opts.project(ctx, &req, &req.Project, &req.Caller)
	if err != nil {
		return nil, err
	}
	old, err := readLegacyState(req.State)
	if err != nil {
		return nil, fmt.Errorf("load tasks: %w", err)
	}
	l := &taskLoading{s: s, out: memory.TasksLoaded{Project: p.ID, ProjectName: p.Name}}
	if err := l.prepare(p, old); err != nil {
		return nil, fmt.Errorf("load tasks: %w", err)
	}
	e := s.event(memory.StateLoaded, p, req.Caller)
	done, err := s.commit(ctx, p, req.RequestID, func() (memory.Batch, error) { return l.batch(ctx, p.ID, e) })
	if err != nil {
		return nil, fmt.Errorf("load tasks: %w", err)
	}
	if done.Repeated {
		return l.before(done), nil
	}
	if len(done.Put) > 0 {
		l.out.AuditFile, l.out.Warning = s.toFile(ctx, req.Caller, e, done)
	}
	return &l.out, nil
}

// taskLoading is a legacy state that is being loaded.
type taskLoading struct {
	s *Tasks
	// tasks and blockers are the loaded ones, each id once, oldest first.
	tasks, blockers []memory.Record
	twice           int // entries of an id that another entry has too
	out             memory.TasksLoaded
}

// prepare makes the records of a state, without secrets. Of entries with one id the newest
// counts, at equal times the last.
func (l *taskLoading) prepare(p memory.Project, old legacyState) error {
	redacted := 0
	for i, t := range old.tasks {
		n, err := l.s.cleanTask(&t.CompletedTask)
		extra, more := l.s.cleanExtra(t.extra)
		if err != nil {
			return within(fmt.Sprintf("completed_tasks[%d]", i), err)
		}
		redacted += n + more
		// One from the future would be the newest until then. A blocker keeps its time: by that
		// it is known when it was resolved.
		if now := l.s.opts.now(); t.CompletedAt.After(now.Add(memory.MaxAhead)) {
			t.CompletedAt = now.UTC().Truncate(time.Millisecond)
		}
		l.tasks = append(l.tasks, fromState(taskRecord(p, t.CompletedTask, extra)))
	}
	for i, b := range old.blockers {
		n, err := l.s.cleanBlocker(&b.BlockedTask)
		extra, more := l.s.cleanExtra(b.extra)
		if err != nil {
			return within(fmt.Sprintf("active_blockers[%d]", i), err)
		}
		redacted += n + more
		l.blockers = append(l.blockers, fromState(blockerRecord(p, b.BlockedTask, extra)))
	}
	l.out.Redacted = redacted > 0
	all := len(l.tasks) + len(l.blockers)
	l.tasks, l.blockers = newestOfID(l.tasks), newestOfID(l.blockers)
	l.twice = all - len(l.tasks) - len(l.blockers)
	return nil
}

// fromState sets the provenance of a record from a legacy state.
func fromState(r memory.Record) memory.Record {
	r.Provenance = memory.Provenance{Origin: memory.OriginImported}
	return r
}

// newestOfID keeps the newest record of each id, oldest first.
func newestOfID(records []memory.Record) []memory.Record {
	// Reversed, so that at equal times the last entry comes first and stays.
	slices.Reverse(records)
	slices.SortStableFunc(records, func(a, b memory.Record) int { return b.Created.Compare(a.Created) })
	seen := map[string]bool{}
	records = slices.DeleteFunc(records, func(r memory.Record) bool {
		known := seen[r.ID]
		seen[r.ID] = true
		return known
	})
	slices.SortFunc(records, byAge)
	return records
}

// batch writes the new records and counts the others.
func (l *taskLoading) batch(ctx context.Context, project string, e *memory.TaskEvent) (memory.Batch, error) {
	var none memory.Batch
	st, err := l.s.state(ctx, project)
	if err != nil {
		return none, err
	}
	out := memory.TasksLoaded{Project: l.out.Project, ProjectName: l.out.ProjectName, Redacted: l.out.Redacted, Known: l.twice}
	var fresh []memory.Record // newest first
	for _, r := range slices.Backward(slices.Concat(l.tasks, l.blockers)) {
		_, known := st.bytes[r.ID]
		settled, err := l.s.isSettled(r)
		switch {
		case err != nil:
			return none, err
		case known:
			out.Known++
		case settled:
			out.Settled++
		default:
			fresh = append(fresh, r)
		}
	}
	// Blockers first: tasks get the remaining room.
	var b memory.Batch
	full := false
	isFresh := map[string]bool{}
	var tasks []memory.Record
	for _, r := range fresh {
		if r.Kind == memory.Task {
			e.Tasks = append(e.Tasks, jsonOf(r))
			isFresh[r.ID] = true
			tasks = append(tasks, r)
			continue
		}
		e.Blockers = append(e.Blockers, jsonOf(r))
		if !full {
			st.put(r)
			full = st.checkBlockers() != nil
		}
		if full { // for all older ones as well
			st.remove(r)
			out.Dropped++
			continue
		}
		b.Records = append(b.Records, r)
		out.Blockers++
	}
	st.put(tasks...)
	gone := st.trim("")
	out.Dropped += len(gone)
	for _, r := range gone {
		if !isFresh[r.ID] {
			b.DropRecords = append(b.DropRecords, r.ID)
		}
	}
	for _, r := range st.tasks {
		if isFresh[r.ID] {
			b.Records = append(b.Records, r)
			out.Tasks++
		}
	}
	l.out = out
	if len(b.Records) == 0 {
		// Nothing is new, so nothing is written.
		return none, nil
	}
	slices.Reverse(e.Tasks)
	slices.Reverse(e.Blockers)
	e.GaveWay = taskIDs(gone)
	b.Action, b.Detail, b.About = actions[e.Event], detailOf(e), append(ids(fresh), project)
	return b, nil
}

// isSettled reports whether a record was forgotten, or its blocker resolved.
func (s *Tasks) isSettled(r memory.Record) (bool, error) {
	marks := []string{r.ID}
	if r.Kind == memory.Blocker {
		marks = append(marks, resolvedMark(r))
	}
	for _, id := range marks {
		settled, err := s.opts.Store.Tombstoned(id)
		if err != nil {
			return false, fmt.Errorf("look for what was forgotten: %w", err)
		}
		if settled {
			return true, nil
		}
	}
	return false, nil
}

// before answers a repeated request with what the first one wrote. All other entries are
// known or dropped by now.
func (l *taskLoading) before(done memory.Committed) *memory.TasksLoaded {
	out := memory.TasksLoaded{Project: l.out.Project, ProjectName: l.out.ProjectName, Redacted: l.out.Redacted, Dropped: done.Dropped}
	for _, id := range done.Put {
		if slices.ContainsFunc(l.tasks, func(r memory.Record) bool { return r.ID == id }) {
			out.Tasks++
		} else {
			out.Blockers++
		}
	}
	out.Known = len(l.tasks) + len(l.blockers) + l.twice - len(done.Put)
	return &out
}

// cleanExtra removes the secrets of unknown fields.
func (s *Tasks) cleanExtra(extra map[string]json.RawMessage) (map[string]json.RawMessage, int) {
	if extra == nil {
		return nil, 0
	}
	raw, err := json.Marshal(extra) // as one object, so that a value is judged by its name
	if err != nil {
		return nil, 0 // it was read from JSON
	}
	clean, n := s.opts.Writer.CleanJSON(raw)
	out := map[string]json.RawMessage{}
	if json.Unmarshal(clean, &out) != nil {
		return nil, n
	}
	for name, value := range out {
		out[name] = json.RawMessage(strings.TrimSpace(string(value)))
	}
	return out, n
}
