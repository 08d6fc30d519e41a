package ingest

import (
	"context"

	"github.com/recalld/recalld/internal/memory"
)

// RestoreLesson brings back a lesson that another one superseded or retracted. The other one
// stays. A lesson that is recalled stays as it is.
func (s *Service) RestoreLesson(ctx context.Context, req memory.RestoreLessonRequest) (*memory.RestoredLesson, error) {
	if err := memory.Check(&req); err != nil {
		return nil, err
	}
	project, _, err := s.opts.Projects.ResolveRepo(ctx, req.Project, req.Caller)
	if err != nil {
		return nil, err
	}
	s.forgetting.RLock()
	defer s.forgetting.RUnlock()
	w := s.newChanges()
	r, err := w.lesson(req.ID, project.ID)
	if err != nil {
		return nil, err
	}
	req.ID = r.ID
	if r.Event.Withdrawn == nil {
		return &memory.RestoredLesson{ID: req.ID}, nil
	}
	by := r.Event.Withdrawn.By
	if _, err := w.add(req.ID, change{restored: true, at: s.now()}); err != nil {
		return nil, err
	}
	_, err = s.commitChanges(ctx, w, memory.Batch{
		Existing: true, Action: "restore", Detail: map[string]string{"id": req.ID, "by": by, "project": project.ID},
	})
	if err != nil {
		return nil, err
	}
	return &memory.RestoredLesson{ID: req.ID, By: by}, nil
}
