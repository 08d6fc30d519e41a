package ingest

import (
	"context"

	"github.com/recalld/recalld/internal/memory"
)

// MarkLesson pins a lesson or makes it private, or takes that back. A lesson that has the
// marks already stays as it is.
func (s *Service) MarkLesson(ctx context.Context, req memory.MarkLessonRequest) (*memory.MarkedLesson, error) {
	if err := memory.Check(&req); err != nil {
		return nil, err
	}
	project, _, err := s.opts.Projects.ResolveRepo(ctx, req.Project, req.Caller)
	if err != nil {
		return nil, err
	}
	// A correction copies the marks of the lesson that it replaces: it must not be told between
	// the read and the commit below.
	s.forgetting.Lock()
	defer s.forgetting.Unlock()
	w := s.newChanges()
	before, err := w.lesson(req.ID, project.ID)
	if err != nil {
		return nil, err
	}
	req.ID = before.ID
	if _, err := w.add(req.ID, change{mark: &req}); err != nil {
		return nil, err
	}
	marked := w.now[req.ID]
	now := marked.Event
	batch := memory.Batch{
		Existing: true, Action: "mark", Detail: map[string]any{"id": req.ID, "pinned": now.Pinned, "private": now.Private, "project": project.ID},
	}
	if err := s.markPrivate(&batch, marked.PrivateSessions()); err != nil {
		return nil, err
	}
	if _, err := s.commitChanges(ctx, w, batch); err != nil {
		return nil, err
	}
	out := &memory.MarkedLesson{ID: req.ID, Pinned: now.Pinned, Private: now.Private}
	if now.Private && !before.Event.Private {
		out.Note = memory.PrivateNote
	}
	return out, nil
}

// lesson returns a lesson of a project, recalled or withdrawn, by its id or the beginning
// that answers show.
func (w *changes) lesson(id, project string) (memory.Record, error) {
	ids, err := w.wholeIDs(project, id)
	if err != nil {
		return memory.Record{}, err
	}
	r, err := w.record(ids[0])
	if err == nil && (r.Event == nil || r.Project != project) {
		err = &memory.Error{Code: memory.CodeNotFound, Field: "id", Message: "this project has no lesson " + memory.Quote(id), Hint: "the list of lessons has their ids"}
	}
	return r, err
}
