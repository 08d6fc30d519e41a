package team

import (
	"context"
	"errors"
	"fmt"
	"iter"
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
	ProjectRecords(ctx context.Context, project string, kind memory.Kind) iter.Seq2[memory.Record, error]
	ProjectSessions(project string) ([]memory.Session, error)
}

// Taker stores what other members share, and projects of which nothing is remembered yet.
type Taker interface {
	Write(ctx context.Context, project memory.Project, b memory.Batch) (memory.Committed, error)
	TakeShares(ctx context.Context, project memory.Project, teamProject string, have ingest.Contents, shares []ingest.Shared) (ingest.Imported, error)
}

// Options configure a Service. All but Pauses are required.
type Options struct {
	Path     string // of the membership's file
	Store    Store
	Taker    Taker
	Projects memory.ProjectResolver
	// Redact takes the secrets out of a text before it leaves.
	Redact func(string) (string, int)
	Logger *slog.Logger
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
	if o.Pauses.Look == 0 {
		o.Pauses.Look = 30 * time.Second
	}
	if o.Pauses.First == 0 {
		o.Pauses.First = time.Second
	}
	if o.Pauses.Last == 0 {
		o.Pauses.Last = time.Minute
	}
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

	mu       sync.Mutex // guards what follows, and the file
	member   *membership
	damaged  error
	state    memory.TeamState
	problems map[string]string         // by project
	counts   map[string]map[string]int // received lessons and own ones, by project
	// dirty are the projects with lessons that changed since they were compared.
	dirty map[string]bool
}

// New reads the membership. Without one nothing is done and nothing leaves the machine.
func New(opts Options) (*Service, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	s := &Service{opts: opts, wake: make(chan struct{}, 1), again: make(chan struct{}, 1),
		problems: map[string]string{}, counts: map[string]map[string]int{}, dirty: map[string]bool{}}
	s.member, s.damaged = readMembership(opts.Path)
	return s, nil
}

// Apply notes which shared projects have changed. The store calls it for every commit, so it
// only compares ids.
func (s *Service) Apply(changes []memory.Change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.member == nil {
		return
	}
	for _, c := range changes {
		for _, r := range c.Records {
			for _, x := range []*memory.Record{r.Old, r.New} {
				if x != nil && x.Kind == memory.Lesson && s.member.find(x.Project) != nil {
					s.dirty[x.Project] = true
					signal(s.wake)
				}
			}
		}
	}
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
		if url == "" {
			select {
			case <-ctx.Done():
			case <-s.again:
			}
			continue
		}
		s.session(ctx, url)
	}
}

// session exchanges as one membership until it changes or ctx ends, and connects again
// after each failure.
func (s *Service) session(ctx context.Context, url string) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	changed := make(chan struct{})
	var watch sync.WaitGroup
	defer watch.Wait()
	defer cancel()
	watch.Go(func() {
		select {
		case <-ctx.Done():
		case <-s.again:
			close(changed)
			cancel()
		}
	})
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
	server, err := Open(ctx, url)
	if err != nil {
		return false, err
	}
	defer server.Close()
	s.allDirty()
	for {
		if err := s.exchange(ctx, server); err != nil {
			return worked, err
		}
		worked = true
		if err := s.wait(ctx, server); err != nil {
			return worked, err
		}
	}
}

// wait returns when there is something to exchange: here, on the server, or because it is
// time to look.
func (s *Service) wait(ctx context.Context, server *Server) error {
	ctx, cancel := context.WithTimeout(ctx, s.opts.Pauses.Look)
	defer cancel()
	heard := make(chan error, 1)
	go func() { heard <- server.Wait(ctx) }()
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

// exchange sends what the server lacks of each shared project, and takes what it has anew.
func (s *Service) exchange(ctx context.Context, server *Server) error {
	s.exchanging.Lock()
	defer s.exchanging.Unlock()
	allowed, err := server.Projects(ctx)
	if err != nil {
		return err
	}
	instance, err := server.Instance(ctx)
	if err != nil {
		return err
	}
	s.mu.Lock()
	list := slices.Clone(s.member.projects())
	dirty := s.dirty
	s.dirty = map[string]bool{}
	s.mu.Unlock()
	known, err := s.opts.Store.Projects()
	if err != nil {
		return fmt.Errorf("list projects: %w", err)
	}
	for n, p := range list {
		i := slices.IndexFunc(known, func(k memory.Project) bool { return k.ID == p.ID })
		problem := ""
		switch {
		case !slices.Contains(allowed, p.Name) && !slices.Contains(allowed, "*"):
			s.keepDirty(list[n:n+1], dirty) // until it does
			problem = "the server does not let you share " + p.Name + "; ask its operator for 'recalld team add " + server.Member() + " --project " + p.Name + "'"
		default:
			// Another history of the server may lack what was sent.
			if dirty[p.ID] || p.Leaving || p.Instance != instance {
				if problem, err = s.send(ctx, server, p); err != nil {
					s.keepDirty(list[n:], dirty)
					return err
				}
			}
			if i < 0 { // what it held is taken back by now
				problem = "the project was forgotten here"
			} else if !p.Leaving {
				if err := s.take(ctx, server, known[i], p, instance); err != nil {
					s.keepDirty(list[n+1:], dirty)
					return err
				}
			}
		}
		s.mu.Lock()
		s.problems[p.ID] = problem
		s.mu.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Connected, s.state.LastError, s.state.SyncedAt, s.state.Allowed = true, "", time.Now().UTC(), allowed
	return nil
}

func (m *membership) projects() []project {
	if m == nil {
		return nil
	}
	return m.Projects
}

// keepDirty notes the projects that an exchange did not get to.
func (s *Service) keepDirty(list []project, dirty map[string]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range list {
		if dirty[p.ID] {
			s.dirty[p.ID] = true
		}
	}
}

// send compares the user's own lessons of a project with those on the server, and writes the
// difference. Nothing of it is lost by a failure: the next comparison finds it again. It
// returns a problem for lessons that cannot be shared.
func (s *Service) send(ctx context.Context, server *Server, p project) (problem string, err error) {
	there, err := server.Own(ctx, p.Name)
	if err != nil {
		return "", err
	}
	var rows []Row
	own, received := 0, 0
	if !p.Leaving {
		for r, err := range s.opts.Store.ProjectRecords(ctx, p.ID, memory.Lesson) {
			if err != nil {
				return "", fmt.Errorf("read lessons: %w", err)
			}
			if r.Event == nil {
				continue
			}
			if len(r.Event.Team) > 0 {
				received++
			}
			body := s.share(&r)
			if body == nil {
				continue
			}
			row, err := NewRow(p.Name, ingest.TeamLessonID(p.Name, body), body)
			if err != nil {
				problem = err.Error()
				continue
			}
			own++
			if hash, ok := there[row.ID]; !ok || hash != string(row.hash) {
				rows = append(rows, row)
			}
			delete(there, row.ID)
		}
	}
	for id := range there { // forgotten, private, or no longer shared
		row, err := NewRow(p.Name, id, nil)
		if err != nil {
			return "", err
		}
		rows = append(rows, row)
	}
	// One order for all, so that no two statements wait for one another.
	slices.SortFunc(rows, func(a, b Row) int { return compareText(a.ID, b.ID) })
	if err := server.Put(ctx, p.Name, rows); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[p.ID] = map[string]int{"shared": own, "received": received}
	if p.Leaving && s.member != nil {
		s.member.Projects = slices.DeleteFunc(s.member.Projects, func(x project) bool { return x.ID == p.ID && x.Leaving })
		return problem, s.member.write(s.opts.Path)
	}
	return problem, nil
}

func compareText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// share is what the user says of a lesson to the team, nil if nothing: it is private, it came
// from a repository's file, or the user only received it.
func (s *Service) share(r *memory.Record) *memory.TeamLesson {
	e := r.Event
	received := r.Provenance.Origin == memory.OriginTeam
	withdrawn := e.Withdrawn
	if withdrawn != nil && withdrawn.Member != "" {
		withdrawn = nil
	}
	// What was learned from the logs of agents was not told, until it is seen to work.
	fromLogs := r.Provenance.Origin == memory.OriginHistory && e.Rate == nil
	if e.Private || r.Provenance.Followed() || fromLogs || received && e.Rate == nil && withdrawn == nil {
		return nil
	}
	clean := func(text string) string {
		text, _ = s.opts.Redact(text)
		return text
	}
	l := &memory.TeamLesson{Repo: clean(r.Repo), Type: e.Type, Context: clean(e.Context), Command: clean(e.Command), Lesson: clean(e.Lesson), Rate: e.Rate}
	if withdrawn != nil {
		l.Withdrawn = &memory.Withdrawal{At: withdrawn.At.UTC(), Reason: withdrawn.Reason}
	}
	for _, tag := range r.Tags {
		l.Tags = append(l.Tags, clean(tag))
	}
	if !received {
		l.Agent, l.At = clean(e.AgentID), r.Created.UTC()
		if n := len(e.Observations); n > 0 {
			l.At = e.Observations[n-1].At.UTC()
		}
	}
	return l
}

// take stores what other members changed since the cursor of a project. On a server with
// another history it reads all, and drops what the server does not have.
func (s *Service) take(ctx context.Context, server *Server, local memory.Project, p project, instance string) error {
	var seen map[shareKey]bool
	if p.Instance != instance {
		p.Cursor, p.Instance, seen = 0, instance, map[shareKey]bool{}
	}
	next, err := server.Since(ctx, p.Name, p.Cursor, func(rows []Row) error {
		if seen != nil {
			for _, r := range rows {
				seen[shareKey{r.ID, r.Member}] = true
			}
		}
		shares := make([]ingest.Shared, len(rows))
		for i, r := range rows {
			shares[i] = ingest.Shared{Member: r.Member, ID: r.ID, Lesson: r.Body}
		}
		done, err := s.opts.Taker.TakeShares(ctx, local, p.Name, s.opts.Store, shares)
		for _, problem := range done.Problems {
			s.opts.Logger.Warn("a share was skipped", "part", "team", "project", p.Name, "member", shares[problem.Index].Member, "error", problem.Err)
		}
		return err
	})
	if err == nil && seen != nil {
		err = s.dropUnseen(ctx, server.Member(), local, p, seen)
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.member == nil {
		return nil
	}
	// A lost cursor only costs reading again, so an idle team writes no file.
	if at := s.member.find(p.ID); at != nil && at.Name == p.Name && (next != at.Cursor || instance != at.Instance) {
		at.Cursor, at.Instance = next, instance
		if err := s.member.write(s.opts.Path); err != nil {
			s.opts.Logger.Warn("the team's cursor is not kept", "part", "team", "error", err)
		}
	}
	return nil
}

// shareKey names one member's share.
type shareKey struct{ id, member string }

// dropUnseen takes back the shares that the server does not have.
func (s *Service) dropUnseen(ctx context.Context, own string, local memory.Project, p project, seen map[shareKey]bool) error {
	var gone []ingest.Shared
	for r, err := range s.opts.Store.ProjectRecords(ctx, p.ID, memory.Lesson) {
		if err != nil {
			return fmt.Errorf("read lessons: %w", err)
		}
		if r.Event == nil {
			continue
		}
		for _, x := range r.Event.Team {
			if id := ingest.TeamID(p.Name, &r); !seen[shareKey{id, x.Member}] && x.Member != own {
				gone = append(gone, ingest.Shared{Member: x.Member, ID: id})
			}
		}
	}
	if len(gone) == 0 {
		return nil
	}
	_, err := s.opts.Taker.TakeShares(ctx, local, p.Name, s.opts.Store, gone)
	return err
}

// failed notes why there is no exchange.
func (s *Service) failed(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := memory.AsError(err).Message
	if text != s.state.LastError {
		s.opts.Logger.Warn("no exchange with the team", "part", "team", "error", text)
	}
	s.state.Connected, s.state.LastError = false, text
}
