package web

import (
	"cmp"
	"slices"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

const (
	sessionsPerPage = 50
	stepsPerPage    = 100
)

// sessionTable is a page of the sessions.
type sessionTable struct {
	Sessions []memory.SessionView
	pager
}

// sessions lists the newest sessions of a project.
func (q *request) sessions(v *view) error {
	t := &sessionTable{}
	v.Data = t
	if len(v.Projects) == 0 {
		return nil
	}
	list, err := ask(q, service.Sessions, memory.SessionsRequest{Project: v.Project, Skip: q.skip(sessionsPerPage), Limit: sessionsPerPage, Caller: q.caller()})
	if err == nil {
		t.Sessions, t.pager = list.Sessions, q.pager(sessionsPerPage, list.Total)
	}
	return err
}

// sessionPage is the timeline of a session, and what is known of it as a whole.
type sessionPage struct {
	ID      string
	Summary *memory.Summary
	Working *memory.WorkingContext // nil if it is not known here
	Events  []event
	Tasks   []taskNow
	Labels  labels
	pager
	// until is the time of the step before those of the page; zero on the first one.
	until time.Time
}

// taskNow is a task of the project as the last event of the session's time left it. Owner is
// the client that reported it.
type taskNow struct {
	taskLine
	Owner string
}

// event is something that happened in a session.
type event struct {
	At   time.Time
	Step *memory.StepView
	// Answer is what was asked and handed out, a context or an answer.
	Answer *memory.Receipt
	Task   *memory.TaskEvent
	// Compacted is the summary of a compaction.
	Compacted string
}

// session shows the timeline of a session, newest first, and beside each error the lessons that
// answered it.
func (q *request) session(v *view) (err error) {
	page := &sessionPage{ID: q.r.PathValue("id")}
	v.Data = page
	scope := &memory.Scope{Session: page.ID}
	page.Summary, err = ask(q, service.SummarizeSession, memory.SummarizeRequest{Project: v.Project, Scope: scope, Caller: q.caller()})
	if err != nil {
		return err
	}
	v.Title = cmp.Or(page.Summary.Goal, v.Title)
	page.pager = q.pager(stepsPerPage, page.Summary.StepCount)
	steps, err := ask(q, service.LastSteps, memory.LastStepsRequest{Project: v.Project, Scope: scope, N: stepsPerPage, Skip: q.skip(stepsPerPage), Caller: q.caller()})
	if err != nil {
		return err
	}
	for i := range steps.Steps {
		page.Events = append(page.Events, event{At: steps.Steps[i].Timestamp, Step: &steps.Steps[i]})
	}
	if page.Number > 1 { // what came after its last step is on the page before
		newer, err := ask(q, service.LastSteps, memory.LastStepsRequest{Project: v.Project, Scope: scope, N: 1, Skip: q.skip(stepsPerPage) - 1, Caller: q.caller()})
		if err != nil {
			return err
		}
		if len(newer.Steps) > 0 {
			page.until = newer.Steps[0].Timestamp
		}
	}
	page.beside(q, v.Project)
	return nil
}

// beside adds what happened between the steps of the page, and after them up to the next one.
// What an imported session lacks is left out.
func (p *sessionPage) beside(q *request, project string) {
	in := func(time.Time) bool { return p.Number == 1 } // without steps there is one page
	if n := len(p.Events); n > 0 {
		first := p.Events[n-1].At
		in = func(at time.Time) bool {
			return (!at.Before(first) || p.Next == "") && (at.Before(p.until) || p.until.IsZero())
		}
	}
	ref := memory.SessionRef{SessionID: p.ID, Project: project, Caller: q.caller()}
	if list, err := ask(q, service.Receipts, memory.ReceiptsRequest{Project: project, SessionID: p.ID, Limit: memory.MaxReceipts, Caller: q.caller()}); err == nil {
		for i, r := range list.Receipts {
			if in(r.At) {
				p.Events = append(p.Events, event{At: r.At, Answer: &list.Receipts[i]})
			}
		}
	}
	if wc, err := ask(q, service.WorkingContext, memory.WorkingContextRequest{SessionRef: ref}); err == nil {
		if p.Working = wc; wc.Compactions > 0 && in(wc.CompactedAt) {
			p.Events = append(p.Events, event{At: wc.CompactedAt, Compacted: cmp.Or(wc.Summary, "without a summary")})
		}
	}
	from, to := p.Summary.CreatedAt, cmp.Or(p.Summary.EndedAt, q.site.opts.Now())
	if list, err := ask(q, service.TaskHistory, memory.TaskHistoryRequest{Project: project, Limit: 200, Caller: q.caller()}); err == nil && !from.IsZero() {
		known := map[string]bool{}
		for i, t := range list.Events {
			if t.At.Before(from) || t.At.After(to) {
				continue
			}
			if in(t.At) {
				p.Events = append(p.Events, event{At: t.At, Task: &list.Events[i]})
			}
			for _, line := range taskLines(&list.Events[i]) {
				if !known[line.ID] {
					known[line.ID] = true
					p.Tasks = append(p.Tasks, taskNow{line, t.Client})
				}
			}
		}
	}
	var lessons []string
	for _, e := range p.Events {
		if e.Answer == nil {
			continue
		}
		for _, i := range e.Answer.Items {
			if i.Kind == memory.Lesson {
				lessons = append(lessons, i.ID)
			}
		}
	}
	p.Labels = q.named(project, lessons)
	slices.SortStableFunc(p.Events, func(a, b event) int { return b.At.Compare(a.At) })
}
