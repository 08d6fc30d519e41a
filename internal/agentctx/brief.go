package agentctx

import (
	"context"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// briefLessons is how many lessons a brief has at most.
const briefLessons = 3

// Brief carries out service.Brief.
func (s *Contexts) Brief(ctx context.Context, req memory.BriefRequest) (*memory.Brief, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	project, _, err := s.opts.Projects.Resolve(ctx, req.Project, req.Caller)
	if err != nil {
		return nil, err
	}
	window, err := s.opts.Tasks.TaskWindow(ctx, memory.TaskWindowRequest{Project: req.Project, Caller: req.Caller})
	if err != nil {
		return nil, err
	}
	lessons, err := s.opts.Recall.Proven(ctx, project, req.Caller, briefLessons)
	if err != nil {
		return nil, err
	}
	brief := render.Brief(window, lessons, req.MaxTokens)
	brief.Project, brief.ProjectName = project.ID, project.Name
	return &brief, nil
}
