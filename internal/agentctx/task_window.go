package agentctx

import (
	"cmp"
	"context"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// TaskWindow implements memory.WorkingMemory.
func (s *Tasks) TaskWindow(ctx context.Context, req memory.TaskWindowRequest) (*memory.TaskWindow, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	p, _, err := s.opts.Projects.Resolve(ctx, req.Project, req.Caller)
	if err != nil {
		return nil, err
	}
	held, err := s.records(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	w := &memory.TaskWindow{
		Project: p.ID, ProjectName: p.Name,
		Tasks: make([]memory.CompletedTask, 0, len(held)), Blockers: make([]memory.BlockedTask, 0, len(held)),
	}
	for i := range held {
		if r := &held[i]; r.Kind == memory.Blocker {
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
