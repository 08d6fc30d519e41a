package code

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/source/watch"
)

const (
	// refreshPause is how long a stale project is left alone after it was refreshed.
	// refreshShare limits refreshing to a tenth of the time.
	refreshPause = 10 * time.Second
	refreshShare = 10
	// minReconcile is the shortest time between two full rescans of sandboxes.
	minReconcile = 100 * time.Millisecond
)

// livePriority is the priority of runs over files that just changed: a query about them
// may come soon.
const livePriority = (askedPriority + refreshPriority) / 2

// Refresh keeps the index up to date until ctx ends. It rescans every known sandbox and
// discovers every repository below the folders, then follows changes, new repositories
// and the projects reported by Stale, and rescans everything every ReconcileEvery.
func (s *Sandboxes) Refresh(ctx context.Context, folders []string) error {
	r := &refresher{
		s: s, folders: folders, missing: map[string]bool{}, candidates: map[string]time.Time{},
		watched: map[string]*watchedBox{}, refused: map[string]string{},
	}
	if s.opts.Watch {
		w, err := watch.New(watch.Options{Logger: s.opts.Logger})
		if err != nil {
			return fmt.Errorf("watch sandboxes: %w", err)
		}
		r.watcher = w
		s.watchedBy(w)
		defer func() {
			s.watchedBy(nil)
			if err := w.Close(); err != nil {
				s.opts.Logger.Error("watching did not end well", "part", "code", "error", err)
			}
		}()
	}
	return r.run(ctx)
}

// refresher is the state of one Refresh. Its goroutine owns it.
type refresher struct {
	s       *Sandboxes
	folders []string
	missing map[string]bool // folders that were reported as missing
	// watcher is nil where nothing is watched.
	watcher *watch.Watcher
	// watched are the sandboxes whose roots are watched, by root.
	watched map[string]*watchedBox
	// candidates are the repositories that are still being made, and since when.
	candidates map[string]time.Time
	// refused are the repositories that cannot be indexed, with the reported reason.
	refused map[string]string
	// look is the time of the next discover, lookUntil the end of the time in which it runs
	// often.
	look      *time.Timer
	lookUntil time.Time
	// drops are the goroutines that drop files; dropping serialises them.
	drops    sync.WaitGroup
	dropping sync.Mutex
	// turn lists the sandboxes in the order of their full rescans.
	turn []string
}

func (r *refresher) run(ctx context.Context) error {
	defer r.drops.Wait()
	if err := r.start(ctx); err != nil {
		return err
	}
	stale := time.NewTicker(r.s.opts.StaleAfter)
	defer stale.Stop()
	reconcile := time.NewTimer(0)
	defer reconcile.Stop()
	r.pace(reconcile)
	r.look = time.NewTimer(0)
	r.look.Stop()
	defer r.look.Stop()
	var batches <-chan watch.Batch
	if r.watcher != nil {
		batches = r.watcher.Batches()
	}
	r.discover(ctx)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-stale.C:
			r.sayMissing()
			r.discover(ctx)
			r.follow(ctx)
			r.dropGone(ctx)
		case <-r.look.C:
			r.discover(ctx)
		case <-r.s.appeared:
			r.follow(ctx)
		case b := <-batches:
			r.take(ctx, b)
		case <-reconcile.C:
			r.reconcile(ctx)
			r.pace(reconcile)
		case p := <-r.s.wake:
			r.s.refresh(ctx, p)
		}
	}
}

// start rescans every known sandbox. A watched one is rescanned when its first batch
// comes, because from then on no change is missed.
func (r *refresher) start(ctx context.Context) error {
	boxes, err := r.s.opts.Store.Sandboxes()
	if err != nil {
		return err
	}
	r.sayMissing()
	if r.watcher == nil {
		for _, b := range boxes {
			r.s.again(ctx, b)
		}
		return nil
	}
	r.follow(ctx)
	r.watchFolders()
	return nil
}

// pace sets the time of the next full rescan: all sandboxes take turns within
// ReconcileEvery.
func (r *refresher) pace(next *time.Timer) {
	next.Stop()
	if every := r.s.opts.ReconcileEvery; every > 0 {
		next.Reset(max(minReconcile, every/time.Duration(max(1, len(r.turn)))))
	}
}

// reconcile rescans the sandbox whose turn it is.
func (r *refresher) reconcile(ctx context.Context) {
	boxes, err := r.s.opts.Store.Sandboxes()
	if err != nil {
		r.s.opts.Logger.Error("sandboxes cannot be read", "part", "code", "error", err)
		return
	}
	known := make(map[string]memory.Sandbox, len(boxes))
	for _, b := range boxes {
		known[b.ID] = b
	}
	r.turn = slices.DeleteFunc(r.turn, func(id string) bool { return known[id].ID == "" })
	for _, id := range slices.Sorted(maps.Keys(known)) {
		if !slices.Contains(r.turn, id) {
			r.turn = append(r.turn, id)
		}
	}
	if len(r.turn) == 0 {
		return
	}
	next := known[r.turn[0]]
	r.turn = append(r.turn[1:], next.ID)
	if !r.s.busy(next.ID) {
		r.s.again(ctx, next)
	}
}

// busy reports whether a run of a sandbox is queued or running.
func (s *Sandboxes) busy(sandbox string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state(sandbox).busy()
}

// again queues a full run that no caller waits for. If the queue is full it is logged,
// and the next stale answer tries again.
func (s *Sandboxes) again(ctx context.Context, b memory.Sandbox) {
	s.look(ctx, b, nil, refreshPriority)
}

// look queues a run over changed paths, over everything if changed is nil. It does
// nothing if the folder is missing, and marks a paused sandbox as dirty.
func (s *Sandboxes) look(ctx context.Context, b memory.Sandbox, changed []string, priority int) {
	if !s.present(ctx, b) {
		return
	}
	if s.held(b) {
		s.markDirty(b.ID)
		return
	}
	_, err := s.enqueue(ctx, RunRequest{Sandbox: b.ID, Project: b.Project, Changed: changed, Priority: priority})
	if err != nil && ctx.Err() == nil {
		s.markDirty(b.ID)
		s.opts.Logger.Warn("sandbox is not looked at again", "part", "code", "root", b.Root, "error", err)
	}
}

// refresh queues the stale sandboxes of a project, at most once per refreshPause, so that
// a difference that an index run does not remove causes no endless runs.
func (s *Sandboxes) refresh(ctx context.Context, project string) {
	boxes, err := s.opts.Store.ProjectSandboxes(project)
	if err != nil {
		return // logged by Stale
	}
	now := s.opts.Clock()
	for _, b := range boxes {
		if s.isDue(b, now) {
			s.again(ctx, b)
		}
	}
}

// isDue reports whether a stale sandbox may be refreshed now, and if so records that it
// is. Projects that are being forgotten may not.
func (s *Sandboxes) isDue(b memory.Sandbox, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.state(b.ID)
	if st.busy() || s.suspended[b.Project] > 0 || now.Sub(st.refreshed) < max(refreshPause, refreshShare*b.LastRun.Duration()) {
		return false
	}
	st.refreshed = now
	return true
}

// catchUp queues a dirty sandbox: a run has just ended, so there is room in the queue.
func (s *Sandboxes) catchUp(ctx context.Context) {
	s.mu.Lock()
	var dirty []string
	for id, st := range s.states {
		if st.dirty > 0 {
			dirty = append(dirty, id)
		}
	}
	s.mu.Unlock()
	slices.Sort(dirty)
	now := s.opts.Clock()
	for _, id := range dirty {
		b, err := s.opts.Store.Sandbox(id)
		if err == nil && !s.held(b) && s.isDue(b, now) {
			s.again(ctx, b)
			return
		}
	}
}
