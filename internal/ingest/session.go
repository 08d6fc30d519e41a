package ingest

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/steptext"
)

// errAsItIs refuses a write of a session that would not change it.
var errAsItIs = errors.New("the session stays as it is")

// StartSession opens a session. The caller adds the number of its steps and the folder of
// its files.
func (s *Service) StartSession(ctx context.Context, req memory.StartSessionRequest) (*memory.SessionState, error) {
	if err := memory.Check(&req); err != nil {
		return nil, err
	}
	if err := s.checkFlowTags(req.FlowTags); err != nil {
		return nil, err
	}
	project, _, err := s.opts.Projects.Resolve(ctx, req.Project, req.Caller)
	if err != nil {
		return nil, err
	}
	git := s.git(ctx, project.ID, req.Caller)
	s.forgetting.RLock()
	defer s.forgetting.RUnlock()
	c := s.newCleaner()
	c.text(&req.Goal, memory.MaxGoalText)
	session := memory.Session{
		ID: req.SessionID, Project: project.ID, Client: s.client(req.Caller), Window: req.Caller.Window, Hooked: req.Caller.Hook, CreatedAt: s.now(),
		Goal: req.Goal, FlowTags: union(nil, req.FlowTags, memory.MaxTags), Tags: c.list(req.Tags),
		Build: c.json(req.Build), Launch: c.json(req.Launch), Screenshots: req.Screenshots, Git: git,
	}
	if session.ID == "" {
		session.ID = newSessionID(session.CreatedAt)
	}
	if req.Resume && git != nil {
		session.Tags = union(session.Tags, tagOf(git.Branch), memory.MaxTags)
	}
	merge := refuseTaken
	if req.Resume {
		if known, err := s.opts.Sessions.Session(project.ID, session.ID); err == nil && known.Open() && known.Client == session.Client && !resume(&known, session) {
			if _, err := s.repeated(ctx, project, req.RequestID, errAsItIs); memory.CodeOf(err) == memory.CodeConflict {
				return nil, err // the id is another request's
			}
			return &memory.SessionState{Session: known, ProjectName: project.Name}, nil // as it is
		}
		merge = func(old, new memory.Session) (memory.Session, error) {
			if old.Open() && old.Client == new.Client {
				resume(&old, new)
				session = old
				return old, nil
			}
			return refuseTaken(old, new)
		}
	}
	b := memory.Batch{
		RequestID: req.RequestID, Subject: project.ID, Sessions: []memory.Session{session}, MergeSession: merge,
		DropTombstones: []string{sessionTombstone(project.ID, session.ID)},
		Action:         "start session", Detail: map[string]string{"session": session.ID, "project": project.ID},
	}
	if err := s.addProject(&b, project); err != nil {
		return nil, err
	}
	done, err := s.opts.Committer.Commit(ctx, b)
	if err != nil {
		return nil, err
	}
	if done.Repeated {
		return s.answered(project, done)
	}
	return &memory.SessionState{Session: session, ProjectName: project.Name, Redacted: c.n > 0, Seq: done.Seq}, nil
}

// EndSession ends a session; ending it again is a no-op.
func (s *Service) EndSession(ctx context.Context, req memory.EndSessionRequest) (*memory.SessionState, error) {
	if err := memory.Check(&req); err != nil {
		return nil, err
	}
	project, _, err := s.opts.Projects.Resolve(ctx, req.Project, req.Caller)
	if err != nil {
		return nil, err
	}
	s.forgetting.RLock()
	defer s.forgetting.RUnlock()
	session, err := s.FindSession(project.ID, req.SessionID, req.Caller)
	if err != nil {
		// A repeated request may not find the session that it ended.
		done, err := s.repeated(ctx, project, req.RequestID, err)
		if err != nil {
			return nil, err
		}
		return s.answered(project, done)
	}
	end := func(x memory.Session) memory.Session {
		if x.EndedAt.IsZero() {
			x.EndedAt = s.now()
		}
		return x
	}
	kept := end(session)
	done, err := s.opts.Committer.Commit(ctx, memory.Batch{
		RequestID: req.RequestID, Subject: project.ID, Sessions: []memory.Session{kept},
		MergeSession: func(old, _ memory.Session) (memory.Session, error) {
			kept = end(old)
			return kept, nil
		},
		Action: "end session", Detail: map[string]string{"session": session.ID, "project": project.ID},
	})
	if err != nil {
		return nil, err
	}
	if done.Repeated {
		return s.answered(project, done)
	}
	return &memory.SessionState{Session: kept, ProjectName: project.Name, Seq: done.Seq}, nil
}

// checkFlowTags refuses tags outside the vocabulary.
func (s *Service) checkFlowTags(tags []string) error {
	for i, tag := range tags {
		if !slices.Contains(s.opts.FlowTags, tag) {
			e := memory.Invalid(fmt.Sprintf("flowTags[%d]", i), strings.Join(s.opts.FlowTags, ", "), "%s is not in the vocabulary", memory.Quote(tag))
			e.Hint = "tags are free, and sessions.flow_tags in the settings holds the vocabulary"
			return e
		}
	}
	return nil
}

// git describes the repository of the caller's folder, if it is the project's.
func (s *Service) git(ctx context.Context, project string, caller memory.Caller) *memory.Git {
	if caller.Dir == "" {
		return nil
	}
	if own, _, err := s.opts.Projects.Resolve(ctx, "", caller); err != nil || own.ID != project {
		return nil
	}
	return s.newCleaner().git(s.opts.Git(caller.Dir))
}

// client returns the redacted name of the calling program: callers choose it freely.
func (s *Service) client(caller memory.Caller) string {
	s.newCleaner().text(&caller.Client, memory.MaxNameText)
	return caller.Client
}

// resume adds newer metadata to an open session, and says whether that changed it. In
// another window the session starts again.
func resume(old *memory.Session, now memory.Session) (changed bool) {
	if now.Goal != "" && now.Goal != old.Goal && (old.Goal == "" || old.Derived) {
		old.Goal, old.Derived, changed = now.Goal, now.Derived, true
	}
	if tags := union(old.Tags, now.Tags, memory.MaxTags); len(tags) > len(old.Tags) {
		old.Tags, changed = tags, true
	}
	if now.Window != "" && now.Window != old.Window {
		old.Window, old.ResumedAt, changed = now.Window, now.CreatedAt, true
	}
	return changed
}

// maxToolTags bounds the tags of tools that a session of hooks gets.
const maxToolTags = 8

// tagOf returns a text as a list of one tag, or nil if it is no valid tag.
func tagOf(text string) []string {
	if text == "" || utf8.RuneCountInString(text) > memory.MaxTagText {
		return nil
	}
	return []string{text}
}

// toolTag is the tag of a tool: its name, or the server of one over MCP, as clients
// name it (mcp__server__tool).
func toolTag(name string) []string {
	if rest, ok := strings.CutPrefix(name, "mcp__"); ok {
		name, _, _ = strings.Cut(rest, "__")
	}
	return tagOf(name)
}

// maxTitle bounds the goal that a session gets of its first step, in characters.
const maxTitle = 120

// recognise fills in metadata by which a person recognises a session of hooks: the tools that
// it used, and a title if no prompt gave one. It returns only what the session lacks.
func recognise(session memory.Session, step memory.StepContent) memory.Session {
	known := memory.Session{Window: session.Window, CreatedAt: session.CreatedAt, Hooked: session.Hooked}
	if len(session.Tags) <= maxToolTags {
		known.Tags = toolTag(step.Tool.Name)
	}
	if session.Goal == "" || session.Derived {
		known.Goal, known.Derived = derivedTitle(session, step), true
	}
	return known
}

// maxTitleFiles bounds the files that a title names.
const maxTitleFiles = 3

// derivedTitle is the title of a session without one: its branch and the files that it
// edited first, or its first step as long as it has edited none.
func derivedTitle(session memory.Session, step memory.StepContent) string {
	before := "edited "
	if session.Git != nil && session.Git.Branch != "" {
		before = session.Git.Branch + ": "
	}
	title := session.Goal
	if file := steptext.Edited(step.Tool); file != "" && step.Outcome.OK {
		files, edits := strings.CutPrefix(session.Goal, before)
		if !edits || !session.Derived {
			title = before + file
		} else if list := strings.Split(files, ", "); len(list) < maxTitleFiles && !slices.Contains(list, file) {
			title += ", " + file
		}
	} else if title == "" {
		title = step.Tool.Name
		if target := steptext.Target(step.Tool.Target); target != "" {
			title += " " + target
		} else if text := commandOf(step.Tool.Input); text != "" {
			title += ": " + text
		}
		title, _, _ = strings.Cut(title, "\n")
	}
	return steptext.Cut(title, maxTitle)
}

// commandOf is the command of a tool's input, if it has one.
func commandOf(input json.RawMessage) string {
	var in struct {
		Command string `json:"command"`
	}
	if json.Unmarshal(input, &in) != nil {
		return ""
	}
	return in.Command
}

// refuseTaken allows a session to begin under an id that is free or has only steps.
func refuseTaken(old, new memory.Session) (memory.Session, error) {
	if old.Bare {
		return new, nil
	}
	return old, &memory.Error{Code: memory.CodeConflict, Field: "sessionId",
		Message: fmt.Sprintf("there is a session %s already", memory.Quote(old.ID)), Hint: "leave sessionId out to get a new one"}
}

// newSessionID makes an id of the day and 30 random bits: people can tell such ids apart,
// and a collision within a project and a day is very unlikely.
func newSessionID(now time.Time) string {
	return "mm-" + now.Format("20060102") + "-" + strings.ToLower(rand.Text()[:6])
}

// currentSession returns the caller's open session; see store.Store.CurrentSession.
func (s *Service) currentSession(project string, caller memory.Caller) (memory.Session, bool, error) {
	caller.Client = s.client(caller)
	session, ok, err := s.opts.Sessions.CurrentSession(project, caller)
	if err != nil {
		err = fmt.Errorf("find current session: %w", err)
	}
	return session, ok, err
}

// FindSession returns the session with an id, or the caller's current one. It returns
// CodeNotFound for an unknown id, and CodeInvalidInput if no session is open or several
// match.
func (s *Service) FindSession(project, id string, caller memory.Caller) (memory.Session, error) {
	if id = cmp.Or(id, caller.Session); id == "" {
		session, ok, err := s.currentSession(project, caller)
		if err != nil {
			return session, err
		}
		if !ok {
			e := memory.Invalid("sessionId", "", "no session of yours is open")
			e.Hint = "open one with session_start, or name one"
			return session, e
		}
		return session, nil
	}
	session, err := s.opts.Sessions.Session(project, id)
	if memory.CodeOf(err) == memory.CodeNotFound {
		return session, &memory.Error{Code: memory.CodeNotFound, Field: "sessionId",
			Message: "this project has no session " + memory.Quote(id), Hint: "open it with session_start"}
	}
	return session, err
}

// answered returns the result of a request that was done before. A former version, which
// kept no sum, may have done another one under the id.
func (s *Service) answered(project memory.Project, done memory.Committed) (*memory.SessionState, error) {
	if len(done.Put) == 0 {
		return nil, memory.OtherRequest()
	}
	session, err := s.opts.Sessions.Session(project.ID, done.Put[0])
	if memory.CodeOf(err) == memory.CodeNotFound {
		return nil, memory.OtherRequest()
	}
	if err != nil {
		return nil, err
	}
	return &memory.SessionState{Session: session, ProjectName: project.Name, Seq: done.Seq}, nil
}

// repeated returns the result of a request that was done before, or the error that refuses a new
// one, which may come again.
func (s *Service) repeated(ctx context.Context, project memory.Project, requestID string, refused error) (memory.Committed, error) {
	if requestID == "" {
		return memory.Committed{}, refused
	}
	return s.opts.Committer.Commit(ctx, memory.Batch{RequestID: requestID, Subject: project.ID, Refused: refused})
}
