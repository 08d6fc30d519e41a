package agentctx

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// CompleteTask carries out service.CompleteTask. The task reported stays, even if it
// says that it was completed before all others.
func (s *Tasks) CompleteTask(ctx context.Context, req memory.CompleteTaskRequest) (*memory.TaskSaved, error) {
	p, err := s.opts.project(ctx, &req, &req.Project, &req.Caller)
	if err != nil {
		return nil, err
	}
	if err := memory.NotAhead("completed_at", req.CompletedAt, s.opts.now()); err != nil {
		return nil, err
	}
	t := req.Task()
	if req.RequiresContext == nil {
		t.RequiresContext = s.Settings(p, t.TaskType).RequiresContext
	}
	var notKept []string
	if !t.RequiresContext && t.Intent != "" {
		notKept = append(notKept, "intent")
	}
	if !t.RequiresContext && t.Summary != "" {
		notKept = append(notKept, "summary")
	}
	redacted, err := s.cleanTask(&t)
	if err != nil {
		return nil, err
	}
	out := &memory.TaskSaved{
		ID: memory.RecordID("t", p.ID, t.TaskID), TaskID: t.TaskID, Project: p.ID, ProjectName: p.Name, Redacted: redacted > 0, NotKept: notKept,
	}
	e := s.event(memory.TaskCompleted, p, req.Caller)
	return s.report(ctx, taskReport{p, req.RequestID, req.Caller, e, out, func(st *taskState) memory.Record {
		if t.CompletedAt.IsZero() {
			t.CompletedAt = stamp(s.opts.now(), st.tasks)
		}
		return taskRecord(p, t, nil)
	}})
}

// BlockTask carries out service.BlockTask. CodeConflict, with the bound, when the
// project has as many blockers as it may have.
func (s *Tasks) BlockTask(ctx context.Context, req memory.BlockTaskRequest) (*memory.TaskSaved, error) {
	p, err := s.opts.project(ctx, &req, &req.Project, &req.Caller)
	if err != nil {
		return nil, err
	}
	if err := memory.NotAhead("blocked_at", req.BlockedAt, s.opts.now()); err != nil {
		return nil, err
	}
	b := memory.BlockedTask{TaskID: req.TaskID, Reason: req.Reason, BlockedAt: req.BlockedAt}
	redacted, err := s.cleanBlocker(&b)
	if err != nil {
		return nil, err
	}
	out := &memory.TaskSaved{
		ID: blockerID(p.ID, b.TaskID), TaskID: b.TaskID, Project: p.ID, ProjectName: p.Name, Redacted: redacted > 0,
	}
	e := s.event(memory.TaskBlocked, p, req.Caller)
	return s.report(ctx, taskReport{p, req.RequestID, req.Caller, e, out, func(st *taskState) memory.Record {
		if b.BlockedAt.IsZero() {
			b.BlockedAt = stamp(s.opts.now(), st.blockers)
		}
		return blockerRecord(p, b, nil)
	}})
}

// taskReport is a task or blocker that is reported.
type taskReport struct {
	project   memory.Project
	requestID string
	caller    memory.Caller
	event     *memory.TaskEvent
	saved     *memory.TaskSaved // the answer, as far as it is known before the commit
	// record makes the record of the task or blocker for the present state.
	record func(*taskState) memory.Record
}

// report writes a task or blocker and drops the tasks that the state has no room for.
func (s *Tasks) report(ctx context.Context, t taskReport) (*memory.TaskSaved, error) {
	e := t.event
	done, err := s.commit(ctx, t.project, t.requestID, func() (memory.Batch, error) {
		st, err := s.state(ctx, t.project.ID)
		if err != nil {
			return memory.Batch{}, err
		}
		r := t.record(&st)
		r.Provenance = memory.Provenance{Origin: memory.OriginTold, Agent: e.Client}
		if memory.ValidSessionID("caller.session", t.caller.Session) == nil {
			r.Provenance.Session = t.caller.Session
		}
		st.put(r)
		b := memory.Batch{
			Records: []memory.Record{r}, DropTombstones: []string{r.ID}, Action: actions[e.Event], About: []string{t.project.ID, r.ID},
		}
		if r.Kind == memory.Blocker {
			if err := st.checkBlockers(); err != nil {
				return b, err
			}
			b.DropTombstones = append(b.DropTombstones, resolvedMark(r))
			e.Blocker = jsonOf(r)
		} else {
			e.Task = jsonOf(r)
		}
		gone := st.trim(r.ID)
		e.GaveWay = taskIDs(gone)
		b.DropRecords, b.Detail = ids(gone), detailOf(e)
		return b, nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", actions[e.Event], err)
	}
	return s.saved(ctx, t.caller, t.saved, e, done)
}

// UnblockTask carries out service.UnblockTask.
func (s *Tasks) UnblockTask(ctx context.Context, req memory.UnblockTaskRequest) (*memory.TaskSaved, error) {
	p, err := s.opts.project(ctx, &req, &req.Project, &req.Caller)
	if err != nil {
		return nil, err
	}
	out := &memory.TaskSaved{ID: blockerID(p.ID, req.TaskID), TaskID: req.TaskID, Project: p.ID, ProjectName: p.Name}
	e := s.event(memory.TaskUnblocked, p, req.Caller)
	var redacted int
	e.Resolution, redacted = s.opts.Writer.Clean(req.Resolution, memory.MaxResolution)
	out.Redacted = redacted > 0
	done, err := s.commit(ctx, p, req.RequestID, func() (memory.Batch, error) {
		st, err := s.state(ctx, p.ID)
		if err != nil {
			return memory.Batch{}, err
		}
		i := slices.IndexFunc(st.blockers, func(r memory.Record) bool { return r.ID == out.ID })
		if i < 0 {
			return memory.Batch{}, &memory.Error{Code: memory.CodeNotFound, Field: "task_id",
				Message: "the task " + memory.Quote(req.TaskID) + " is not blocked", Hint: "task_window lists the active blockers"}
		}
		r := st.blockers[i]
		e.Blocker = jsonOf(r)
		return memory.Batch{
			DropRecords: []string{r.ID}, Tombstones: []string{resolvedMark(r)},
			Action: actions[e.Event], Detail: detailOf(e), About: []string{p.ID, r.ID},
		}, nil
	})
	if err != nil {
		return nil, fmt.Errorf("unblock task: %w", err)
	}
	return s.saved(ctx, req.Caller, out, e, done)
}

// cleanTask removes the secrets of a task, counts them, and clears the fields that are not
// stored.
func (s *Tasks) cleanTask(t *memory.CompletedTask) (redacted int, err error) {
	w := s.opts.Writer
	if err := s.opts.withoutSecret("task_id", t.TaskID); err != nil {
		return 0, err
	}
	t.CompletedAt = t.CompletedAt.UTC().Truncate(time.Millisecond) // as records store it; zero stays zero
	if !t.RequiresContext {
		t.Intent, t.Summary = "", ""
	}
	for _, x := range []struct {
		text *string
		most int
	}{{&t.TaskType, memory.MaxTaskType}, {&t.Intent, memory.MaxIntent}, {&t.Summary, memory.MaxTaskSummary}} {
		clean, n := w.Clean(*x.text, x.most)
		*x.text, redacted = clean, redacted+n
	}
	report, n := w.CleanJSON(t.ValidationReport)
	redacted += n
	// Without white space, as it is stored: the bounds apply to the stored form.
	var compact bytes.Buffer
	if err := json.Compact(&compact, report); err != nil {
		return 0, memory.Invalid("validation_report", "a JSON object", "must be a JSON object")
	}
	t.ValidationReport = compact.Bytes()
	if n := len(t.ValidationReport); n > memory.MaxTaskReport {
		return 0, memory.Invalid("validation_report", fmt.Sprintf("a JSON object of at most %d bytes", memory.MaxTaskReport),
			"%d bytes are too many, with its secrets marked", n)
	}
	if t.RequiresContext && t.Summary == "" {
		t.Summary = summarize(t.Intent, t.ValidationReport)
	}
	return redacted, nil
}

// cleanBlocker removes the secrets of a blocker and counts them.
func (s *Tasks) cleanBlocker(b *memory.BlockedTask) (redacted int, err error) {
	if err := s.opts.withoutSecret("task_id", b.TaskID); err != nil {
		return 0, err
	}
	b.BlockedAt = b.BlockedAt.UTC().Truncate(time.Millisecond)
	b.Reason, redacted = s.opts.Writer.Clean(b.Reason, memory.MaxReason)
	return redacted, nil
}

// saved completes the answer after the commit.
func (s *Tasks) saved(ctx context.Context, caller memory.Caller, out *memory.TaskSaved, e *memory.TaskEvent, done memory.Committed) (*memory.TaskSaved, error) {
	out.Seq = done.Seq
	if e.Event != memory.TaskUnblocked {
		out.Dropped = done.Dropped
	}
	records, err := s.records(ctx, out.Project)
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		if r.Kind == memory.Blocker {
			out.Blocked++
		} else {
			out.Completed++
		}
	}
	out.AuditFile, out.Warning = s.toFile(ctx, caller, e, done)
	return out, nil
}
