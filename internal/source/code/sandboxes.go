package code

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/project"
)

// Shelf reads what is stored of sandboxes. Methods that look up one thing
// return CodeNotFound when it is not there.
type Shelf interface {
	Projects() ([]memory.Project, error)
	Sandboxes() ([]memory.Sandbox, error)
	Sandbox(id string) (memory.Sandbox, error)
	// Files returns the files of a sandbox by path.
	Files(sandbox string) (map[string]memory.File, error)
}

// Writer is the write path, as far as code takes it.
type Writer interface {
	Sink
	// PutSandbox writes the state of a sandbox, and its project with it.
	PutSandbox(ctx context.Context, p memory.Project, b memory.Sandbox) error
}

// Queue takes the runs that are asked for.
type Queue interface {
	// Enqueue adds a run durably, or joins it to one of the same sandbox that
	// waits (see MergeRuns).
	Enqueue(ctx context.Context, run RunRequest) (Queued, error)
}

// Queued is where a run stands in the queue.
type Queued struct {
	Job string
	// Position is the number of jobs ahead of it.
	Position  int
	Coalesced bool
	// Dropped is the sandbox whose run gave way to this one; empty if none did.
	Dropped string
}

// Resolver finds the project of a folder, with all the names it has had.
type Resolver interface {
	Resolve(ctx context.Context, name string, caller memory.Caller) (memory.Project, bool, error)
}

// SandboxesOptions configure Sandboxes. All but Clock and Logger are required.
type SandboxesOptions struct {
	Shelf    Shelf
	Writer   Writer
	Queue    Queue
	Projects Resolver
	// Run are the settings of the runs; its Progress is not used.
	Run Options
	// StaleAfter is the age from which an index counts as stale; the setting
	// index.stale_after has its default.
	StaleAfter time.Duration
	// Clock is time.Now if nil. Logger discards if nil.
	Clock  func() time.Time
	Logger *slog.Logger
}

func (o *SandboxesOptions) validate() error {
	for field, missing := range map[string]bool{
		"shelf": o.Shelf == nil, "writer": o.Writer == nil, "queue": o.Queue == nil, "projects": o.Projects == nil,
	} {
		if missing {
			return memory.Invalid(field, "", "sandboxes need it")
		}
	}
	if o.StaleAfter <= 0 {
		return memory.Invalid("index.stale_after", "more than 0", "is missing")
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o.Run.validate()
}

// Sandboxes knows the folders that are indexed, has them indexed again, and
// tells how far that is. It is safe for concurrent use.
type Sandboxes struct {
	opts SandboxesOptions
	// wake holds the projects whose code was found to lag behind the disk.
	wake chan string

	// records orders the changes of what is stored of sandboxes.
	records sync.Mutex

	mu        sync.Mutex // guards what follows
	progress  map[string]memory.Progress
	running   map[string]*running
	asked     map[string]int       // runs asked for that have not begun
	suspended map[string]int       // by project: how many want its runs held
	dropped   map[string]int       // runs owed since the last one of everything: they gave way or were held
	refreshed map[string]time.Time // when a lagging sandbox was last looked at
}

// running is a run in progress.
type running struct {
	project string
	cancel  context.CancelCauseFunc
	ended   chan struct{}
}

// NewSandboxes returns the sandboxes of a store. Call Refresh to have them kept
// up to date.
func NewSandboxes(opts SandboxesOptions) (*Sandboxes, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	return &Sandboxes{
		opts: opts, wake: make(chan string, 64),
		progress: map[string]memory.Progress{}, running: map[string]*running{}, asked: map[string]int{},
		suspended: map[string]int{}, dropped: map[string]int{}, refreshed: map[string]time.Time{},
	}, nil
}

// IndexRepo queues the repository that a folder lies in. See
// memory.Repositories.
func (s *Sandboxes) IndexRepo(ctx context.Context, req memory.IndexRequest) (*memory.IndexQueued, error) {
	return s.request(ctx, req, askedPriority)
}

func (s *Sandboxes) request(ctx context.Context, req memory.IndexRequest, priority int) (*memory.IndexQueued, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	dir, err := folderOf(req.Path, req.Caller)
	if err != nil {
		return nil, err
	}
	id, err := project.Identify(dir)
	if err != nil {
		return nil, err
	}
	p, _, err := s.opts.Projects.Resolve(ctx, id.Root, memory.Caller{})
	if err != nil {
		return nil, err
	}
	box := memory.Sandbox{ID: project.SandboxID(id.Root), Project: p.ID, Root: id.Root}
	err = s.record(ctx, p.ID, box.ID, func(known memory.Project, b *memory.Sandbox) memory.Project {
		b.ID, b.Project, b.Root = box.ID, box.Project, box.Root
		b.RequestedAt = latest(b.RequestedAt, askedAt(req.RequestedAt, s.opts.Clock()))
		// A host may have a name of its own for the project; it is known by that too.
		return named(known, p, req.ProjectID)
	})
	if errors.Is(err, errSuspended) {
		return nil, &memory.Error{Code: memory.CodeConflict, Field: "path", Message: "the project is being forgotten",
			Hint: "ask again when that is done", Cause: err}
	}
	if err != nil {
		return nil, err
	}
	at, err := s.enqueue(ctx, RunRequest{
		Sandbox: box.ID, Project: p.ID, Changed: belowRoot(id.Root, dir, req.ChangedFiles), Priority: priority,
	})
	if err != nil {
		return nil, err
	}
	return &memory.IndexQueued{
		Job: at.Job, Position: at.Position, Coalesced: at.Coalesced,
		Project: p.ID, ProjectName: p.Name, Sandbox: box.ID, Root: box.Root,
	}, nil
}

// askedAt is when a run was asked for: what the caller says, who may have waited
// for a connection, but not a time to come.
func askedAt(told, now time.Time) time.Time {
	if told.IsZero() || told.After(now) {
		told = now
	}
	return told.UTC()
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// named joins what is stored of a project, nothing if it is new, with what was
// found of it and the name that a host has for it.
func named(known, found memory.Project, host string) memory.Project {
	p := found
	if known.ID != "" {
		p = known
	}
	p.Names = slices.Clip(p.Names)
	for _, name := range append(slices.Clone(found.Names), host) {
		if name != "" && name != p.ID && !slices.Contains(p.Names, name) {
			p.Names = append(p.Names, name)
		}
	}
	return p
}

// belowRoot writes changed paths relative to the root of the sandbox: callers
// name them by, or relative to, the folder that they know, which may lie below
// the root and may be reached by a symbolic link. A path elsewhere is left as it
// is; the run passes it over.
func belowRoot(root, dir string, changed []string) []string {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil // it is going away: everything is looked at
	}
	out := make([]string, len(changed))
	for i, p := range changed {
		out[i] = p
		if filepath.IsAbs(p) {
			if rel, err := filepath.Rel(dir, p); err == nil && filepath.IsLocal(rel) {
				p = filepath.Join(real, rel)
			}
		} else {
			p = filepath.Join(real, filepath.FromSlash(p))
		}
		if rel, err := filepath.Rel(root, p); err == nil && filepath.IsLocal(rel) {
			out[i] = filepath.ToSlash(rel)
		}
	}
	return out
}

// enqueue adds a run, and marks as owed what gave way to it. A run is known to
// wait before it is queued: it may be over before Enqueue has returned.
func (s *Sandboxes) enqueue(ctx context.Context, run RunRequest) (Queued, error) {
	run.Changed = boundChanged(slices.Clone(run.Changed))
	s.mu.Lock()
	s.asked[run.Sandbox]++
	s.queued(run.Sandbox)
	s.mu.Unlock()
	at, err := s.opts.Queue.Enqueue(ctx, run)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.answered(run.Sandbox, 1)
		return at, err
	}
	if at.Dropped != "" {
		s.dropped[at.Dropped]++
		s.answered(at.Dropped, s.asked[at.Dropped])
	}
	return at, nil
}

// queued shows a sandbox as waiting, unless it is being indexed. Callers hold mu.
func (s *Sandboxes) queued(sandbox string) {
	if s.running[sandbox] == nil {
		s.progress[sandbox] = memory.Progress{Phase: "queued"}
	}
}

// answered takes back that so many runs of a sandbox were asked for. Callers
// hold mu.
func (s *Sandboxes) answered(sandbox string, n int) {
	if s.asked[sandbox] -= n; s.asked[sandbox] > 0 {
		s.queued(sandbox)
		return
	}
	delete(s.asked, sandbox)
	if s.running[sandbox] == nil {
		delete(s.progress, sandbox)
	}
}

// record changes what is stored of a sandbox and of its project, which are zero
// if they are new. It returns errSuspended while the project's runs are held:
// what is being removed must not come back.
func (s *Sandboxes) record(ctx context.Context, project, sandbox string, change func(memory.Project, *memory.Sandbox) memory.Project) error {
	s.records.Lock()
	defer s.records.Unlock()
	s.mu.Lock()
	held := s.suspended[project] > 0
	s.mu.Unlock()
	if held {
		return errSuspended
	}
	projects, err := s.opts.Shelf.Projects()
	if err != nil {
		return fmt.Errorf("read project: %w", err)
	}
	var p memory.Project
	if i := slices.IndexFunc(projects, func(p memory.Project) bool { return p.ID == project }); i >= 0 {
		p = projects[i]
	}
	b, err := s.opts.Shelf.Sandbox(sandbox)
	if err != nil && memory.CodeOf(err) != memory.CodeNotFound {
		return fmt.Errorf("read sandbox: %w", err)
	}
	if p = change(p, &b); p.ID == "" {
		return memory.Errorf(memory.CodeNotFound, "project %s is not known", project)
	}
	return s.opts.Writer.PutSandbox(ctx, p, b)
}

// Repos lists the sandboxes by project name and root.
func (s *Sandboxes) Repos(context.Context) ([]memory.SandboxState, error) {
	boxes, err := s.opts.Shelf.Sandboxes()
	if err != nil {
		return nil, err
	}
	projects, err := s.opts.Shelf.Projects()
	if err != nil {
		return nil, err
	}
	names := make(map[string]string, len(projects))
	for _, p := range projects {
		names[p.ID] = p.Name
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	states := make([]memory.SandboxState, len(boxes))
	for i, b := range boxes {
		states[i] = memory.SandboxState{Sandbox: b, ProjectName: names[b.Project], Stale: s.stale(b)}
		if p, ok := s.progress[b.ID]; ok {
			states[i].Progress = &p
		}
	}
	slices.SortFunc(states, func(a, b memory.SandboxState) int {
		return strings.Compare(a.ProjectName+"\x00"+a.Root, b.ProjectName+"\x00"+b.Root)
	})
	return states, nil
}

// stale says whether the index of a sandbox may lag behind the disk. Callers
// hold mu.
func (s *Sandboxes) stale(b memory.Sandbox) bool {
	return s.dropped[b.ID] > 0 || s.opts.Clock().Sub(b.IndexedAt) > s.opts.StaleAfter
}

// Stale says whether the code of a project may lag behind the disk: an index is
// older than StaleAfter, was never finished, or, seen, this very answer has met
// code that is not as it was indexed. Then it has the project looked at again,
// in the background and not too often.
func (s *Sandboxes) Stale(project string, seen bool) bool {
	boxes, err := s.opts.Shelf.Sandboxes()
	if err != nil {
		s.opts.Logger.Error("sandboxes cannot be read", "part", "code", "error", err)
		return true
	}
	stale := seen
	s.mu.Lock()
	for _, b := range boxes {
		stale = stale || b.Project == project && s.stale(b)
	}
	s.mu.Unlock()
	if stale {
		select {
		case s.wake <- project:
		default: // others are looked at first; the next question asks again
		}
	}
	return stale
}

// Suspend ends the runs of a project and holds those to come until release is
// called, so that nothing is added to a project that is being removed.
func (s *Sandboxes) Suspend(project string) (release func()) {
	s.records.Lock() // a change under way is written first, the next one refused
	s.mu.Lock()
	s.suspended[project]++
	var ending []*running
	for r := range maps.Values(s.running) {
		if r.project == project {
			ending = append(ending, r)
		}
	}
	s.mu.Unlock()
	s.records.Unlock()
	for _, r := range ending {
		r.cancel(errSuspended)
		<-r.ended
	}
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.suspended[project]--; s.suspended[project] == 0 {
			delete(s.suspended, project)
		}
	})
}
