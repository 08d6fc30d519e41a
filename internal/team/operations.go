package team

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// maxClock is how far the clocks may differ: times order what members say.
const maxClock = 5 * time.Minute

// Join connects to a team's server and keeps the membership. Nothing is shared until Share
// names a project. CodeConflict says that there is a team already.
func (s *Service) Join(ctx context.Context, req memory.TeamJoinRequest) (*memory.TeamState, error) {
	if err := memory.Check(&req); err != nil {
		return nil, err
	}
	if s.joined() {
		return nil, alreadyJoined()
	}
	c, err := connect(ctx, req.URL)
	if err != nil {
		return nil, err
	}
	defer c.close()
	allowed, err := c.projects(ctx)
	if err != nil {
		return nil, err
	}
	ahead, err := c.clock(ctx)
	if err != nil {
		return nil, err
	}
	if ahead.Abs() > maxClock {
		return nil, &memory.Error{Code: memory.CodeConflict, Message: fmt.Sprintf("the clocks of this machine and of the team's server differ by %s", ahead.Abs().Round(time.Second)), Hint: "set the clock; times order what members say"}
	}
	s.mu.Lock()
	if s.member != nil { // meanwhile
		s.mu.Unlock()
		return nil, alreadyJoined()
	}
	m := &membership{URL: req.URL}
	if err := m.write(s.opts.Path); err != nil {
		s.mu.Unlock()
		return nil, err
	}
	s.member, s.state = m, memory.TeamState{Connected: true, SyncedAt: time.Now().UTC(), Allowed: allowed}
	s.mu.Unlock()
	signal(s.again)
	return s.State(ctx, service.None{})
}

// joined says that there is a membership, also if its file cannot be read.
func (s *Service) joined() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.member != nil || s.damaged != nil
}

func alreadyJoined() error {
	return &memory.Error{Code: memory.CodeConflict, Field: "url", Message: "you are in a team already", Hint: "run 'recalld team leave' first"}
}

// Leave ends the membership. What the user shared is taken back from the server first, unless
// the membership's file is damaged or the user leaves by force. While that is not possible, the
// error is that of the server, and its hint says how to leave all the same. What the team shared
// stays here.
func (s *Service) Leave(ctx context.Context, req memory.TeamLeaveRequest) (*memory.TeamState, error) {
	s.exchanging.Lock()
	defer s.exchanging.Unlock()
	s.mu.Lock()
	m, damaged := s.member, s.damaged
	var list []project
	url := ""
	if m != nil {
		list, url = slices.Clone(m.Projects), m.URL
	}
	s.mu.Unlock()
	if m == nil && damaged == nil {
		return nil, notJoined()
	}
	if len(list) > 0 && !req.Force {
		if err := s.takeAllBack(ctx, url, list); err != nil {
			return nil, notTakenBack(err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := removeMembership(s.opts.Path); err != nil {
		return nil, err
	}
	s.member, s.damaged, s.state = nil, nil, memory.TeamState{}
	clear(s.exchanged)
	clear(s.dirty)
	signal(s.again)
	return &memory.TeamState{Projects: []memory.TeamProject{}}, nil
}

// takeAllBack takes back what the user shares. A server that knows neither the user nor the
// team any more has nothing to be taken back from.
func (s *Service) takeAllBack(ctx context.Context, url string, list []project) error {
	c, err := connect(ctx, url)
	if memory.CodeOf(err) == memory.CodeNotFound || noSuchRole(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer c.close()
	for _, p := range list {
		p.Leaving = true
		if err := s.send(ctx, c, p, false); err != nil {
			return err
		}
	}
	return nil
}

// noSuchRole says that the server has no such role any more. Where it asks for passwords it does
// not tell that from a wrong one.
func noSuchRole(err error) bool {
	refused, ok := errors.AsType[*pgconn.PgError](err)
	return ok && refused.Code == "28000" && strings.HasSuffix(refused.Message, "does not exist")
}

// notTakenBack says that the user is still in the team, and how to leave it all the same: the
// server may be gone for good, or the operator has removed the member.
func notTakenBack(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	e := memory.AsError(err)
	hint := "run 'recalld team leave --force' to leave and let it stay there"
	switch e.Code {
	case memory.CodeForbidden:
		hint = e.Hint + "; " + hint
	case memory.CodeUnavailable:
		hint = "try again when the server answers; " + hint
	}
	return &memory.Error{Code: e.Code, Message: "what you shared cannot be taken back: " + e.Message, Hint: hint, Cause: err}
}

func notJoined() error {
	return &memory.Error{Code: memory.CodeNotFound, Message: "you are in no team", Hint: "run 'recalld team join URL'; the operator of the team has the URL"}
}

// Share shares the lessons of a project from now on, or takes them back. Both are carried
// out in the background.
func (s *Service) Share(ctx context.Context, req memory.TeamShareRequest) (*memory.TeamState, error) {
	if err := memory.Check(&req); err != nil {
		return nil, err
	}
	found, known, err := s.opts.Projects.Resolve(ctx, req.Project, req.Caller)
	if err != nil {
		return nil, err
	}
	if !s.joined() {
		return nil, notJoined()
	}
	if !known && !req.Stop && cmp.Or(req.As, found.Remote) != "" { // lessons of others come before the first of one's own
		if _, err := s.opts.Taker.Write(ctx, found, memory.Batch{Action: "share project", Detail: map[string]string{"project": found.ID}}); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	if err = notJoined(); s.member != nil {
		err = s.change(found, req)
	}
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	signal(s.wake)
	return s.State(ctx, service.None{})
}

// change is called with mu held.
func (s *Service) change(found memory.Project, req memory.TeamShareRequest) error {
	p := s.member.find(found.ID)
	if req.Stop {
		if p == nil || p.Leaving {
			return memory.Errorf(memory.CodeNotFound, "the project %s is not shared", memory.ProjectLabel(found.Name, found.ID))
		}
		p.Leaving = true
		return s.member.write(s.opts.Path)
	}
	name := cmp.Or(req.As, found.Remote)
	switch {
	case name == "" || name == "*":
		return &memory.Error{Code: memory.CodeInvalidInput, Field: "as", Message: "the repository has no remote by which the team could know it", Hint: "name it with --as NAME, the same for all members"}
	case p != nil && p.Name == name:
		p.Leaving = false
	case p != nil:
		return &memory.Error{Code: memory.CodeConflict, Field: "as", Message: "the project is shared as " + memory.Quote(p.Name) + " already", Hint: "run 'recalld team unshare' first"}
	case slices.ContainsFunc(s.member.Projects, func(x project) bool { return x.Name == name }):
		return &memory.Error{Code: memory.CodeConflict, Field: "as", Message: "another project is shared as " + memory.Quote(name) + " already", Hint: "give this one another name with --as"}
	default:
		s.member.Projects = append(s.member.Projects, project{ID: found.ID, Name: name})
	}
	s.dirty[found.ID] = true
	return s.member.write(s.opts.Path)
}

// State says who the user is in which team, and what is shared.
func (s *Service) State(context.Context, service.None) (*memory.TeamState, error) {
	names := map[string]string{}
	if known, err := s.opts.Store.Projects(); err == nil {
		for _, p := range known {
			names[p.ID] = p.Name
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.state
	out.Summaries, out.Projects = s.opts.Summaries, []memory.TeamProject{}
	if s.damaged != nil {
		out.LastError = memory.AsError(s.damaged).Message
	}
	if s.member == nil {
		return &out, nil
	}
	if config, err := settings(s.member.URL); err == nil {
		c := config.ConnConfig
		out.Member, out.Server = c.User, fmt.Sprintf("%s:%d/%s", c.Host, c.Port, c.Database)
	}
	for _, p := range s.member.Projects {
		x := s.exchanged[p.ID]
		if p.Leaving {
			x.problem = "no longer shared: it is taken back when the server answers"
		}
		out.Projects = append(out.Projects, memory.TeamProject{
			Project: p.ID, ProjectName: names[p.ID], TeamName: p.Name, Shared: x.own, Received: x.received, Summaries: x.summaries, Problem: x.problem,
		})
	}
	return &out, nil
}
