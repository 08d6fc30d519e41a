package team

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/recalld/recalld/internal/ingest"
	"github.com/recalld/recalld/internal/memory"
)

// Store is what is read of the records.
type Store interface {
	Projects() ([]memory.Project, error)
	ProjectSandboxes(project string) ([]memory.Sandbox, error)
	ProjectSessions(project string) ([]memory.Session, error)
	State(k memory.StateKey) ([]byte, error)
	ingest.Lister
}

// Taker stores what other members share, and projects of which nothing is remembered yet.
type Taker interface {
	Write(ctx context.Context, project memory.Project, b memory.Batch) (memory.Committed, error)
	TakeShares(ctx context.Context, project memory.Project, teamProject string, have ingest.Lister, shares []ingest.Shared) (ingest.Imported, error)
	TakeSummaries(ctx context.Context, project memory.Project, list []ingest.SharedSummary) (ingest.Imported, error)
}

// Options configure a Service. Those up to Logger are required.
type Options struct {
	Path     string // of the membership's file
	Store    Store
	Taker    Taker
	Projects memory.ProjectResolver
	// Redact takes the secrets out of a text before it leaves.
	Redact func(string) (string, int)
	Logger *slog.Logger
	// Summaries shares session summaries of shared projects, too.
	Summaries bool
	// Home is the user's home folder, which no shared summary names.
	Home string
	// Pauses of the exchange; zero values are the defaults. Tests have others.
	Pauses Pauses
}

// Pauses are how long an exchange waits.
type Pauses struct {
	// Look is the longest time between two exchanges: notifications can get lost.
	Look time.Duration
	// First and Last bound the pauses after failures, which double.
	First, Last time.Duration
}

func (o *Options) validate() error {
	for _, x := range []struct {
		name    string
		missing bool
	}{{"path", o.Path == ""}, {"store", o.Store == nil}, {"taker", o.Taker == nil}, {"projects", o.Projects == nil}, {"redact", o.Redact == nil}, {"logger", o.Logger == nil}} {
		if x.missing {
			return memory.Invalid(x.name, "", "the team needs it")
		}
	}
	p := &o.Pauses
	p.Look, p.First, p.Last = cmp.Or(p.Look, 30*time.Second), cmp.Or(p.First, time.Second), cmp.Or(p.Last, time.Minute)
	return nil
}

// Service exchanges lessons with the server of the user's team, if there is one. It is safe
// for concurrent use.
type Service struct {
	opts  Options
	wake  chan struct{} // something is to be exchanged; buffered
	again chan struct{} // the membership changed; buffered

	// exchanging is held during an exchange, and by Leave from its first word to the server
	// until the membership is gone: nothing is sent behind its back. It is taken before mu.
	exchanging sync.Mutex

	mu        sync.Mutex // guards what follows, and the file
	member    *membership
	damaged   error
	state     memory.TeamState
	exchanged map[string]exchanged // by project
	// dirty are the projects with lessons that changed since they were compared.
	dirty map[string]bool
}

// New reads the membership. Without one nothing is done and nothing leaves the machine.
func New(opts Options) (*Service, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	s := &Service{opts: opts, wake: make(chan struct{}, 1), again: make(chan struct{}, 1),
		exchanged: map[string]exchanged{}, dirty: map[string]bool{}}
	s.member, s.damaged = readMembership(opts.Path)
	return s, nil
}

// Apply notes the shared projects in which the user says something else of a lesson, or in which
// a session has gone or become private. The store calls it for every commit.
func (s *Service) Apply(changes []memory.Change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.member == nil {
		return
	}
	for _, c := range changes {
		for _, r := range c.Records {
			x := cmp.Or(r.New, r.Old)
			if x.Kind == memory.Lesson && s.member.find(x.Project) != nil && !sameOwn(r) {
				s.dirty[x.Project] = true
				signal(s.wake)
			}
		}
		for _, x := range c.Sessions {
			if s.opts.Summaries && x.Old != nil && (x.New == nil || x.New.Private && !x.Old.Private) && s.member.find(x.Old.Project) != nil {
				s.dirty[x.Old.Project] = true
				signal(s.wake)
			}
		}
	}
}

// projects returns the shared projects.
func (s *Service) projects() []project {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.member == nil {
		return nil
	}
	return slices.Clone(s.member.Projects)
}

// markDirty has a project compared in the next exchange.
func (s *Service) markDirty(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dirty[id] = true
}

// takeDirty says whether a project is to be compared, and forgets that.
func (s *Service) takeDirty(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	dirty := s.dirty[id]
	delete(s.dirty, id)
	return dirty
}

// note changes what is known of the exchange of a project.
func (s *Service) note(id string, change func(*exchanged)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.exchanged[id]
	change(&x)
	s.exchanged[id] = x
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Run exchanges until ctx ends.
func (s *Service) Run(ctx context.Context) {
	for ctx.Err() == nil {
		s.mu.Lock()
		url := ""
		if s.member != nil {
			url = s.member.URL
		}
		s.mu.Unlock()
		membership, cancel := context.WithCancel(ctx)
		var exchanging sync.WaitGroup
		if url != "" {
			exchanging.Go(func() { s.keepExchanging(membership, url) })
		}
		select {
		case <-ctx.Done():
		case <-s.again:
		}
		cancel()
		exchanging.Wait()
	}
}

// keepExchanging exchanges until ctx ends, and connects again after each failure.
func (s *Service) keepExchanging(ctx context.Context, url string) {
	pause := s.opts.Pauses.First
	for ctx.Err() == nil {
		worked, err := s.connected(ctx, url)
		if ctx.Err() != nil {
			return
		}
		s.failed(err)
		if worked {
			pause = s.opts.Pauses.First
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, s.opts.Pauses.Last)
	}
}

// connected opens a connection and exchanges over it until that fails. worked says that it
// did at least once.
func (s *Service) connected(ctx context.Context, url string) (worked bool, err error) {
	c, err := connect(ctx, url)
	if err != nil {
		return false, err
	}
	defer c.close()
	s.allDirty()
	for {
		if err := s.exchange(ctx, c); err != nil {
			return worked, err
		}
		worked = true
		if err := s.wait(ctx, c); err != nil {
			return worked, err
		}
	}
}

// wait returns when there is something to exchange: here, on the server, or because it is
// time to look.
func (s *Service) wait(ctx context.Context, c *connection) error {
	ctx, cancel := context.WithTimeout(ctx, s.opts.Pauses.Look)
	defer cancel()
	var projects []string
	for _, p := range s.projects() {
		projects = append(projects, p.Name)
	}
	heard := make(chan error, 1)
	go func() { heard <- c.wait(ctx, projects) }()
	select {
	case <-s.wake:
		cancel()
		<-heard
		return nil
	case err := <-heard:
		if errors.Is(err, context.DeadlineExceeded) {
			return nil
		}
		return err
	}
}

func (s *Service) allDirty() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.member != nil {
		for _, p := range s.member.Projects {
			s.dirty[p.ID] = true
		}
	}
}

// failed notes why there is no exchange.
func (s *Service) failed(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.member == nil { // the user has left
		return
	}
	text := memory.AsError(err).Message
	if text != s.state.LastError {
		s.opts.Logger.Warn("no exchange with the team", "part", "team", "error", text)
	}
	s.state.Connected, s.state.LastError = false, text
}
