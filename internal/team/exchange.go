package team

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/ingest"
	"github.com/recalld/recalld/internal/memory"
)

// exchanged is what the last exchange of a project came to.
type exchanged struct {
	// own are the lessons that the user shares, received those of other members, and summaries
	// the session summaries that the user shares.
	own, received, summaries int
	// problem is why the project is not exchanged.
	problem string
	// refused says that the server did not let the member share it: what was said since is not sent.
	refused bool
}

// exchange sends what the server lacks of each shared project, and takes what it has anew.
func (s *Service) exchange(ctx context.Context, c *connection) error {
	s.exchanging.Lock()
	defer s.exchanging.Unlock()
	allowed, err := c.projects(ctx)
	if err != nil {
		return err
	}
	instance, err := c.instance(ctx)
	if err != nil {
		return err
	}
	known, err := s.opts.Store.Projects()
	if err != nil {
		return fmt.Errorf("list projects: %w", err)
	}
	for _, p := range s.projects() {
		if err := s.exchangeProject(ctx, c, p, allowed, instance, known); ofProject(err) {
			s.trouble(p, err)
		} else if err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.member != nil { // else the user has left
		s.state.Connected, s.state.LastError, s.state.SyncedAt, s.state.Allowed = true, "", time.Now().UTC(), allowed
	}
	return nil
}

// exchangeProject is exchange for one project.
func (s *Service) exchangeProject(ctx context.Context, c *connection, p project, allowed []string, instance string, known []memory.Project) error {
	may, refused := slices.Contains(allowed, p.Name) || slices.Contains(allowed, "*"), false
	s.note(p.ID, func(x *exchanged) {
		if refused = x.refused; !may {
			x.refused, x.problem = true, "the server does not let you share "+p.Name+"; ask its operator for 'recalld team add "+c.member+" --project "+p.Name+"'"
		}
	})
	// Another history of the server may lack what was sent. Shares are taken back also where the
	// access has ended.
	if s.takeDirty(p.ID) || p.Leaving || may && (refused || p.Instance != instance) {
		if err := s.send(ctx, c, p, may); err != nil {
			s.markDirty(p.ID)
			return err
		}
	}
	i := slices.IndexFunc(known, func(k memory.Project) bool { return k.ID == p.ID })
	switch {
	case p.Leaving, !may:
	case i < 0: // what it held is taken back by now
		s.note(p.ID, func(x *exchanged) { x.problem = "the project was forgotten here" })
	default:
		if err := s.take(ctx, c, known[i], p, instance); err != nil {
			return err
		}
		s.note(p.ID, func(x *exchanged) { x.problem = "" })
	}
	return nil
}

// ofProject says that an error leaves the connection and the other projects as they are: the
// server does not take what a project says (classes 22 and 23), it does not allow it, or what is
// stored here of the project is damaged.
func ofProject(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) {
		return false
	}
	if state := stateOf(err); state != "" {
		return strings.HasPrefix(state, "22") || strings.HasPrefix(state, "23") || state == "42501"
	}
	code := memory.CodeOf(err) // of the server, or of the whole store
	return code != memory.CodeUnavailable && code != memory.CodeReadOnly
}

// trouble notes why a project is not exchanged. The next exchange tries again.
func (s *Service) trouble(p project, err error) {
	text, before := memory.AsError(err).Message, ""
	s.note(p.ID, func(x *exchanged) { before, x.problem = x.problem, text })
	if text != before {
		s.opts.Logger.Warn("a project is not exchanged with the team", "part", "team", "project", p.Name, "error", text)
	}
}

// send compares the user's own lessons of a project with those on the server, and writes the
// difference. Where the member may not share, it only takes back. Nothing is lost by a failure:
// the next comparison finds it again.
func (s *Service) send(ctx context.Context, c *connection, p project, may bool) error {
	there, err := c.own(ctx, p.Name)
	if err != nil {
		return err
	}
	if p.Leaving {
		if err := c.send(ctx, p.Name, slices.Sorted(maps.Keys(there)), nil); err != nil {
			return err
		}
		return s.left(p)
	}
	var n exchanged
	var said []row
	private := map[string]bool{} // sessions
	compared := map[string]bool{}
	// add compares a share, and counts it if it is on the server or comes to it.
	add := func(count *int, kind, id string, share any) error {
		if compared[id] { // of lessons that differ in a secret alone the team gets one
			return nil
		}
		compared[id] = true
		one, err := newRow(kind, id, share)
		if err != nil {
			return err
		}
		hash, sent := there[id]
		delete(there, id)
		if sent || may {
			*count++
		}
		if may && (!sent || hash != string(one.hash)) {
			said = append(said, one)
		}
		return nil
	}
	var summaries map[string]*memory.TeamSummary
	if s.opts.Summaries {
		if summaries, err = s.summaries(p); err != nil {
			return err
		}
	}
	for r, err := range s.opts.Store.ProjectRecords(ctx, p.ID, memory.Lesson) {
		if err != nil {
			return fmt.Errorf("read lessons: %w", err)
		}
		if r.Event != nil && len(r.Event.Team) > 0 {
			n.received++
		}
		for _, id := range r.PrivateSessions() {
			private[id] = true
		}
		if l := own(&r); l != nil {
			s.withoutSecrets(l)
			if err := add(&n.own, kindLesson, ingest.TeamLessonID(p.Name, l), l); err != nil {
				return err
			}
		}
	}
	if len(summaries) > 0 {
		if err := s.dropPrivate(p, summaries, private); err != nil {
			return err
		}
		for session, x := range summaries {
			if err := add(&n.summaries, kindSummary, ingest.TeamSummaryID(p.Name, session), x); err != nil {
				return err
			}
		}
	}
	// One order for all, so that no two statements wait for one another.
	slices.SortFunc(said, func(a, b row) int { return strings.Compare(a.id, b.id) })
	gone := slices.Sorted(maps.Keys(there)) // forgotten, private, or summaries with the setting off
	if err := c.send(ctx, p.Name, gone, said); err != nil {
		return err
	}
	s.note(p.ID, func(x *exchanged) {
		x.own, x.received, x.summaries, x.refused = n.own, n.received, n.summaries, !may
	})
	return nil
}

// left ends the sharing of a project whose lessons were taken back.
func (s *Service) left(p project) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.exchanged, p.ID)
	if s.member == nil {
		return nil
	}
	if again := s.member.find(p.ID); again != nil && !again.Leaving { // the user shared it meanwhile
		s.dirty[p.ID] = true
		signal(s.wake)
	}
	s.member.Projects = slices.DeleteFunc(s.member.Projects, func(x project) bool { return x.ID == p.ID && x.Leaving })
	return s.member.write(s.opts.Path)
}

// own is what the user says of a lesson to the team, nil if nothing: it is private, it came
// from a repository's file, or the user only received it.
func own(r *memory.Record) *memory.TeamLesson {
	e := r.Event
	if e == nil || e.Private || r.Provenance.Followed() {
		return nil
	}
	l := &memory.TeamLesson{Repo: r.Repo, Type: e.Type, Context: e.Context, Command: e.Command, Lesson: e.Lesson, Tags: r.Tags, Rate: e.Rate}
	if e.Withdrawn != nil && e.Withdrawn.Member == "" {
		l.Withdrawn = &memory.Withdrawal{At: e.Withdrawn.At.UTC(), Reason: e.Withdrawn.Reason}
	}
	switch r.Provenance.Origin {
	case memory.OriginTeam:
		if l.Rate == nil && l.Withdrawn == nil {
			return nil
		}
		return l
	case memory.OriginHistory: // the logs of agents were read, not told, until it is seen to work
		if l.Rate == nil {
			return nil
		}
	}
	l.Agent, l.At = e.AgentID, r.Created.UTC()
	if n := len(e.Observations); n > 0 {
		l.At = e.Observations[n-1].At.UTC()
	}
	return l
}

// withoutSecrets makes a lesson what may leave the machine.
func (s *Service) withoutSecrets(l *memory.TeamLesson) {
	l.Tags = slices.Clone(l.Tags) // they are the record's
	texts := []*string{&l.Repo, &l.Context, &l.Command, &l.Lesson, &l.Agent}
	for i := range l.Tags {
		texts = append(texts, &l.Tags[i])
	}
	for _, text := range texts {
		*text, _ = s.opts.Redact(*text)
	}
}

// sameOwn says that the user says the same of a lesson before and after a change. What is
// received from the team changes records, too, and must not be compared with the server for
// that.
func sameOwn(c memory.RecordChange) bool {
	return c.Old != nil && c.New != nil && reflect.DeepEqual(own(c.Old), own(c.New))
}

// shareKey names one member's share.
type shareKey struct{ id, member string }

// take stores what other members changed since the cursor of a project. On a server with
// another history it reads all, and drops what the server does not have.
func (s *Service) take(ctx context.Context, c *connection, local memory.Project, p project, instance string) error {
	var seen map[shareKey]bool
	if p.Instance != instance {
		p.Cursor, seen = 0, map[shareKey]bool{}
	}
	next, err := c.since(ctx, p.Name, p.Cursor, func(shares []ingest.Shared, summaries []ingest.SharedSummary) error {
		if seen != nil {
			for _, x := range shares {
				seen[shareKey{x.ID, x.Member}] = true
			}
			for _, x := range summaries {
				seen[shareKey{x.ID, x.Member}] = true
			}
		}
		if err := s.takeShares(ctx, local, p, shares); err != nil {
			return err
		}
		return s.takeSummaries(ctx, local, summaries)
	})
	if err == nil && seen != nil {
		err = s.dropUnseen(ctx, local, p, seen)
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.member == nil {
		return nil
	}
	if at := s.member.find(p.ID); at != nil && at.Name == p.Name && (next != at.Cursor || instance != at.Instance) {
		at.Cursor, at.Instance = next, instance
		if err := s.member.write(s.opts.Path); err != nil { // a lost cursor costs reading again
			s.opts.Logger.Warn("the team's cursor is not kept", "part", "team", "error", err)
		}
	}
	return nil
}

func (s *Service) takeShares(ctx context.Context, local memory.Project, p project, shares []ingest.Shared) error {
	done, err := s.opts.Taker.TakeShares(ctx, local, p.Name, s.opts.Store, shares)
	for _, problem := range done.Problems {
		s.opts.Logger.Warn("a share was skipped", "part", "team", "project", p.Name, "member", shares[problem.Index].Member, "error", problem.Err)
	}
	return err
}

// dropUnseen takes back the shares that the server does not have.
func (s *Service) dropUnseen(ctx context.Context, local memory.Project, p project, seen map[shareKey]bool) error {
	var gone []ingest.Shared
	for r, err := range s.opts.Store.ProjectRecords(ctx, p.ID, memory.Lesson) {
		if err != nil {
			return fmt.Errorf("read lessons: %w", err)
		}
		if r.Event == nil {
			continue
		}
		for _, x := range r.Event.Team {
			if id := ingest.TeamID(p.Name, &r); !seen[shareKey{id, x.Member}] {
				gone = append(gone, ingest.Shared{Member: x.Member, ID: id})
			}
		}
	}
	if err := s.takeShares(ctx, local, p, gone); err != nil {
		return err
	}
	var summaries []ingest.SharedSummary
	for r, err := range s.opts.Store.ProjectRecords(ctx, p.ID, memory.SessionSummary) {
		if err != nil {
			return fmt.Errorf("read session summaries: %w", err)
		}
		if from := r.Provenance; !seen[shareKey{from.Session, from.Agent}] {
			summaries = append(summaries, ingest.SharedSummary{Member: from.Agent, ID: from.Session})
		}
	}
	return s.takeSummaries(ctx, local, summaries)
}
