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

// Sessions holds the sessions of the corpus and their steps, ordered by time.
type Sessions interface {
	// Sessions returns the sessions that pass a filter, newest first.
	Sessions(project string, f memory.SessionFilter) []memory.Session
	// Session returns a session and its number of steps.
	Session(project, id string) (s memory.Session, steps int, known bool)
	// LastSteps returns the ids of the newest n steps of some sessions, newest first. Nil
	// sessions means all of the project; an empty screen means any.
	LastSteps(project string, sessions []string, screen string, n int) []string
	// SessionSteps returns the ids of a session's steps, oldest first.
	SessionSteps(project, id string) []string
	// Fingerprinted returns the lessons and steps of a selection that report one of the
	// errors.
	Fingerprinted(fingerprints []string, sel memory.Selection) []memory.Candidate
}

// Current finds a caller's open session.
type Current interface {
	// CurrentSession returns the caller's open session of a project. It returns
	// CodeInvalidInput, caused by memory.ErrSeveralSessions, if several match.
	CurrentSession(project string, caller memory.Caller) (s memory.Session, open bool, err error)
}

// session returns the id of a scope's session, "" for all of the project. It returns
// CodeNotFound for an unknown session, and CodeInvalidInput for the current one if none is
// open.
func (s *Service) session(scope *memory.Scope, project string, caller memory.Caller) (string, error) {
	switch {
	case scope == nil || *scope == (memory.Scope{}) || scope.Name == memory.ScopeAll:
		return "", nil
	case scope.Session != "":
		// A corpus that is still loading knows no sessions.
		if !s.sessionKnown(project, scope.Session) && s.ready() == nil {
			return "", noSession(scope.Session)
		}
		return scope.Session, nil
	}
	// A caller that asks about another project than its session's has none here.
	if own, _, known := s.opts.Sessions.Session(project, caller.Session); known && own.Open() {
		return own.ID, nil
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

// scopeError reports an error of finding the current session as an error of the scope.
func scopeError(err error) error {
	e, ok := errors.AsType[*memory.Error](err)
	if !ok || e.Field != "sessionId" {
		return fmt.Errorf("find current session: %w", err)
	}
	own := *e
	own.Field, own.Hint = "scope", `ask with {"sessionId": "…"}, or with the scope "all"`
	return &own
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

// repos returns all names of the repository that a question names: worktrees and clones
// share its lessons under every name that they have had. A name of several projects, or of
// lessons only, stands for itself. An unknown name is CodeNotFound, with similar names.
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
	// A corpus that is loading or has lost records does not know all names.
	if memory.CodeOf(err) == memory.CodeConflict || s.opts.Corpus.Repo(name) || s.ready() != nil || s.opts.Lost() != nil {
		return []string{name}, nil
	}
	names := slices.Concat(own.Names, s.opts.Names(), s.opts.Corpus.Repos(sel))
	return nil, &memory.Error{
		Code: memory.CodeNotFound, Field: "repo", Message: "no repository is called " + memory.Quote(name), Hint: memory.NearNames(name, names),
	}
}

// historyScope is the part of the history that a question searches.
type historyScope struct {
	project string
	session string // empty for all
	filter  memory.SessionFilter
	// inside says that the caller asks from the project, see memory.AsksFrom.
	inside bool
}

// scopeFor returns the scope of a validated request. A nil scope means all sessions; nil
// filters accept all.
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

// sessionFilter converts the filters of a request; ages are relative to now.
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

// noSession is the error for a session that the project does not have, or that the caller
// may not see.
func noSession(id string) error {
	return &memory.Error{
		Code: memory.CodeNotFound, Field: "scope.sessionId",
		Message: fmt.Sprintf("the project has no session %q", id),
		Hint:    "list the sessions to see those that there are",
	}
}

// listed returns the sessions that pass a scope's filter, newest first. It ignores the
// scope's session.
func (s *Service) listed(p historyScope) []memory.Session {
	list := s.opts.Sessions.Sessions(p.project, p.filter)
	if p.inside {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(x memory.Session) bool { return x.Provenance.Followed() })
}

// sessions returns the ids of the sessions in a scope; nil means all of the project.
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
