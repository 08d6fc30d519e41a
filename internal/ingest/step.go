package ingest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/fingerprint"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/steptext"
)

// The bounds of a step's errors.
const (
	maxStepErrors = 8
	// maxErrorSource bounds the part of a failed step's observation that is searched for
	// errors, in bytes.
	maxErrorSource = 16 << 10
)

// RecordStep stores a step. The caller adds the folder of its file, and the advice.
func (s *Service) RecordStep(ctx context.Context, req memory.RecordStepRequest) (*memory.StepRecorded, error) {
	if err := memory.Check(&req); err != nil {
		return nil, err
	}
	if err := memory.NotAhead("timestamp", req.Timestamp, s.now()); err != nil {
		return nil, err
	}
	project, _, err := s.opts.Projects.Resolve(ctx, req.Project, req.Caller)
	if err != nil {
		return nil, err
	}
	c := s.newCleaner()
	c.echo = s.opts.QuoteFilter
	c.while(ctx)
	content := memory.StepContent{
		Tool: req.Tool, Outcome: req.Outcome, Observation: req.Observation, Environment: req.Environment,
		DurationMs: req.DurationMs, Screenshot: req.Screenshot,
	}
	s.complete(&content, c)
	if c.gone != nil {
		return nil, c.gone
	}
	w := stepWrite{s, req, project, content}
	r, done, err := w.write(ctx)
	if err != nil {
		return nil, err
	}
	if !done.Repeated {
		session := memory.SessionKey{Project: r.Project, ID: r.Session}
		s.failures.put(session, s.now(), content.Fingerprints, 0)
		s.touched.put(session, s.now(), touchedFile(steptext.Target(content.Tool.Target)), maxTouchedPaths)
	}
	labels := r.Step.Labels
	if labels == nil {
		labels = []string{}
	}
	return &memory.StepRecorded{
		ID: r.ID, SessionID: r.Session, Project: r.Project, Timestamp: r.Created, Labels: labels, Redacted: c.n > 0, Seq: done.Seq,
		Repeated: done.Repeated,
	}, nil
}

// stepWrite is one call of RecordStep, cleaned.
type stepWrite struct {
	s       *Service
	req     memory.RecordStepRequest
	project memory.Project
	content memory.StepContent
}

// write finds the step's session, or opens it, and writes the step. For a request
// that was done before it returns the step that was written then.
func (w *stepWrite) write(ctx context.Context) (memory.Record, memory.Committed, error) {
	w.s.forgetting.RLock()
	defer w.s.forgetting.RUnlock()
	session, opened, err := w.session(ctx)
	if err != nil {
		done, err := w.s.repeated(ctx, w.project, w.req.RequestID, err)
		if err != nil {
			return memory.Record{}, done, err
		}
		return w.before(done)
	}
	id, at, err := w.s.assignStepID(session.Key(), w.content.Tool.Name, w.req.Timestamp)
	if err != nil {
		return memory.Record{}, memory.Committed{}, fmt.Errorf("name step: %w", err)
	}
	defer w.s.stepIDs.release(id)
	r := stepRecord(id, w.project, session, at, w.content)
	setStepText(&r, session)
	r.Provenance = w.s.told(w.req.Caller, "")
	r.Provenance.Session = session.ID
	b := memory.Batch{RequestID: w.req.RequestID, Subject: w.project.ID, Records: []memory.Record{r}}
	if w.req.Open {
		known := recognise(session, w.content)
		if w.req.Caller.Window != "" {
			known.Window, known.CreatedAt = w.req.Caller.Window, w.s.now()
		}
		if resume(&session, known) || opened {
			b.Sessions = []memory.Session{session}
			b.MergeSession = func(old, new memory.Session) (memory.Session, error) {
				if old.Bare { // as StartSession does
					return new, nil
				}
				if old.Open() {
					resume(&old, known)
				}
				return old, nil
			}
		}
	}
	if opened {
		b.DropTombstones = []string{sessionTombstone(w.project.ID, session.ID)}
	}
	if err := w.s.addProject(&b, w.project); err != nil {
		return memory.Record{}, memory.Committed{}, err
	}
	done, err := w.s.commit(ctx, b, []memory.Document{{ID: r.Doc, Text: r.Text}})
	if err == nil && done.Repeated {
		return w.before(done)
	}
	return r, done, err
}

// before returns the step that the request wrote before. A former version, which kept no sum,
// may have done another one under the id.
func (w *stepWrite) before(done memory.Committed) (memory.Record, memory.Committed, error) {
	if len(done.Put) == 0 {
		return memory.Record{}, done, memory.OtherRequest()
	}
	r, err := w.s.opts.Records.Record(done.Put[len(done.Put)-1])
	if err == nil && r.Step == nil {
		err = memory.OtherRequest()
	}
	return r, done, err
}

// session finds the session that the step is of, or the one that it opens.
func (w *stepWrite) session(ctx context.Context) (session memory.Session, opened bool, err error) {
	caller := w.req.Caller
	session, err = w.s.FindSession(w.project.ID, w.req.SessionID, caller)
	id := cmp.Or(w.req.SessionID, caller.Session)
	unknown := memory.CodeOf(err) == memory.CodeNotFound
	if w.req.Open && id != "" && (unknown || err == nil && session.Bare) {
		if err := memory.ValidSessionID("sessionId", id); err != nil {
			return session, false, err
		}
		at := w.s.now()
		if t := w.req.Timestamp; !t.IsZero() && t.Before(at) {
			at = t.UTC().Truncate(time.Millisecond)
		}
		return memory.Session{
			ID: id, Project: w.project.ID, Client: w.s.client(caller), Window: caller.Window, Hooked: caller.Hook, CreatedAt: at, Git: w.s.git(ctx, w.project.ID, caller),
		}, true, nil
	}
	if err != nil {
		return session, false, err
	}
	if !session.EndedAt.IsZero() {
		return session, false, &memory.Error{Code: memory.CodeConflict, Field: "sessionId",
			Message: fmt.Sprintf("session %s has ended", memory.Quote(session.ID)), Hint: "open another one with session_start"}
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
	content.Git, content.Extra = c.git(content.Git), c.extra(content.Extra)
	if e := content.Outcome.Error; e != nil {
		clean := *e
		c.text(&clean.Code, memory.MaxNameText)
		c.text(&clean.Message, memory.MaxErrorText)
		clean.Message, _ = c.echo.mark(clean.Message)
		clean.Details = c.json(clean.Details)
		content.Outcome.Error = &clean
	}
	if content.Labels = c.list(content.Labels); len(content.Labels) == 0 {
		content.Labels = s.opts.Labels(content.Tool.Name, steptext.Target(content.Tool.Target), !content.Outcome.OK)
	}
	content.Screen = screenOf(content.Observation)
	content.Fingerprints = nil
	if !content.Outcome.OK {
		content.Fingerprints = stepErrors(*content)
	}
}

// stepErrors returns the fingerprints of a step's errors: from its error first, then from
// its observation, which holds the error of a command.
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

// allText returns the strings of a JSON value, each on lines of its own. Of more than
// maxErrorSource it is what stands at the ends of the longest, where the errors of a long output
// are, and of all of them if they are many.
func allText(raw json.RawMessage) string {
	var texts []string
	var sizes []int
	for s := range steptext.Scalars(raw) {
		if s.Kind == steptext.ScalarText || s.Kind == steptext.ScalarKey {
			texts = append(texts, s.Text)
			sizes = append(sizes, len(s.Text)+len("\n"))
		}
	}
	most := max(fairShare(sizes, maxErrorSource), maxErrorSource/16)
	for i, text := range texts {
		texts[i] = endsOf(text, most)
	}
	return endsOf(strings.Join(texts, "\n"), maxErrorSource)
}

// fairShare is the size to which the largest are cut so that all have room.
func fairShare(sizes []int, room int) int {
	slices.Sort(sizes)
	left := room
	for i, n := range sizes {
		if share := left / (len(sizes) - i); n > share {
			return share
		}
		left -= n
	}
	return room
}

// endsOf returns a text of at most most bytes whole, and of another the lines at both ends that
// have room in half of it each; of a line that has not, its beginning or end.
func endsOf(text string, most int) string {
	if len(text) <= most {
		return text
	}
	head, tail := text[:most/2], text[len(text)-most/2:]
	if i := strings.LastIndexByte(head, '\n'); i >= 0 {
		head = head[:i]
	}
	if i := strings.IndexByte(tail, '\n'); i >= 0 {
		tail = tail[i+1:]
	}
	return strings.ToValidUTF8(head, "") + "\n" + strings.ToValidUTF8(tail, "")
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

// stepID makes an id from the parts of a step's file name, so that a step read from our own
// file has the id of the written one.
func stepID(session memory.SessionKey, at time.Time, tool string) string {
	return memory.RecordID("s", session.Project, session.ID, strconv.FormatInt(at.UnixMilli(), 10), tool)
}

// stepRecord makes the record of a step without the text that it is searched by.
func stepRecord(id string, project memory.Project, session memory.Session, at time.Time, content memory.StepContent) memory.Record {
	return memory.Record{
		ID: id, Kind: memory.Step, Project: project.ID, Repo: project.Name, Session: session.ID, Created: at, Step: &content,
	}
}

func setStepText(r *memory.Record, session memory.Session) {
	r.Text = steptext.Text(*r, session)
	r.Doc = memory.DocumentID(r.Text)
}
