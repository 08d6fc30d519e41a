package project

import (
	"context"
	"log/slog"
	"sync"

	"github.com/recalld/recalld/internal/memory"
)

// Store keeps projects.
type Store interface {
	Directory
	// RecordProject adds names, remote and folders to a stored project, and a root if one
	// is named. It says whether the project is stored; others stay unknown.
	RecordProject(ctx context.Context, p memory.Project, root string) (stored bool, err error)
}

// Recorder records in the background what questions reveal of stored projects: a name, the
// new remote of a repository, a folder. So a query does not wait for a commit. The
// Resolver's directory includes what is not written yet, so that the next call finds the
// project by it, also from a clone.
type Recorder struct {
	// Resolver resolves projects without recording anything, for calls that write.
	*Resolver
	store Store
	log   *slog.Logger

	mu sync.Mutex // guards what follows
	// queue holds the pending writes, oldest first. The first one is being written while
	// running is set.
	queue   []revealed
	running bool
	closed  bool
	work    sync.WaitGroup
}

// revealed is new data of a project.
type revealed struct {
	project memory.Project
	root    string
	done    func(recorded bool)
}

// NewRecorder returns a recorder over a store. Close ends it.
func NewRecorder(store Store, log *slog.Logger) *Recorder {
	r := &Recorder{store: store, log: log}
	r.Resolver = NewResolver(r)
	return r
}

// Resolve is Resolver.Resolve, and records what it learns about a stored project.
func (r *Recorder) Resolve(ctx context.Context, name string, caller memory.Caller) (memory.Project, bool, error) {
	p, known, err := r.Resolver.Resolve(ctx, name, caller)
	if err != nil || !known {
		return p, known, err
	}
	stored, err := r.Stored(p)
	if err != nil { // the answer does not depend on it
		r.warn(p, err)
	} else if !stored {
		r.Record(p, "", nil)
	}
	return p, true, nil
}

// Record queues a project to be recorded, with a root if one is given. done, unless nil, is
// called afterwards from another goroutine, and says whether the project is stored.
func (r *Recorder) Record(p memory.Project, root string, done func(recorded bool)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	r.queue = append(r.queue, revealed{p, root, done})
	if !r.running {
		r.running = true
		r.work.Go(r.run)
	}
}

// run writes the queue until it is empty.
func (r *Recorder) run() {
	for {
		r.mu.Lock()
		if len(r.queue) == 0 {
			r.running = false
			r.mu.Unlock()
			return
		}
		next := r.queue[0]
		r.mu.Unlock()
		recorded, err := r.store.RecordProject(context.Background(), next.project, next.root)
		if err != nil {
			r.warn(next.project, err)
		}
		r.mu.Lock()
		r.queue = r.queue[1:]
		r.mu.Unlock()
		if next.done != nil {
			next.done(recorded && err == nil)
		}
	}
}

// Close waits until everything is recorded. Later calls record nothing.
func (r *Recorder) Close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.work.Wait()
}

func (r *Recorder) warn(p memory.Project, err error) {
	r.log.Warn("a project's new name, remote or folder was not recorded", "part", "projects", "project", p.ID, "error", err)
}

// Projects implements Directory: the stored projects with the pending writes.
func (r *Recorder) Projects() ([]memory.Project, error) {
	r.mu.Lock()
	queue := r.queue
	r.mu.Unlock()
	stored, err := r.store.Projects() // read after the queue, or a write in between would be missed
	if err != nil || len(queue) == 0 {
		return stored, err
	}
	out := make([]memory.Project, len(stored))
	for i, p := range stored {
		out[i] = p
		for _, next := range queue {
			if next.project.ID == p.ID {
				out[i] = next.project
				out[i].Roots = p.Roots
			}
		}
	}
	return out, nil
}

// Sandboxes implements Directory.
func (r *Recorder) Sandboxes() ([]memory.Sandbox, error) { return r.store.Sandboxes() }
