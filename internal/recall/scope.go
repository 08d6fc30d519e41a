package recall

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/internal/memory"
)

// Sessions holds the sessions of the corpus and their steps in order of time.
type Sessions interface {
	// Sessions returns the sessions that pass a filter, newest first.
	Sessions(project string, f memory.SessionFilter) []memory.Session
	// Session returns one, with the number of its steps.
	Session(project, id string) (s memory.Session, steps int, known bool)
	// LastSteps returns the ids of the newest n steps of some sessions, newest
	// first; nil sessions are all of the project, an empty screen is any.
	LastSteps(project string, sessions []string, screen string, n int) []string
	// SessionSteps returns the ids of a session's steps, oldest first.
	SessionSteps(project, id string) []string
	// Fingerprinted returns the lessons and steps of a selection that tell of
	// one of the errors.
	Fingerprinted(fingerprints []string, sel memory.Selection) []memory.Candidate
}

// Current knows the session that a caller has open.
type Current interface {
	// CurrentSession returns the caller's open session of a project. CodeInvalidInput,
	// caused by memory.ErrSeveralSessions, when several could be meant.
	CurrentSession(project string, caller memory.Caller) (s memory.Session, open bool, err error)
}

// session returns the id of the session that a scope means, empty for all of
// the project. It returns CodeNotFound for an unknown one, and CodeInvalidInput
// for the current one where none is open.
func (s *Service) session(scope *memory.Scope, project string, caller memory.Caller) (string, error) {
	switch {
	case scope == nil || *scope == (memory.Scope{}) || scope.Name == memory.ScopeAll:
		return "", nil
	case scope.Session != "":
		// While it is loading, the shelf knows none.
		if !s.sessionKnown(project, scope.Session) && s.ready() == nil {
			return "", noSession(scope.Session)
		}
		return scope.Session, nil
	}
	if id := s.ownSession(project, caller); id != "" {
		return id, nil
	}
	if s.opts.Current != nil {
		open, ok, err := s.opts.Current.CurrentSession(project, caller)
		if err != nil {
			return "", scopeError(err)
		}
		if ok {
			return open.ID, nil
		}
	}
	return "", &memory.Error{
		Code: memory.CodeInvalidInput, Field: "scope", Message: "no session of yours is open",
		Hint: `start one, or ask with the scope "all" or {"sessionId": "…"}`,
	}
}

// scopeError is an error of finding the current session, as one of the scope that
// asks for it.
func scopeError(err error) error {
	e, ok := errors.AsType[*memory.Error](err)
	if !ok || e.Field != "sessionId" {
		return fmt.Errorf("find current session: %w", err)
	}
	own := *e
	own.Field, own.Hint = "scope", `ask with {"sessionId": "…"}, or with the scope "all"`
	return &own
}

// ownSession returns the session that the caller says it has, if it is an open one
// of this project: a caller that looks into another project has none there, and
// what has ended is not current.
func (s *Service) ownSession(project string, caller memory.Caller) string {
	if caller.Session == "" {
		return ""
	}
	own, _, known := s.opts.Sessions.Session(project, caller.Session)
	if !known || !own.Open() {
		return ""
	}
	return own.ID
}

func (s *Service) sessionKnown(project, id string) bool {
	_, _, known := s.opts.Sessions.Session(project, id)
	return known
}

// ready returns CodeUnavailable as long as the corpus is loading.
func (s *Service) ready() error {
	if slices.ContainsFunc(s.opts.Corpus.Sources(), func(src index.Source) bool { return src.Retriever != nil }) {
		return nil
	}
	return &memory.Error{Code: memory.CodeUnavailable, Message: "the memory is still loading", Hint: "ask again in a moment"}
}

// repos returns all names of the repository that a question names by one of them:
// worktrees and clones share its lessons under every name that they have had. A
// name that several projects have, or that lessons alone have, stands for itself. It
// returns CodeNotFound, with near names, for one that nothing has ever had.
func (s *Service) repos(ctx context.Context, name string, own memory.Project, sel memory.Selection) ([]string, error) {
	if name == "" {
		return nil, nil
	}
	if slices.Contains(own.Names, name) {
		return own.Names, nil
	}
	p, _, err := s.opts.Projects.Resolve(ctx, name, memory.Caller{})
	if err == nil && slices.Contains(p.Names, name) {
		return p.Names, nil
	}
	// What is loading, or has lost something, does not know what there was.
	if memory.CodeOf(err) == memory.CodeConflict && err != nil || s.opts.Corpus.Repo(name) || s.ready() != nil || s.opts.Lost() != nil {
		return []string{name}, nil
	}
	names := slices.Concat(own.Names, s.opts.Names(), s.opts.Corpus.Repos(sel))
	return nil, &memory.Error{
		Code: memory.CodeNotFound, Field: "repo", Message: "no repository is called " + memory.Quote(name), Hint: memory.NearNames(name, names),
	}
}

// historyScope is where a question about history looks.
type historyScope struct {
	project string
	session string // empty for all
	filter  memory.SessionFilter
	// inside says that it is asked from the project, see memory.AsksFrom.
	inside bool
}

// scopeFor finds out where a validated request looks. A nil scope means all sessions, nil
// filters let all pass.
func (s *Service) scopeFor(ctx context.Context, name string, caller memory.Caller, scope *memory.Scope, filters *memory.StepFilters) (historyScope, error) {
	if err := s.ready(); err != nil {
		return historyScope{}, err
	}
	project, _, err := s.opts.Projects.Resolve(ctx, name, caller)
	if err != nil {
		return historyScope{}, err
	}
	p := historyScope{
		project: project.ID, filter: sessionFilter(filters, s.opts.Clock()),
		inside: memory.AsksFrom(ctx, s.opts.Projects, project.ID, name, caller),
	}
	if p.session, err = s.session(scope, project.ID, caller); err != nil || p.inside || p.session == "" {
		return p, err
	}
	if x, _, _ := s.opts.Sessions.Session(p.project, p.session); x.Provenance.Followed() {
		return p, noSession(p.session)
	}
	return p, nil
}

// sessionFilter returns what the filters of a request mean at a time.
func sessionFilter(f *memory.StepFilters, now time.Time) memory.SessionFilter {
	if f == nil {
		return memory.SessionFilter{}
	}
	value := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	filter := memory.SessionFilter{
		FlowTag: value(f.FlowTag), Tag: value(f.Tag), GitBranch: value(f.GitBranch), Screen: value(f.Screen),
	}
	if f.SinceHours != nil {
		filter.Since = now.Add(-time.Duration(*f.SinceHours) * time.Hour)
	}
	return filter
}

// noSession is the error for a session that the project does not have, or not for a
// caller from elsewhere.
func noSession(id string) error {
	return &memory.Error{
		Code: memory.CodeNotFound, Field: "scope.sessionId",
		Message: fmt.Sprintf("the project has no session %q", id),
		Hint:    "list the sessions to see those that there are",
	}
}

// listed returns the sessions that a place has left, newest first, whatever session it
// names.
func (s *Service) listed(p historyScope) []memory.Session {
	list := s.opts.Sessions.Sessions(p.project, p.filter)
	if p.inside {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(x memory.Session) bool { return x.Provenance.Followed() })
}

// sessions returns the ids of the sessions that a place has left, nil for all of
// the project.
func (s *Service) sessions(p historyScope) []string {
	switch {
	case p.filter.IsZero() && p.session == "" && p.inside:
		return nil
	case p.filter.IsZero() && p.session != "":
		return []string{p.session}
	}
	ids := []string{}
	for _, session := range s.listed(p) {
		if p.session == "" || session.ID == p.session {
			ids = append(ids, session.ID)
		}
	}
	return ids
}
