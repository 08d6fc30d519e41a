package agentctx

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// TaskHistory carries out service.TaskHistory. It reads the audit log backwards as far
// as the answer needs. A line whose detail was forgotten names no project any more, and
// is in no history.
//
// There is no index by project and task: the log has no lines for steps and code, most
// requests read its end, and an index would make every write larger.
func (s *Tasks) TaskHistory(ctx context.Context, req memory.TaskHistoryRequest) (*memory.TaskHistory, error) {
	p, err := s.opts.project(ctx, &req, &req.Project, &req.Caller)
	if err != nil {
		return nil, err
	}
	out := &memory.TaskHistory{Project: p.ID, ProjectName: p.Name, Events: []memory.TaskEvent{}}
	looked, bytes := 0, 0
	for lines, err := range s.opts.Store.AuditBack(req.Before) {
		switch {
		case err != nil:
			return nil, fmt.Errorf("read audit log: %w", err)
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case len(lines) == 0:
			continue
		}
		if len(out.Events) >= req.Limit || looked == memory.MaxHistoryLooked {
			out.More = true
			break
		}
		looked++
		found, size := eventsOf(lines, p.ID, req.TaskID)
		if len(found) > 0 && len(out.Events) > 0 && bytes+size > memory.MaxHistoryBytes {
			out.More = true
			break
		}
		out.Events = append(out.Events, found...)
		bytes += size
		out.Before = lines[0].Seq
	}
	if !out.More {
		out.Before = 0
	}
	out.Text = render.TaskHistory(out.Events)
	out.Tokens = render.Tokens(out.Text)
	return out, nil
}

// eventsOf returns the events of a project among the lines of one update, newest first, and
// their size in bytes.
func eventsOf(lines []memory.AuditEntry, project, taskID string) (events []memory.TaskEvent, size int) {
	for _, l := range slices.Backward(lines) {
		text, _ := l.Detail.(string)
		var e memory.TaskEvent
		if text == "" || json.Unmarshal([]byte(text), &e) != nil || l.Action != actions[e.Event] || e.Project != project {
			continue
		}
		if taskID != "" && !narrow(&e, taskID) {
			continue
		}
		e.Seq = l.Seq
		events = append(events, e)
		size += len(text)
	}
	return events, size
}

// narrow reduces an event to one task and reports whether the event concerns it.
func narrow(e *memory.TaskEvent, taskID string) bool {
	others := func(raw json.RawMessage) bool { return idOf(raw) != taskID }
	e.Tasks = slices.DeleteFunc(e.Tasks, others)
	e.Blockers = slices.DeleteFunc(e.Blockers, others)
	e.GaveWay = slices.DeleteFunc(e.GaveWay, func(id string) bool { return id != taskID })
	return !others(e.Task) || !others(e.Blocker) || len(e.Tasks)+len(e.Blockers)+len(e.GaveWay) > 0
}

// idOf returns the id of a task or blocker in an event.
func idOf(raw json.RawMessage) string {
	var x struct {
		TaskID string `json:"task_id"`
	}
	_ = json.Unmarshal(raw, &x) // what is missing has none
	return x.TaskID
}

// TaskWindow carries out service.TaskWindow.
func (s *Tasks) TaskWindow(ctx context.Context, req memory.TaskWindowRequest) (*memory.TaskWindow, error) {
	p, err := s.opts.project(ctx, &req, &req.Project, &req.Caller)
	if err != nil {
		return nil, err
	}
	records, err := s.records(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	w := &memory.TaskWindow{
		Project: p.ID, ProjectName: p.Name,
		Tasks: make([]memory.CompletedTask, 0, len(records)), Blockers: make([]memory.BlockedTask, 0, len(records)),
	}
	for i := range records {
		if r := &records[i]; r.Kind == memory.Blocker {
			w.Blockers = append(w.Blockers, blockerOf(r))
		} else {
			w.Tasks = append(w.Tasks, taskOf(r))
		}
	}
	w.Total = len(w.Tasks)
	limit := cmp.Or(req.Limit, s.Settings(p, req.TaskType).Window)
	w.Tasks = w.Tasks[max(0, w.Total-limit):]
	w.Text, w.Shortened, w.LeftOut = render.RecentTasks(w.Tasks, w.Blockers)
	w.Tokens = render.Tokens(w.Text)
	return w, nil
}
