package recall

import (
	"context"
	"fmt"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

const (
	// listDeadline bounds how long a list of lessons reads code.
	listDeadline = 10 * time.Second
	// maxListReads bounds the files that it reads.
	maxListReads = 5000
)

// Lessons lists the lessons of a project, newest first, or those whose code changed or is
// gone.
func (s *Service) Lessons(ctx context.Context, req memory.LessonsRequest) (*memory.LessonList, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	if err := s.ready(); err != nil {
		return nil, err
	}
	project, _, err := s.opts.Projects.Resolve(ctx, req.Project, req.Caller)
	if err != nil {
		return nil, err
	}
	sel := memory.Selection{
		Project: project.ID, Kinds: []memory.Kind{memory.Lesson},
		Followed: memory.AsksFrom(ctx, s.opts.Projects, project.ID, req.Project, req.Caller),
	}
	ids := s.opts.Corpus.RecordIDs(sel)
	list := &memory.LessonList{Project: project.ID, ProjectName: project.Name, Lessons: []memory.Item{}, Total: len(ids)}
	code, stop := context.WithTimeout(ctx, listDeadline)
	defer stop()
	l := s.lookAtAnchors(code, req.Caller.Dir, maxListReads)
	for _, id := range ids {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if len(list.Lessons) == req.Limit && !req.Stale {
			break
		}
		rec, err := s.opts.Corpus.Record(id)
		switch {
		case err != nil && memory.CodeOf(err) == memory.CodeNotFound:
			continue // forgotten since
		case err != nil:
			return nil, fmt.Errorf("read lesson: %w", err)
		case rec.Event == nil || req.Stale && len(rec.Event.Anchors) == 0:
			continue
		}
		item := s.lessonItem(&rec)
		if s.opts.Anchors != nil && len(rec.Event.Anchors) > 0 {
			item.Anchors = l.check(rec.Project, rec.Event.Anchors)
		}
		if req.Stale {
			state := memory.WorstAnchor(item.Anchors)
			if state == memory.AnchorUnknown {
				list.Unread++
			}
			if !state.Outdated() {
				continue
			}
			list.Stale++
		}
		if len(list.Lessons) < req.Limit {
			list.Lessons = append(list.Lessons, item)
		}
	}
	return list, nil
}

// lessonItem shows a lesson outside of an answer.
func (s *Service) lessonItem(rec *memory.Record) memory.Item {
	item := memory.Item{
		ID: rec.ID, Kind: rec.Kind, Project: rec.Project, CreatedAt: rec.Created,
		Source:     memory.Source{Session: rec.Session, Repo: rec.Repo},
		Provenance: shownProvenance(rec.Provenance),
	}
	fillLesson(&item, rec.Event, s.clean)
	return item
}
