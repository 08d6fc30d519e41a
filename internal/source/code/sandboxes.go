package code

import (
	"context"
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

// SandboxesOptions configure Sandboxes. Shelf, Writer, Queue and Projects are
// required.
type SandboxesOptions struct {
	Shelf    Shelf
	Writer   Writer
	Queue    Queue
	Projects Resolver
	// Run are the settings of the runs; its Progress is not used.
	Run Options
	// StaleAfter is the age from which an index counts as stale; 5 minutes.
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
	setDefault(&o.StaleAfter, 5*time.Minute)
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
	suspended map[string]int       // by project: how many want its runs held
	dropped   map[string]bool      // sandboxes whose run gave way and is owed
	refreshed map[string]time.Time // when a lagging project was last looked at
}

// running is a run in progress.
type running struct {
	project string
	cancel  context.CancelFunc
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
		progress: map[string]memory.Progress{}, running: map[string]*running{}, suspended: map[string]int{},
		dropped: map[string]bool{}, refreshed: map[string]time.Time{},
	}, nil
}

// IndexRepo queues the repository that a folder lies in. See
// memory.Repositories.
func (s *Sandboxes) IndexRepo(ctx context.Context, req memory.IndexRequest) (*memory.IndexQueued, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	dir := req.Path
	if !filepath.IsAbs(dir) {
		if req.Caller.Dir == "" {
			return nil, &memory.Error{Code: memory.CodeInvalidInput, Field: "path", Limit: "an absolute path",
				Message: "the path is relative and the caller's folder is not known", Hint: "name the whole path"}
		}
		dir = filepath.Join(req.Caller.Dir, dir)
	}
	id, err := project.Identify(dir)
	if err != nil {
		return nil, err
	}
	p, _, err := s.opts.Projects.Resolve(ctx, id.Root, memory.Caller{})
	if err != nil {
		return nil, err
	}
	// A host may have a name of its own for the project; it is known by that too.
	if name := req.ProjectID; name != "" && name != p.ID && !slices.Contains(p.Names, name) {
		p.Names = append(slices.Clip(p.Names), name)
	}
	box := memory.Sandbox{ID: project.SandboxID(id.Root), Project: p.ID, Root: id.Root}
	err = s.record(ctx, box.ID, func(b *memory.Sandbox) (memory.Project, error) {
		b.ID, b.Project, b.Root, b.RequestedAt = box.ID, box.Project, box.Root, s.opts.Clock().UTC()
		return p, nil
	})
	if err != nil {
		return nil, err
	}
	changed := req.ChangedFiles
	if len(changed) == 0 && dir != id.Root {
		s.opts.Logger.Debug("the whole repository is indexed", "part", "code", "asked", dir, "root", id.Root)
	}
	at, err := s.enqueue(ctx, RunRequest{Sandbox: box.ID, Project: p.ID, Changed: changed, Priority: askedPriority})
	if err != nil {
		return nil, err
	}
	return &memory.IndexQueued{
		Job: at.Job, Position: at.Position, Coalesced: at.Coalesced,
		Project: p.ID, ProjectName: p.Name, Sandbox: box.ID, Root: box.Root,
	}, nil
}

// enqueue adds a run and marks what gave way to it as stale.
func (s *Sandboxes) enqueue(ctx context.Context, run RunRequest) (Queued, error) {
	at, err := s.opts.Queue.Enqueue(ctx, run)
	if err != nil {
		return at, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.dropped, run.Sandbox)
	if at.Dropped != "" {
		s.dropped[at.Dropped] = true
	}
	if s.running[run.Sandbox] == nil {
		s.progress[run.Sandbox] = memory.Progress{Phase: "queued"}
	}
	return at, nil
}

// record changes what is stored of a sandbox.
func (s *Sandboxes) record(ctx context.Context, id string, change func(*memory.Sandbox) (memory.Project, error)) error {
	s.records.Lock()
	defer s.records.Unlock()
	b, err := s.opts.Shelf.Sandbox(id)
	if err != nil && memory.CodeOf(err) != memory.CodeNotFound {
		return err
	}
	p, err := change(&b)
	if err != nil {
		return err
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
	return s.dropped[b.ID] || s.opts.Clock().Sub(b.IndexedAt) > s.opts.StaleAfter
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
	s.mu.Lock()
	s.suspended[project]++
	var ending []*running
	for r := range maps.Values(s.running) {
		if r.project == project {
			ending = append(ending, r)
		}
	}
	s.mu.Unlock()
	for _, r := range ending {
		r.cancel()
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
