package agentimport

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/recalld/recalld/internal/hook"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/source/agentlog"
)

// batchSteps is how many steps are imported at once.
const batchSteps = 500

// errLive ends the reading of a session that hooks recorded while it ran.
var errLive = errors.New("the session was recorded while it ran")

// leftOut says why a whole log is left out. dir is its folder, if that is gone.
type leftOut struct {
	error
	dir string
}

// taking takes one log in.
type taking struct {
	*importer
	log     agentlog.Log
	project memory.Project
	source  *memory.AgentSource
	session memory.Session
	steps   []memory.Record
	lessons []memory.LogLine
	fixes   fixes
	last    time.Time // of the last step
	failed  bool      // the error is of the write path
}

// call takes one call in.
func (t *taking) call(s agentlog.Session, c agentlog.Call) error {
	if t.source == nil {
		s.Started = t.past(s.Started, c.At)
		if err := t.begin(s); err != nil {
			return err
		}
	}
	if s.Title != "" && t.session.Goal == "" {
		t.session.Goal = hook.Title(s.Title)
	}
	content, err := contentOf(s, c)
	if errors.Is(err, hook.ErrNothing) {
		return nil
	}
	if err != nil {
		t.problem(t.log, 0, fmt.Sprintf("call %s: %v", memory.Quote(c.ID), err))
		return nil
	}
	t.step(c, content)
	if len(t.steps) < batchSteps {
		return nil
	}
	return t.flush()
}

// past returns the first of the times that is known and not in the future, where only a wrong
// clock puts it. The log's own time counts, too: the daemon's clock may be the one that is behind.
func (t *taking) past(times ...time.Time) time.Time {
	now := t.s.opts.Clock()
	for _, at := range times {
		if !at.IsZero() && (!at.After(now.Add(memory.MaxAhead)) || !at.After(t.log.Changed)) {
			return at.UTC()
		}
	}
	return now.UTC()
}

// begin finds the project of a session.
func (t *taking) begin(s agentlog.Session) error {
	if err := memory.ValidSessionID("session", s.ID); err != nil {
		return &leftOut{error: err}
	}
	if s.Dir == "" {
		return &leftOut{error: errors.New("the log does not say in which folder the agent worked")}
	}
	p, err := t.importer.project(s.Dir)
	if gone := t.ctx.Err(); gone != nil { // it says nothing of the folder
		return t.fail(gone)
	}
	if err != nil {
		left := &leftOut{error: err}
		if missing(s.Dir) {
			left.dir = s.Dir
		}
		return left
	}
	if old, err := t.s.opts.Session(p.ID, s.ID); err == nil && !old.Imported && !old.Bare {
		return errLive
	}
	// Hooks gave its steps other ids than the log does, so their tombstones do not keep them out.
	forgotten, err := t.s.opts.Ingest.SessionForgotten(p.ID, s.ID)
	if err != nil {
		return t.fail(err)
	}
	if forgotten {
		return &leftOut{error: errors.New("the session was forgotten")}
	}
	t.project = p
	t.session = memory.Session{
		ID: s.ID, CreatedAt: s.Started, Tags: []string{t.log.Client}, Imported: true,
		Provenance: memory.Provenance{Origin: memory.OriginImported, Agent: t.log.Client, Path: t.log.Path()},
	}
	if s.Branch != "" && len(s.Branch) <= memory.MaxNameText {
		t.session.Git = &memory.Git{Branch: s.Branch}
	}
	key := [2]string{t.log.Client, s.Dir}
	if t.sources[key] == nil {
		t.sources[key] = &memory.AgentSource{Client: t.log.Client, Dir: s.Dir, Project: p.Name, Oldest: s.Started, Newest: s.Started}
	}
	t.source = t.sources[key]
	if session := [3]string{t.log.Client, s.Dir, s.ID}; !t.counted[session] { // its sub-agents have logs, too
		t.counted[session] = true
		t.source.Sessions++
	}
	return nil
}

// step adds a step, and the lesson that it completes. Its id follows from the call, so that
// a session which was forked from another does not bring its steps again.
func (t *taking) step(c agentlog.Call, content memory.StepContent) {
	at := c.At.UTC().Truncate(time.Millisecond)
	id := memory.RecordID("s", t.project.ID, t.log.Client, c.ID, strconv.FormatInt(at.UnixMilli(), 10), content.Tool.Name)
	at = t.past(at, t.last, t.session.CreatedAt)
	if !at.After(t.last) { // two steps of a session do not share a time
		at = t.last.Add(time.Millisecond)
	}
	t.last = at
	t.steps = append(t.steps, memory.Record{ID: id, Kind: memory.Step, Session: t.session.ID, Created: at, Step: &content})
	if at.Before(t.source.Oldest) {
		t.source.Oldest = at
	}
	if at.After(t.source.Newest) {
		t.source.Newest = at
	}
	if t.dry {
		if t.seen[id] {
			t.out.Known++
			t.steps = t.steps[:len(t.steps)-1]
		} else {
			t.seen[id] = true
			t.source.Steps++
		}
	}
	if learned := t.fixes.step(at, &content); learned != nil {
		t.source.Fixes++
		learned.Timestamp, learned.AgentID, learned.Repo = at, t.log.Client, t.project.Name
		learned.Hash = memory.DocumentID("history " + id)
		t.lessons = append(t.lessons, *learned)
	}
}

// flush writes what was read so far.
func (t *taking) flush() error {
	if t.source == nil || len(t.steps) == 0 {
		return nil
	}
	steps, lessons := t.steps, t.lessons
	t.steps, t.lessons = nil, nil
	if t.dry {
		return nil
	}
	t.session.EndedAt = t.last
	taken, err := t.s.opts.Ingest.ImportSession(t.ctx, t.project, t.session, steps)
	if err != nil {
		return t.fail(err)
	}
	t.out.Added += taken.Added
	t.out.Known += taken.Known + taken.Forgotten
	t.source.Steps += taken.Added
	for _, p := range taken.Problems {
		t.problem(t.log, 0, p.Err.Error())
	}
	from := memory.Provenance{Origin: memory.OriginHistory, Agent: t.log.Client, Session: t.session.ID}
	taken, err = t.s.opts.Ingest.ImportLessons(t.ctx, t.project, from, lessons)
	if err != nil {
		return t.fail(err)
	}
	t.out.Lessons += taken.Added
	return nil
}

// fail tells what is wrong with a session from what is wrong with the store.
func (t *taking) fail(err error) error {
	if memory.CodeOf(err) == memory.CodeInvalidInput {
		return &leftOut{error: err}
	}
	t.failed = true
	return err
}

// contentOf shortens a call as the client's hooks do, so that a step is the same whether
// it was recorded or imported.
func contentOf(s agentlog.Session, c agentlog.Call) (memory.StepContent, error) {
	payload := map[string]any{"session_id": s.ID, "cwd": s.Dir, "tool_name": c.Tool}
	if len(c.Input) > 0 && json.Valid(c.Input) {
		payload["tool_input"] = c.Input
	}
	event := "PostToolUse"
	switch {
	case c.Failed || c.Interrupted:
		event = "PostToolUseFailure"
		payload["error"], payload["is_interrupt"] = c.Error, c.Interrupted
	case len(c.Response) > 0 && len(c.Response) < hook.MaxPayload/2:
		payload["tool_response"] = c.Response
	}
	text, err := json.Marshal(payload)
	if err != nil {
		return memory.StepContent{}, err
	}
	r, err := hook.Parse("claude-code", event, text, hook.Environment{})
	if err != nil {
		return memory.StepContent{}, err
	}
	return memory.StepContent{Tool: r.Step.Tool, Outcome: r.Step.Outcome, Observation: r.Step.Observation, DurationMs: r.Step.DurationMs}, nil
}
