// Package agentimport takes in what coding agents did before recalld was installed, from
// the logs that package agentlog reads, and follows these logs.
//
// Vocabulary. Consent is the user's agreement, given once. A fix is a command that failed,
// something that was done about it, and a success of the same command; see fixes. The state
// is the consent with the sizes and times of the logs that were read whole; it is a file,
// so that an import that was killed goes on where it was.
package agentimport

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/recalld/recalld/internal/ingest"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/redact"
	"github.com/recalld/recalld/internal/source/agentlog"
)

// maxProblems bounds the problems that an import lists.
const maxProblems = 100

// saveEvery is after how many logs the state is written.
const saveEvery = 20

// Options configure a Service. All fields are required.
type Options struct {
	Ingest *ingest.Service
	// Projects finds the project of a folder.
	Projects memory.ProjectResolver
	// Session returns a stored session, or CodeNotFound.
	Session func(project, id string) (memory.Session, error)
	// Home is the user's folder, Getenv returns the variables by which clients move their
	// own.
	Home   string
	Getenv func(string) string
	// State is the path of the state's file.
	State  string
	Logger *slog.Logger
	Clock  func() time.Time
}

// Service imports and follows.
type Service struct {
	opts Options
	// mu is held by an import: two would read the same logs.
	mu     sync.Mutex
	unread string // why the state could not be read, when that was last logged; guarded by mu
}

// New returns a service.
func New(opts Options) *Service { return &Service{opts: opts} }

// Import carries out service.ImportAgents.
func (s *Service) Import(ctx context.Context, req memory.AgentImportRequest, progress func(memory.AgentImportProgress)) (*memory.AgentImported, error) {
	if err := memory.Check(&req); err != nil {
		return nil, err
	}
	if req.Client != "" && !slices.Contains(agentlog.Clients(), req.Client) {
		return nil, memory.Invalid("client", "one of "+strings.Join(agentlog.Clients(), ", "), "logs of %s cannot be read", memory.Quote(req.Client))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.load()
	if req.Stop {
		return &memory.AgentImported{Sources: []memory.AgentSource{}}, s.save(&state{})
	}
	if !req.DryRun && st.Consent.IsZero() {
		if !req.Consent {
			return nil, &memory.Error{Code: memory.CodeForbidden, Field: "consent", Message: "the user has not agreed that the logs of agents are read",
				Hint: "run 'recalld import agents'"}
		}
		st.Consent = s.opts.Clock().UTC()
		if err := s.save(st); err != nil {
			return nil, err
		}
	}
	return s.run(ctx, st, req, progress)
}

// Follow imports changed logs at every tick until ctx ends, once the user has agreed.
func (s *Service) Follow(ctx context.Context, ticks <-chan time.Time) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
			if err := s.again(ctx); err != nil && ctx.Err() == nil {
				s.opts.Logger.Warn("logs of agents were not read", "part", "agentimport", "error", err)
			}
		}
	}
}

// again imports what has changed, if the user has agreed.
func (s *Service) again(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.load()
	if st.Consent.IsZero() {
		return nil
	}
	_, err := s.run(ctx, st, memory.AgentImportRequest{}, func(memory.AgentImportProgress) {})
	return err
}

// run reads the logs that the request names. The caller holds mu.
func (s *Service) run(ctx context.Context, st *state, req memory.AgentImportRequest, progress func(memory.AgentImportProgress)) (*memory.AgentImported, error) {
	logs, err := agentlog.Find(s.opts.Home, s.opts.Getenv)
	if err != nil {
		return nil, err
	}
	logs = slices.DeleteFunc(logs, func(l agentlog.Log) bool {
		return req.Client != "" && l.Client != req.Client || l.Changed.Before(req.Since)
	})
	i := &importer{s: s, ctx: ctx, dry: req.DryRun, seen: map[string]bool{}, counted: map[[3]string]bool{}, sources: map[[2]string]*memory.AgentSource{},
		projects: map[string]located{}, out: memory.AgentImported{DryRun: req.DryRun, Consented: !st.Consent.IsZero(), Logs: len(logs)}}
	unsaved := 0
	if !req.DryRun {
		unsaved = st.dropGone()
	}
	for n, l := range logs {
		progress(memory.AgentImportProgress{Done: n, Total: len(logs)})
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !req.DryRun && st.known(l) {
			i.out.Unchanged++
			continue
		}
		read, err := i.log(l)
		if err != nil {
			return nil, err
		}
		if req.DryRun || read == "" { // the next import tries again
			continue
		}
		st.Logs[l.Path()] = read
		if unsaved++; unsaved >= saveEvery && s.save(st) == nil {
			unsaved = 0 // else the end tells it
		}
	}
	if !req.DryRun && unsaved > 0 {
		if err := s.save(st); err != nil {
			return nil, err
		}
	}
	progress(memory.AgentImportProgress{Done: len(logs), Total: len(logs)})
	return i.result(), nil
}

// importer is one run.
type importer struct {
	s        *Service
	ctx      context.Context
	dry      bool
	seen     map[string]bool    // ids of steps, in a dry run
	counted  map[[3]string]bool // sessions: client, folder and id
	sources  map[[2]string]*memory.AgentSource
	projects map[string]located
	out      memory.AgentImported
}

// located is the project of a folder, or why there is none.
type located struct {
	project memory.Project
	err     error
}

func (i *importer) project(dir string) (memory.Project, error) {
	if known, ok := i.projects[dir]; ok {
		return known.project, known.err
	}
	p, _, err := i.s.opts.Projects.Resolve(i.ctx, "", memory.Caller{Dir: dir})
	i.projects[dir] = located{p, err}
	return p, err
}

func (i *importer) problem(l agentlog.Log, line int, message string) {
	i.out.Skipped++
	if len(i.out.Problems) < maxProblems {
		message, _ = redact.Redact(message)
		i.out.Problems = append(i.out.Problems, memory.ImportProblem{File: l.Path(), Line: line, Message: message})
	}
}

// log reads one log and returns its stamp, none if it could not be opened. The error ends the
// import: the store cannot be written, or ctx ended.
func (i *importer) log(l agentlog.Log) (read string, err error) {
	t := &taking{importer: i, log: l}
	contents, err := agentlog.Read(l, t.call)
	if err == nil {
		err = t.flush()
	}
	for _, p := range contents.Problems {
		i.problem(l, p.Line, p.Message)
	}
	i.out.Skipped += contents.More
	var left *leftOut
	switch {
	case errors.As(err, &left):
		i.problem(l, 0, left.Error())
		return stamp(l, left.dir), nil
	case errors.Is(err, errLive):
		i.out.Live++
	case t.failed:
		return "", err
	case err != nil:
		i.problem(l, 0, err.Error())
		if _, unopened := errors.AsType[*agentlog.OpenError](err); unopened {
			return "", nil
		}
	}
	return stamp(l, ""), nil
}

// result is what was found, with the sources in order.
func (i *importer) result() *memory.AgentImported {
	i.out.Sources = []memory.AgentSource{}
	for _, x := range i.sources {
		i.out.Sources = append(i.out.Sources, *x)
	}
	slices.SortFunc(i.out.Sources, func(a, b memory.AgentSource) int {
		return cmp.Or(cmp.Compare(a.Client, b.Client), cmp.Compare(a.Dir, b.Dir))
	})
	return &i.out
}
