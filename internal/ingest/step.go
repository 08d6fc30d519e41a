package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/recalld/recalld/internal/fingerprint"
	"github.com/recalld/recalld/internal/memory"
)

// The bounds of a step's errors.
const (
	maxStepErrors = 8
	// maxErrorSource is how much of what a failing step saw is looked through for
	// errors, in bytes.
	maxErrorSource = 16 << 10
)

// RecordStep keeps a step. The folder of its file is for whoever writes files,
// and so is advice.
func (s *Service) RecordStep(ctx context.Context, req memory.RecordStepRequest) (*memory.StepRecorded, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	project, _, err := s.opts.Projects.Resolve(ctx, req.Project, req.Caller)
	if err != nil {
		return nil, err
	}
	c := s.newCleaner()
	c.echo = s.opts.Echo
	content := memory.StepContent{
		Tool: req.Tool, Outcome: req.Outcome, Observation: req.Observation, Environment: req.Environment,
		DurationMs: req.DurationMs, Screenshot: req.Screenshot,
	}
	s.complete(&content, c)
	r, done, err := s.writeStep(ctx, req, project, content)
	if err != nil {
		return nil, err
	}
	if !done.Repeated && !content.Outcome.OK {
		s.failures.put(memory.SessionKey{Project: r.Project, ID: r.Session}, r.Created, content.Fingerprints)
	}
	labels := r.Step.Labels
	if labels == nil {
		labels = []string{}
	}
	return &memory.StepRecorded{
		ID: r.ID, SessionID: r.Session, Project: r.Project, Timestamp: r.Created, Labels: labels, Redacted: c.n > 0, Seq: done.Seq,
	}, nil
}

// writeStep finds the step's session, or opens it, and writes the step. For a
// request that was done before it returns the step that was written then.
func (s *Service) writeStep(ctx context.Context, req memory.RecordStepRequest, project memory.Project, content memory.StepContent) (memory.Record, memory.Committed, error) {
	s.forgetting.RLock()
	defer s.forgetting.RUnlock()
	session, opened, err := s.stepSession(ctx, project.ID, req)
	if err != nil {
		if done, ok := s.repeated(ctx, req.RequestID); ok {
			return s.stepWritten(project, done)
		}
		return memory.Record{}, memory.Committed{}, err
	}
	id, at, err := s.place(session.Key(), content.Tool.Name, req.Timestamp)
	if err != nil {
		return memory.Record{}, memory.Committed{}, fmt.Errorf("name step: %w", err)
	}
	defer s.places.free(id)
	r := stepRecord(id, project, session, at, content)
	b := memory.Batch{RequestID: req.RequestID, Records: []memory.Record{r}}
	if opened {
		b.Sessions = []memory.Session{session}
		b.MergeSession = func(old, new memory.Session) (memory.Session, error) {
			if old.Bare { // as StartSession does
				return new, nil
			}
			return old, nil
		}
		b.DropTombstones = []string{sessionTombstone(project.ID, session.ID)}
	}
	if err := s.addProject(&b, project); err != nil {
		return memory.Record{}, memory.Committed{}, err
	}
	done, err := s.commit(ctx, b, []memory.Document{{ID: r.Doc, Text: r.Text}})
	if err == nil && done.Repeated {
		return s.stepWritten(project, done)
	}
	return r, done, err
}

// stepWritten returns the step that a request wrote before.
func (s *Service) stepWritten(project memory.Project, done memory.Committed) (memory.Record, memory.Committed, error) {
	if len(done.Put) == 0 {
		return memory.Record{}, done, errOtherRequest()
	}
	r, err := s.opts.Records.Record(done.Put[len(done.Put)-1])
	if err == nil && (r.Project != project.ID || r.Step == nil) {
		err = errOtherRequest()
	}
	return r, done, err
}

// stepSession finds the session that a step is of, or the one that it opens.
func (s *Service) stepSession(ctx context.Context, project string, req memory.RecordStepRequest) (session memory.Session, opened bool, err error) {
	session, err = s.FindSession(project, req.SessionID, req.Caller)
	id := req.SessionID
	if id == "" {
		id = req.Caller.Session
	}
	unknown := err != nil && memory.CodeOf(err) == memory.CodeNotFound
	if req.Open && id != "" && (unknown || err == nil && session.Bare) {
		if err := memory.ValidSessionID("sessionId", id); err != nil {
			return session, false, err
		}
		at := s.now()
		if !req.Timestamp.IsZero() && req.Timestamp.Before(at) {
			at = req.Timestamp.UTC().Truncate(time.Millisecond)
		}
		return memory.Session{ID: id, Project: project, Client: req.Caller.Client, CreatedAt: at, Git: s.git(ctx, project, req.Caller)}, true, nil
	}
	if err != nil {
		return session, false, err
	}
	if !session.EndedAt.IsZero() {
		return session, false, &memory.Error{Code: memory.CodeConflict, Field: "sessionId",
			Message: fmt.Sprintf("session %q has ended", session.ID), Hint: "open another one with session_start"}
	}
	return session, false, nil
}

// complete takes the secrets out of a step and derives what it does not say:
// labels, where it has none, its screen and its errors.
func (s *Service) complete(content *memory.StepContent, c *cleaner) {
	if c.text(&content.Tool.Name, memory.MaxNameText); content.Tool.Name == "" {
		content.Tool.Name = "[redacted]" // a step is named by it
	}
	c.text(&content.Screenshot, memory.MaxNameText)
	for _, raw := range []*json.RawMessage{
		&content.Tool.Input, &content.Tool.Target, &content.Observation, &content.Environment, &content.Build,
	} {
		*raw = c.json(*raw)
	}
	content.Extra = c.extra(content.Extra)
	if e := content.Outcome.Error; e != nil {
		clean := *e
		c.text(&clean.Code, memory.MaxNameText)
		c.text(&clean.Message, memory.MaxErrorText)
		clean.Message, _ = c.echo.Mark(clean.Message)
		clean.Details = c.json(clean.Details)
		content.Outcome.Error = &clean
	}
	if content.Labels = c.list(content.Labels); len(content.Labels) == 0 {
		content.Labels = s.opts.Labels(content.Tool.Name, memory.TargetText(content.Tool.Target), !content.Outcome.OK)
	}
	content.Screen = screenOf(content.Observation)
	content.Fingerprints = nil
	if !content.Outcome.OK {
		content.Fingerprints = stepErrors(*content)
	}
}

// stepErrors are the fingerprints of what a step failed with: of its error first,
// then of what it saw, which for a command is where the error stands.
func stepErrors(c memory.StepContent) []string {
	var found []string
	if e := c.Outcome.Error; e != nil {
		found = union(found, fingerprint.Of(e.Message), maxStepErrors)
		if e.Code != "" {
			found = union(found, fingerprint.Of(e.Code+": "+e.Message), maxStepErrors)
		}
		found = union(found, fingerprint.Of(allText(e.Details)), maxStepErrors)
	}
	return union(found, fingerprint.Of(allText(c.Observation)), maxStepErrors)
}

// allText is the strings of a JSON value, each on lines of its own, up to
// maxErrorSource.
func allText(raw json.RawMessage) string {
	var b strings.Builder
	for s := range memory.Scalars(raw) {
		if (s.Kind == memory.ScalarText || s.Kind == memory.ScalarKey) && b.Len()+len(s.Text) <= maxErrorSource {
			b.WriteString(s.Text)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// screenOf is an observation's state.currentScreen.
func screenOf(observation json.RawMessage) string {
	if !bytes.Contains(observation, []byte(`"currentScreen"`)) {
		return ""
	}
	var seen struct {
		State struct {
			CurrentScreen string `json:"currentScreen"`
		} `json:"state"`
	}
	if json.Unmarshal(observation, &seen) != nil { // of another shape
		return ""
	}
	screen := []rune(strings.TrimSpace(seen.State.CurrentScreen))
	return string(screen[:min(len(screen), memory.MaxNameText)])
}

// stepID names a step by what its file is named by, so that a step which is read
// from our own file is the one that was written.
func stepID(session memory.SessionKey, at time.Time, tool string) string {
	return identify("s", session.Project, session.ID, strconv.FormatInt(at.UnixMilli(), 10), tool)
}

func stepRecord(id string, project memory.Project, session memory.Session, at time.Time, content memory.StepContent) memory.Record {
	r := memory.Record{
		ID: id, Kind: memory.Step, Project: project.ID, Repo: project.Name, Session: session.ID, Created: at, Step: &content,
	}
	setStepText(&r, session)
	return r
}

func setStepText(r *memory.Record, session memory.Session) {
	r.Text = memory.StepText(*r, session)
	r.Doc = memory.DocumentID(r.Text)
}

// places keep the steps of a session in the order in which they were recorded.
type places struct {
	mu sync.Mutex
	// taken are the ids of steps that are being written, last the time of the
	// newest step of a session that was given its time here. Both are guarded by mu.
	taken []string
	last  map[memory.SessionKey]time.Time
}

// maxPlaced bounds the sessions of which the newest step is kept in mind.
const maxPlaced = 1000

// now gives a step its time: later than that of every step of the session that was
// given one before.
func (p *places) now(session memory.SessionKey, now time.Time) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if last := p.last[session]; !now.After(last) {
		now = last.Add(time.Millisecond)
	}
	if p.last == nil || len(p.last) >= maxPlaced {
		p.last = map[memory.SessionKey]time.Time{} // it only matters for a millisecond
	}
	p.last[session] = now
	return now
}

func (p *places) take(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if slices.Contains(p.taken, id) {
		return false
	}
	p.taken = append(p.taken, id)
	return true
}

func (p *places) free(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken = slices.DeleteFunc(p.taken, func(x string) bool { return x == id })
}

// place finds the time of a step and the id that goes with it. Without a time it
// is now. A step of the session and tool that has that time already moves it on by
// a millisecond, as often as need be. The id is taken until it is freed.
func (s *Service) place(session memory.SessionKey, tool string, at time.Time) (string, time.Time, error) {
	if at.IsZero() {
		at = s.places.now(session, s.now())
	}
	for at = at.UTC().Truncate(time.Millisecond); ; at = at.Add(time.Millisecond) {
		id := stepID(session, at, tool)
		if !s.places.take(id) {
			continue
		}
		_, err := s.opts.Records.Record(id)
		if err != nil && memory.CodeOf(err) == memory.CodeNotFound {
			return id, at, nil
		}
		s.places.free(id)
		if err != nil {
			return "", at, err
		}
	}
}
