package code

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/project"
	"github.com/recalld/recalld/internal/source/watch"
)

// Store reads what is stored of sandboxes and their files. Lookups of a missing thing return
// CodeNotFound.
type Store interface {
	Projects() ([]memory.Project, error)
	Sandboxes() ([]memory.Sandbox, error)
	// ProjectSandboxes returns the sandboxes of a project. It must be fast: every query
	// calls it.
	ProjectSandboxes(project string) ([]memory.Sandbox, error)
	Sandbox(id string) (memory.Sandbox, error)
	File(sandbox, path string) (memory.File, error)
	// ChunksOf returns the chunks of a text, in any sandbox, by the hash of its bytes, or
	// CodeNotFound.
	ChunksOf(text memory.DocID, lang string, chunker int) ([]memory.FileChunk, error)
	// FileMetadata returns all files by path.
	FileMetadata(sandbox string) (map[string]memory.FileMetadata, error)
	// PathsBelow returns the stored files that are among the paths or below one of them.
	PathsBelow(sandbox string, paths []string) ([]string, error)
	// IndexSize returns the size of what is indexed of a sandbox. It, IndexSizes and UsedAt
	// read counters only.
	IndexSize(sandbox string) memory.IndexSize
	// IndexSizes returns the sizes by sandbox, and the approximate size on disk of all
	// together, in which shared chunks count once.
	IndexSizes() (map[string]memory.IndexSize, int64)
	// UsedAt returns when code of each file was last shown, by path.
	UsedAt(sandbox string) map[string]time.Time
}

// Writer is the part of the write path that this package uses.
type Writer interface {
	Sink
	// PutSandbox writes a sandbox and its project.
	PutSandbox(ctx context.Context, p memory.Project, b memory.Sandbox) error
	// PruneFiles removes the chunks of files, all of them or none, and returns how many
	// files had any.
	PruneFiles(ctx context.Context, files []memory.FileKey) (int, error)
}

// Queue takes requests for runs.
type Queue interface {
	// Enqueue adds a run durably, or joins it to the waiting run of the same sandbox (see
	// MergeRuns).
	Enqueue(ctx context.Context, run RunRequest) (Queued, error)
}

// Queued is the position of a run in the queue.
type Queued struct {
	Job string
	// Position is the number of jobs ahead of it.
	Position  int
	Coalesced bool
	// Dropped is the sandbox whose run was dropped to make room; empty if none was.
	Dropped string
}

// SandboxesOptions configure Sandboxes. The fields before MaxSize are required.
type SandboxesOptions struct {
	Store    Store
	Writer   Writer
	Queue    Queue
	Projects memory.ProjectResolver // a project has all its names
	// Run holds the settings of runs; its Progress is not used.
	Run Options
	// StaleAfter is the age from which an index counts as stale: the setting
	// index.stale_after.
	StaleAfter time.Duration
	// Switch stores whether everything is paused.
	Switch Switch
	// MaxSize limits the size on disk of all code indexes, in bytes; 0 is no limit.
	MaxSize int64
	// Watch makes Refresh notice changes as they happen.
	Watch bool
	// ReconcileEvery is the interval between full rescans by Refresh; 0 rescans only at
	// the start and after a stale answer.
	ReconcileEvery time.Duration
	// Ran, if set, is called with the duration of every run that is counted.
	Ran func(took time.Duration)
	// Indexed, if set, is called after a run that brought a sandbox up to date, Forgotten
	// when a sandbox is gone.
	Indexed   func(memory.Sandbox)
	Forgotten func(sandbox string)
	// Clock is time.Now if nil. Logger discards if nil.
	Clock  func() time.Time
	Logger *slog.Logger
}

func (o *SandboxesOptions) validate() error {
	switch {
	case o.Store == nil || o.Writer == nil || o.Queue == nil || o.Projects == nil || o.Switch == nil:
		return memory.Invalid("store, writer, queue, projects, switch", "", "sandboxes need all of them")
	case o.StaleAfter <= 0:
		return memory.Invalid("index.stale_after", "more than 0", "is missing")
	case o.ReconcileEvery < 0:
		return memory.Invalid("index.reconcile_every", "0 or more", "%v is negative", o.ReconcileEvery)
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	return o.Run.validate()
}

// Sandboxes manages the folders that are indexed: it queues and runs their indexing and
// reports its state. It is safe for concurrent use.
type Sandboxes struct {
	opts SandboxesOptions
	// wake receives the projects whose code lags behind the disk.
	wake chan string
	// appeared receives when there may be sandboxes that Refresh does not know.
	appeared chan struct{}

	// records serialises changes of stored sandboxes.
	records sync.Mutex
	// pauses serialises calls of Pause, pruning serialises calls of prune.
	pauses, pruning sync.Mutex

	mu        sync.Mutex               // guards what follows
	states    map[string]*sandboxState // by sandbox
	suspended map[string]int           // by project: how many calls of Suspend are not released
	allPaused bool
	counters  counters
	watcher   *watch.Watcher // nil while nothing is watched
}

// NewSandboxes returns the sandboxes of a store. Refresh keeps them up to date.
func NewSandboxes(opts SandboxesOptions) (*Sandboxes, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	paused, err := opts.Switch.Paused()
	if err != nil {
		return nil, fmt.Errorf("read pause: %w", err)
	}
	return &Sandboxes{
		opts: opts, allPaused: paused, wake: make(chan string, 64), appeared: make(chan struct{}, 1),
		states: map[string]*sandboxState{}, suspended: map[string]int{},
	}, nil
}

// IndexRepo queues the repository that contains a folder. See service.IndexRepo.
func (s *Sandboxes) IndexRepo(ctx context.Context, req memory.IndexRequest) (*memory.IndexQueued, error) {
	return s.request(ctx, req, askedPriority)
}

func (s *Sandboxes) request(ctx context.Context, req memory.IndexRequest, priority int) (*memory.IndexQueued, error) {
	if err := memory.Check(&req); err != nil {
		return nil, err
	}
	dir, id, err := located(req.Path, req.Caller)
	if err != nil {
		return nil, err
	}
	p, _, err := s.opts.Projects.Resolve(ctx, id.Root, memory.Caller{})
	if err != nil {
		return nil, err
	}
	box := memory.Sandbox{ID: project.SandboxID(id.Root), Project: p.ID, Root: id.Root}
	var unread error
	err = s.record(ctx, p.ID, box.ID, func(known memory.Project, b *memory.Sandbox) memory.Project {
		if b.Project != p.ID {
			b.Paused, unread = s.pausedProject(p.ID)
		}
		b.ID, b.Project, b.Root = box.ID, box.Project, box.Root
		b.RequestedAt = latest(b.RequestedAt, askedAt(req.RequestedAt, s.opts.Clock()))
		// The name that a host has for the project becomes one of its names.
		return named(known, p, req.ProjectID)
	})
	if err := cmp.Or(beingForgotten(err), unread); err != nil {
		return nil, err
	}
	s.follow()
	at, err := s.enqueue(ctx, RunRequest{
		Sandbox: box.ID, Project: p.ID, Changed: belowRoot(id.Root, dir, req.ChangedFiles),
		Asked: priority >= askedPriority, Priority: priority,
	})
	if err != nil {
		return nil, err
	}
	return &memory.IndexQueued{
		Job: at.Job, Position: at.Position, Coalesced: at.Coalesced,
		Project: p.ID, ProjectName: p.Name, Sandbox: box.ID, Root: box.Root,
	}, nil
}

// askedAt returns when a run was requested: the caller's time, which may be earlier than
// now if it waited for a connection, but never later.
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

// named merges the stored project, zero if it is new, with the project that was found and
// the name that a host has for it.
func named(known, found memory.Project, host string) memory.Project {
	p := found
	if known.ID != "" {
		p = known
		p.Place = cmp.Or(found.Place, known.Place) // its folder may have been moved
		p.Folders, p.History, p.Apart = found.Folders, found.History, found.Apart
	}
	p.Names = slices.Clip(p.Names)
	for _, name := range append(slices.Clone(found.Names), host) {
		if name != "" && name != p.ID && !slices.Contains(p.Names, name) {
			p.Names = append(p.Names, name)
		}
	}
	return p
}

// belowRoot makes changed paths relative to the root of the sandbox. Callers give them
// absolute or relative to their own folder, which may lie below the root and may be
// reached by a symbolic link. Paths outside are kept as they are; the run ignores them.
func belowRoot(root, dir string, changed []string) []string {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil // the folder is going away: look at everything
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

// enqueue adds a run and marks the sandbox as dirty whose run was dropped for it. The
// run counts as queued before Enqueue is called: it may end before Enqueue returns.
func (s *Sandboxes) enqueue(ctx context.Context, run RunRequest) (Queued, error) {
	run.Changed = boundChanged(slices.Clone(run.Changed))
	s.mu.Lock()
	s.state(run.Sandbox).queued++
	s.mu.Unlock()
	at, err := s.opts.Queue.Enqueue(ctx, run)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.state(run.Sandbox).dequeue(1)
		return at, err
	}
	if at.Dropped != "" {
		s.state(at.Dropped).giveUp()
	}
	return at, nil
}

// sandbox returns a stored sandbox, and whether there is one.
func (s *Sandboxes) sandbox(id string) (b memory.Sandbox, known bool, err error) {
	b, err = s.opts.Store.Sandbox(id)
	if memory.CodeOf(err) == memory.CodeNotFound {
		return memory.Sandbox{}, false, nil
	}
	if err != nil {
		return b, false, fmt.Errorf("read sandbox: %w", err)
	}
	return b, true, nil
}

// record changes the stored sandbox and its project, which are zero if they are new. It
// returns errSuspended while the project is suspended, so that a project that is being
// removed does not come back.
func (s *Sandboxes) record(ctx context.Context, project, sandbox string, change func(memory.Project, *memory.Sandbox) memory.Project) error {
	s.records.Lock()
	defer s.records.Unlock()
	s.mu.Lock()
	held := s.suspended[project] > 0
	s.mu.Unlock()
	if held {
		return errSuspended
	}
	projects, err := s.opts.Store.Projects()
	if err != nil {
		return fmt.Errorf("read project: %w", err)
	}
	var p memory.Project
	if i := slices.IndexFunc(projects, func(p memory.Project) bool { return p.ID == project }); i >= 0 {
		p = projects[i]
	}
	b, _, err := s.sandbox(sandbox)
	if err != nil {
		return err
	}
	if p = change(p, &b); p.ID == "" {
		return memory.Errorf(memory.CodeNotFound, "project %s is unknown", project)
	}
	return s.opts.Writer.PutSandbox(ctx, p, b)
}
