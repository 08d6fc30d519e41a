package finder

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// message is what work in the background sends back.
type message interface{ receive(*model) }

// question is what is asked when the query or a filter changes. Number tells an answer
// to an older question apart.
type question struct {
	number  int
	text    string
	kind    kind
	project string
	caller  memory.Caller
}

const (
	// newest is how many lessons or steps are listed while no question is typed.
	newest = 200
	// leastRelevance keeps out what only looks like a result: below it, one question in
	// three about nothing remembered finds something.
	leastRelevance = 0.2
)

type connected struct {
	service  service.Service
	projects []project
	err      error
}

// connect finds the daemon and its projects.
func connect(ctx context.Context, o Options) message {
	svc, err := o.Connect(ctx)
	if err != nil {
		return connected{err: err}
	}
	c := connected{service: svc}
	if repos, err := service.Repos.Do(ctx, svc, service.None{}); err == nil { // else there is one project to ask
		c.projects = projectsOf(repos.Repos)
	}
	return c
}

type answered struct {
	number int
	rows   []row
	note   string
	took   time.Duration
	err    error
}

// ask answers a question; without a text it lists what is new.
func ask(ctx context.Context, svc service.Service, q question, now func() time.Time) message {
	started := now()
	a := answered{number: q.number}
	var items []memory.Item
	switch {
	case q.text != "":
		least := leastRelevance
		var found *memory.RecallResponse
		if found, a.err = service.Recall.Do(ctx, svc, memory.RecallRequest{
			Query: q.text, Kinds: q.kind.kinds, Project: q.project, Limit: memory.MaxLimit, MaxTokens: memory.MaxTokens,
			MinRelevance: &least, Typing: true, Caller: q.caller,
		}); a.err == nil {
			items = found.Items
			// A person looks at the first rows: what is sure comes before what only may
			// be meant, of whatever kind.
			slices.SortStableFunc(items, func(a, b memory.Item) int { return memory.CompareStrengths(a.Strength, b.Strength) })
			if found.Incomplete {
				a.note = found.Why
			}
		}
	case q.kind.newest == service.LastSteps.Name:
		var list *memory.StepList
		if list, a.err = service.LastSteps.Do(ctx, svc, memory.LastStepsRequest{
			N: memory.MaxLast, Scope: &memory.Scope{Name: memory.ScopeAll}, Project: q.project, Caller: q.caller,
		}); a.err == nil {
			for _, s := range list.Steps {
				items = append(items, stepItem(s))
			}
		}
	case q.kind.newest == service.Lessons.Name:
		var list *memory.LessonList
		if list, a.err = service.Lessons.Do(ctx, svc, memory.LessonsRequest{Limit: newest, Project: q.project, Caller: q.caller}); a.err == nil {
			items = list.Lessons
		}
	}
	if errors.Is(a.err, context.Canceled) || ctx.Err() != nil {
		return nil // the next question has begun
	}
	for _, item := range items {
		a.rows = append(a.rows, newRow(item))
	}
	a.took = now().Sub(started)
	return a
}

type wholeText struct {
	id    string
	lines []string
	err   error
}

// read gets the whole text of a row; code is read from disk again.
func read(ctx context.Context, svc service.Service, id, project string, caller memory.Caller) message {
	found, err := service.Recall.Do(ctx, svc, memory.RecallRequest{
		IDs: []string{id}, MaxTokens: memory.MaxTokens, Project: project, Typing: true, Caller: caller,
	})
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return wholeText{id: id, err: err}
	case len(found.Items) == 0:
		return wholeText{id: id, lines: textLines(render.Bare(found.Text))}
	}
	return wholeText{id: id, lines: wholeLines(found.Items[0])}
}

type forgotten struct {
	id  string
	err error
}

func forget(ctx context.Context, svc service.Service, id string) message {
	_, err := service.Forget.Do(ctx, svc, memory.ForgetRequest{IDs: []string{id}})
	return forgotten{id, err}
}
