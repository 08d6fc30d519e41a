package ingest

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// Remember keeps a lesson, or merges it into the same one of before.
func (s *Service) Remember(ctx context.Context, req memory.RememberRequest) (*memory.Remembered, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	project, known, err := s.opts.Projects.Resolve(ctx, req.Project, req.Caller)
	if err != nil {
		return nil, err
	}
	if req.Repo == "" {
		req.Repo = project.Name
	}
	redacted := s.redact(&req)
	if req.Lesson = strings.TrimSpace(req.Lesson); req.Lesson == "" {
		return nil, memory.Invalid("lesson", "", "nothing is left of it without what is private")
	}
	r := lessonRecord(req, project.ID, s.opts.Clock().UTC())
	batch := memory.Batch{
		RequestID: req.RequestID,
		Records:   []memory.Record{r},
		Merge:     mergeLesson,
		Action:    "remember",
		Detail:    map[string]string{"id": r.ID, "project": project.ID},
	}
	if !known {
		batch.Projects = []memory.Project{project}
	}
	c, err := s.commit(ctx, batch, []memory.Document{{ID: r.Doc, Text: r.Text}})
	if err != nil {
		return nil, err
	}
	return &memory.Remembered{
		ID: r.ID, Project: project.ID, ProjectName: project.Name, Repo: r.Repo,
		Merged: len(c.Merged) > 0, Redacted: redacted, Seq: c.Seq,
	}, nil
}

// redact takes secrets out of every field and reports whether there were any.
func (s *Service) redact(req *memory.RememberRequest) bool {
	total := 0
	clean := func(text *string) {
		var n int
		*text, n = s.opts.Redact(*text)
		total += n
	}
	clean(&req.Lesson)
	clean(&req.Context)
	clean(&req.Command)
	clean(&req.Repo)
	clean(&req.AgentID)
	var tags []string
	for _, tag := range req.Tags {
		clean(&tag)
		if tag = strings.TrimSpace(tag); tag != "" && !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
	}
	req.Tags = tags
	return total > 0
}

func lessonRecord(req memory.RememberRequest, project string, now time.Time) memory.Record {
	event := &memory.Event{
		AgentID: req.AgentID, Type: req.Type, Context: req.Context, Command: req.Command, Lesson: req.Lesson, Seen: 1,
	}
	if req.SuccessRate != "" {
		rate, _ := memory.ParseRate(req.SuccessRate) // validated
		event.Rate = &rate
	}
	text := lessonText(event, req.Tags)
	return memory.Record{
		ID:   identify("l", project, normalise(req.Context), normalise(req.Lesson), normalise(req.Command)),
		Kind: memory.Lesson, Project: project, Repo: req.Repo, Session: req.Caller.Session, Tags: req.Tags,
		Created: now, Doc: memory.DocumentID(text), Text: text, Event: event,
	}
}

// lessonText is what is searched of a lesson.
func lessonText(e *memory.Event, tags []string) string {
	var parts []string
	for _, p := range []string{e.Context, e.Lesson, e.Command, strings.Join(tags, " ")} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, "\n")
}

// mergeLesson keeps the first telling of a lesson with all outcomes and tags; the
// record keeps its document, so nothing is analysed again.
func mergeLesson(old, new memory.Record) memory.Record {
	if old.Event == nil { // no lesson of ours: a panic here would end the committer
		return new
	}
	merged := old
	event := *old.Event
	event.Seen++
	event.Type = new.Event.Type
	if rate := new.Event.Rate; rate != nil {
		sum := *rate
		if event.Rate != nil {
			sum.Successes += event.Rate.Successes
			sum.Attempts += event.Rate.Attempts
		}
		event.Rate = &sum
	}
	merged.Event = &event
	merged.Updated = new.Created
	for _, tag := range new.Tags {
		if !slices.Contains(merged.Tags, tag) && len(merged.Tags) < memory.MaxTags {
			merged.Tags = append(slices.Clip(merged.Tags), tag)
		}
	}
	return merged
}
