package ingest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/fingerprint"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/redact"
)

// Remember stores a lesson, or merges it into the same lesson.
func (s *Service) Remember(ctx context.Context, req memory.RememberRequest) (*memory.Remembered, error) {
	out, _, err := s.RememberLine(ctx, req)
	return out, err
}

// RememberLine is Remember, and returns the line for a log, without secrets. The line is nil
// for a private lesson, and for a repeated request: it was returned the first time.
func (s *Service) RememberLine(ctx context.Context, req memory.RememberRequest) (*memory.Remembered, *memory.LogLine, error) {
	if err := memory.Check(&req); err != nil {
		return nil, nil, err
	}
	project, repo, err := s.opts.Projects.ResolveRepo(ctx, req.Project, req.Caller)
	if err != nil {
		return nil, nil, err
	}
	req.Repo = cmp.Or(req.Repo, repo)
	s.forgetting.RLock()
	defer s.forgetting.RUnlock()
	w := s.newChanges()
	for _, ids := range []*[]string{&req.Supersedes, &req.Retracts} {
		if *ids, err = w.wholeIDs(project.ID, *ids...); err != nil {
			return nil, nil, err
		}
	}
	line, redacted, err := s.lessonLine(req, project)
	if err != nil {
		return nil, nil, err
	}
	one := s.lessonRecord(line, project.ID)
	one.Provenance, one.Event.Private = s.told(req.Caller, line.AgentID), req.Private
	if err := s.addSession(&one, req.Caller); err != nil {
		return nil, nil, err
	}
	one.Event.Anchors, err = s.opts.Anchors(ctx, memory.AnchorQuery{
		Project: project.ID, Dir: req.Caller.Dir, Given: req.Anchors,
		Text:    strings.Join([]string{line.Lesson, line.Context, line.Command}, "\n"),
		Touched: s.touched.by(memory.SessionKey{Project: one.Project, ID: one.Session}, one.Created),
	})
	if err != nil {
		return nil, nil, err
	}
	batch := memory.Batch{
		RequestID: req.RequestID, Subject: project.ID, DropTombstones: []string{one.ID},
		Action: "remember", Detail: map[string]string{"id": one.ID, "project": project.ID},
	}
	if err := s.addProject(&batch, project); err != nil {
		return nil, nil, err
	}
	answer := func(c memory.Committed) *memory.Remembered {
		return &memory.Remembered{
			ID: one.ID, Project: project.ID, ProjectName: project.Name, Repo: one.Repo,
			Merged: slices.Contains(c.Merged, one.ID), Redacted: redacted, Seq: c.Seq,
		}
	}
	if err := s.checkWithdrawn(w, one, line); err != nil {
		// What a repeated request withdrew may have been forgotten since.
		done, err := s.repeated(ctx, project, req.RequestID, err)
		if err != nil {
			return nil, nil, err
		}
		return answer(done), nil, nil
	}
	for _, id := range line.Supersedes { // a correction neither publishes a lesson nor unpins it
		replaced := w.now[id].Event
		one.Event.Private, one.Event.Pinned = one.Event.Private || replaced.Private, one.Event.Pinned || replaced.Pinned
	}
	if _, err := w.add(one.ID, change{one: &one, live: true}); err != nil {
		return nil, nil, err
	}
	if err := withdraw(w, one, line, true); err != nil {
		return nil, nil, err
	}
	if w.now[one.ID].Event.Private {
		sessions, err := s.sessionsOf(req.Caller)
		if err == nil {
			err = s.markPrivate(&batch, sessions)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	c, err := s.commitChanges(ctx, w, batch)
	if err != nil {
		return nil, nil, err
	}
	if c.Repeated || w.now[one.ID].Event.Private {
		return answer(c), nil, nil
	}
	return answer(c), &line, nil
}

// Outcome counts an attempt for every lesson that was used, and a success if it was one.
// Ids of missing lessons are skipped.
func (s *Service) Outcome(ctx context.Context, ids []string, ok bool) error {
	s.forgetting.RLock()
	defer s.forgetting.RUnlock()
	w := s.newChanges()
	for _, id := range unique(ids) {
		if _, err := w.add(id, change{succeeded: ok, at: s.now()}); err != nil {
			return fmt.Errorf("count outcome: %w", err)
		}
	}
	_, err := s.commitChanges(ctx, w, memory.Batch{Action: "outcome", Detail: map[string]any{"ids": w.order, "ok": ok}})
	if err != nil {
		return fmt.Errorf("count outcome: %w", err)
	}
	return nil
}

// lessonLine returns a lesson as a line of a log, told now, without secrets, and says
// whether there were any.
func (s *Service) lessonLine(req memory.RememberRequest, project memory.Project) (memory.LogLine, bool, error) {
	line := memory.LogLine{
		Timestamp: s.now(), AgentID: cmp.Or(req.AgentID, req.Caller.Client), Repo: req.Repo, Type: req.Type, Context: req.Context,
		Command: req.Command, Lesson: req.Lesson, SuccessRate: req.SuccessRate, Tags: req.Tags,
		Supersedes: union(nil, req.Supersedes, memory.MaxAside), Retracts: union(nil, req.Retracts, memory.MaxAside),
	}
	line, n, err := s.cleanLine(line, project)
	if err == nil {
		err = s.withoutQuotes(&line, project.ID)
	}
	line.Hash = s.opts.LineHash(line)
	return line, n > 0, err
}

// withoutQuotes removes from a lesson the text that recall handed out. A known lesson stays
// whole: it is a further observation, perhaps with another outcome.
func (s *Service) withoutQuotes(line *memory.LogLine, project string) error {
	context, inContext := s.opts.QuoteFilter.strip(line.Context)
	lesson, inLesson := s.opts.QuoteFilter.strip(line.Lesson)
	if inContext+inLesson == 0 {
		return nil
	}
	_, known, err := find(s.opts.Records, s.lessonRecord(*line, project).ID)
	if err != nil {
		return fmt.Errorf("find lesson: %w", err)
	}
	if known {
		return nil
	}
	line.Context, line.Lesson = strings.TrimSpace(context), strings.TrimSpace(lesson)
	if line.Lesson == "" {
		return &memory.Error{Code: memory.CodeInvalidInput, Field: "lesson",
			Message: "it holds only what recall returned", Hint: "recall returned this; store only what is new"}
	}
	return nil
}

// cleanLine takes the secrets out of a line and counts them. A line that says no
// repository is of the project's.
func (s *Service) cleanLine(line memory.LogLine, project memory.Project) (memory.LogLine, int, error) {
	c := s.newCleaner()
	c.text(&line.Lesson, memory.MaxLessonText)
	c.text(&line.Context, memory.MaxContextText)
	c.text(&line.Command, memory.MaxCommandText)
	c.text(&line.Repo, memory.MaxNameText)
	c.text(&line.AgentID, memory.MaxNameText)
	line.Tags = c.list(line.Tags)
	line.Extra = c.extra(line.Extra)
	line.Repo = cmp.Or(line.Repo, project.Name)
	if line.Lesson == "" || redact.IsBlank(line.Lesson) {
		return line, c.n, memory.Invalid("lesson", "", "it holds only private text")
	}
	return line, c.n, nil
}

// lessonRecord makes the record of a lesson as a line tells it.
func (s *Service) lessonRecord(line memory.LogLine, project string) memory.Record {
	t := memory.Observation{At: line.Timestamp, AgentID: line.AgentID, Line: line.Hash}
	event := &memory.Event{
		AgentID: line.AgentID, Type: line.Type, Context: line.Context, Command: line.Command, Lesson: line.Lesson, Seen: 1,
		Fingerprints: fingerprint.Of(strings.Join([]string{line.Context, line.Lesson, line.Command}, "\n")),
	}
	if line.SuccessRate != "" {
		rate, _ := memory.ParseRate(line.SuccessRate) // validated
		t.Rate, event.Rate, event.RateAt = &rate, &rate, line.Timestamp
	}
	event.Observations = []memory.Observation{t}
	text := lessonText(event, line.Tags)
	return memory.Record{
		ID:   lessonID(project, line),
		Kind: memory.Lesson, Project: project, Repo: line.Repo, Tags: line.Tags,
		Created: line.Timestamp, Doc: memory.DocumentID(text), Text: text, Event: event, Extra: line.Extra,
	}
}

// importedAnchors takes the anchors that an export wrote out of a line's other fields.
// What is no list of anchors stays there.
func (s *Service) importedAnchors(line *memory.LogLine) []memory.Anchor {
	anchors := memory.Anchors(line.Extra[anchorsField])
	if anchors == nil {
		return nil
	}
	line.Extra = withoutField(line.Extra, anchorsField)
	for _, a := range anchors {
		if _, n := s.opts.Redact(strings.Join([]string{a.Path, a.Symbol, a.Code.Symbol}, "\n")); n > 0 {
			return nil
		}
	}
	return anchors
}

// importedMarks takes the marks that an export wrote out of a line's other fields.
func importedMarks(line *memory.LogLine) (pinned, private bool) {
	take := func(name string) bool {
		set := string(line.Extra[name]) == "true"
		if set {
			line.Extra = withoutField(line.Extra, name)
		}
		return set
	}
	return take("pinned"), take("private")
}

// lessonID names a lesson by its text and repository, so that equal ones are merged.
func lessonID(project string, line memory.LogLine) string {
	return memory.RecordID("l", project, normalise(line.Repo), normalise(line.Context), normalise(line.Lesson), normalise(line.Command))
}

// lessonText is what is searched of a lesson.
func lessonText(e *memory.Event, tags []string) string {
	parts := []string{e.Context, e.Lesson, e.Command, strings.Join(tags, " ")}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), "\n")
}

// addSession adds the caller's session to a lesson, and the errors of a step that failed
// in it shortly before: the lesson is probably about them.
func (s *Service) addSession(one *memory.Record, caller memory.Caller) error {
	id := caller.Session
	if id == "" {
		current, ok, err := s.currentSession(one.Project, caller)
		if err != nil && !errors.Is(err, memory.ErrSeveralSessions) {
			return err
		}
		if !ok { // the session is unknown; the lesson is kept without it
			return nil
		}
		id = current.ID
	} else if memory.ValidSessionID("caller.session", id) != nil {
		return nil // no session has such an id
	} else if _, err := s.opts.Sessions.Session(one.Project, id); err != nil {
		if memory.CodeOf(err) == memory.CodeNotFound {
			return nil // the session is of another project, and the lesson is not
		}
		return fmt.Errorf("find session: %w", err)
	}
	one.Session, one.Event.Observations[0].Session, one.Provenance.Session = id, id, id
	if one.Event.Type == memory.EventError { // a pattern may be about anything
		recent := s.failures.take(memory.SessionKey{Project: one.Project, ID: id}, one.Created)
		one.Event.Fingerprints = union(one.Event.Fingerprints, recent, maxFingerprints)
	}
	return nil
}

// checkWithdrawn finds the lessons that another one withdraws.
func (s *Service) checkWithdrawn(w *changes, one memory.Record, line memory.LogLine) error {
	for _, list := range []struct {
		field string
		ids   []string
	}{{"supersedes", line.Supersedes}, {"retracts", line.Retracts}} {
		for i, id := range list.ids {
			field := fmt.Sprintf("%s[%d]", list.field, i)
			if id == one.ID {
				return memory.Invalid(field, "", "a lesson cannot supersede or retract itself")
			}
			r, err := w.record(id)
			if err != nil {
				return err
			}
			if r.Event == nil || r.Project != one.Project {
				return &memory.Error{Code: memory.CodeNotFound, Field: field,
					Message: "this project has no lesson " + memory.Quote(id), Hint: "answers in JSON give the ids of lessons"}
			}
		}
	}
	return nil
}

// withdraw withdraws the lessons that a lesson supersedes and retracts.
func withdraw(w *changes, one memory.Record, line memory.LogLine, live bool) error {
	put := func(ids []string, reason string) error {
		for _, id := range ids {
			by := &memory.Withdrawal{At: line.Timestamp, By: one.ID, Reason: reason, Followed: one.Provenance.Followed()}
			if _, err := w.add(id, change{withdrawal: by, project: one.Project, live: live}); err != nil {
				return err
			}
		}
		return nil
	}
	if err := put(line.Supersedes, superseded); err != nil {
		return err
	}
	return put(line.Retracts, retracted)
}

// provenanceField is where an export writes the provenance of a lesson. An import ignores
// it: a file does not decide on its own provenance.
const provenanceField = "provenance"

// anchorsField is where an export writes the anchors of a lesson.
const anchorsField = "anchors"

func withoutField(fields map[string]json.RawMessage, name string) map[string]json.RawMessage {
	if _, ok := fields[name]; !ok {
		return fields
	}
	fields = maps.Clone(fields)
	if delete(fields, name); len(fields) == 0 {
		return nil
	}
	return fields
}

// told is the provenance of what a caller tells. Agent is its own name; by default it is
// the name of its client.
func (s *Service) told(caller memory.Caller, agent string) memory.Provenance {
	p := memory.Provenance{Origin: memory.OriginTold, Agent: cmp.Or(agent, s.client(caller))}
	if memory.ValidSessionID("caller.session", caller.Session) == nil {
		p.Session = caller.Session
	}
	return p
}

// unique returns the ids in order, each once.
func unique(ids []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(ids)))
}
