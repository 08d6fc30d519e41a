package agentctx

import (
	"context"
	"errors"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

const (
	// briefLessons is how many pinned lessons a brief has at most, and how many others that
	// have worked.
	briefLessons = 3
	// briefSteps is how many of a session's last steps are looked at after a compaction.
	briefSteps = 100
)

// Brief carries out service.Brief.
func (s *Contexts) Brief(ctx context.Context, req memory.BriefRequest) (*memory.Brief, error) {
	project, err := s.opts.project(ctx, &req, &req.Project, &req.Caller)
	if err != nil {
		return nil, err
	}
	window, err := s.opts.Tasks.TaskWindow(ctx, memory.TaskWindowRequest{Project: req.Project, Caller: req.Caller})
	if err != nil {
		return nil, err
	}
	pinned, err := s.opts.Recall.Pinned(ctx, req.Project, req.Caller, briefLessons)
	if err != nil {
		return nil, err
	}
	lessons, err := s.opts.Recall.Proven(ctx, project, req.Caller, briefLessons)
	if err != nil {
		return nil, err
	}
	var steps []memory.StepView
	if req.Compacted && req.Caller.Session != "" {
		// A session that is taken up again is open only from its next step on.
		for _, scope := range []*memory.Scope{nil, {Session: req.Caller.Session}} {
			list, err := s.opts.Recall.LastSteps(ctx, memory.LastStepsRequest{N: briefSteps, Scope: scope, Project: req.Project, Caller: req.Caller})
			if err == nil {
				steps = list.Steps
				break
			}
			if e, ok := errors.AsType[*memory.Error](err); !ok || e.Field != "scope" && e.Code != memory.CodeNotFound {
				return nil, err
			}
		}
	}
	brief := render.Brief(steps, window, pinned, lessons, req.MaxTokens)
	brief.Project, brief.ProjectName = project.ID, project.Name
	return &brief, nil
}
