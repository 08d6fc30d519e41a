package watch

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/recalld/recalld/internal/fsx"
)

// root is a watched root. Its goroutine, run, owns all that mu does not guard.
type root struct {
	w     *Watcher
	at    Root
	ctx   context.Context
	ended chan struct{}
	inbox *queue
	// cancel ends run.
	cancel context.CancelFunc

	rules   Rules
	info    fs.FileInfo // of the folder that is watched; nil while it is missing
	changes changes
	git     gitWork
	// ready is the batch that waits to be taken; nil for none.
	ready *Batch
	// stale means that the rules have changed, so that other folders are watched.
	stale bool
	// nested are separate repositories that are not watched.
	nested map[string]bool
	polled

	mu    sync.Mutex // guards state
	state State
}

func newRoot(w *Watcher, at Root) *root {
	ctx, cancel := context.WithCancel(w.ctx)
	return &root{w: w, at: at, ctx: ctx, cancel: cancel, ended: make(chan struct{}), inbox: newQueue(), nested: map[string]bool{}}
}

// told returns the state for other goroutines.
func (r *root) told() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state
}

func (r *root) be(mode Mode, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state.Mode != mode || r.state.Why != why {
		r.w.opts.Logger.Debug("watching", "part", "watch", "root", r.at.Path, "mode", mode, "why", why)
	}
	r.state.Mode, r.state.Why = mode, why
}

// pend records whether changes wait to be handed over or received.
func (r *root) pend() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state.Pending = r.ready != nil || !r.changes.empty()
}

// run watches until its context ends.
func (r *root) run() {
	defer close(r.ended)
	defer r.cancel()
	defer r.w.system.release(r, nil)
	r.appear()
	look := time.NewTicker(r.w.opts.LookEvery)
	defer look.Stop()
	due := time.NewTimer(0)
	defer due.Stop()
	poll := time.NewTimer(0)
	defer poll.Stop()
	for {
		r.pend()
		var out chan Batch
		var batch Batch
		if r.ready != nil {
			out, batch = r.w.batches, *r.ready
		}
		if at, ok := r.changes.due(&r.w.opts); ok {
			due.Reset(time.Until(at))
		} else {
			due.Stop()
		}
		if r.snapshot != nil {
			poll.Reset(time.Until(r.nextPoll))
		} else {
			poll.Stop()
		}
		select {
		case <-r.ctx.Done():
			return
		case out <- batch:
			r.ready = nil
		case <-r.inbox.ready:
			r.hear()
		case <-due.C:
			r.flush()
		case <-look.C:
			r.look()
		case <-poll.C:
			r.poll()
		}
	}
}

// hear handles the events of the system.
func (r *root) hear() {
	events, lost := r.inbox.take()
	for _, e := range events {
		if r.info != nil && r.told().Mode == Events {
			r.event(e)
		}
	}
	if lost && r.info != nil && r.ctx.Err() == nil {
		// Folders may have moved unnoticed with their watches: renew all of them.
		r.appear()
	}
}

// event handles one event.
func (r *root) event(e fsnotify.Event) {
	if e.Op == fsnotify.Chmod {
		r.permitted(e.Name)
		return
	}
	base := filepath.Base(e.Name)
	if r.rules.GitDir != "" && filepath.Dir(e.Name) == r.rules.GitDir {
		r.git.event(base, e.Op)
		return
	}
	rel, err := filepath.Rel(r.at.Path, e.Name)
	if err != nil || !filepath.IsLocal(rel) {
		return // of the git folder itself
	}
	if rel = filepath.ToSlash(rel); rel == "." {
		if e.Op&(fsnotify.Remove|fsnotify.Rename) != 0 {
			// All its watches have ended. Its new state cannot be compared with the old
			// one: file systems reuse the number of a removed folder.
			r.appear()
		}
		return
	}
	r.changed(rel, base, e.Op)
}

// permitted watches a folder that could not be watched before its permissions changed. Those
// of other folders and of files do not matter.
func (r *root) permitted(full string) {
	rel, err := filepath.Rel(r.at.Path, full)
	if err != nil || !filepath.IsLocal(rel) || filepath.Base(full) == ".git" || filepath.Dir(full) == r.rules.GitDir {
		return
	}
	info, err := os.Lstat(full)
	if err != nil || !info.IsDir() || r.w.system.holds(r, full) {
		return
	}
	if rel = filepath.ToSlash(rel); r.skip(rel, true) {
		return
	}
	r.scanned(r.scan(rel, nil))
	if r.w.system.holds(r, full) {
		r.changes.path(rel)
	}
}

// changed records a change of a file or folder below the root.
func (r *root) changed(rel, base string, op fsnotify.Op) {
	if changesRules(base) {
		r.stale = true
		r.changes.everything()
		return
	}
	if op.Has(fsnotify.Create) {
		info, err := os.Lstat(filepath.Join(r.at.Path, filepath.FromSlash(rel)))
		if err == nil && info.IsDir() {
			if r.leavesOut(rel) {
				return
			}
			r.changes.path(rel) // including files that were created before it was watched
			if r.snapshot == nil {
				r.scanned(r.scan(rel, nil))
			}
			return
		}
	}
	if op.Has(wasFolder) || !isTemporary(base) && !r.skip(rel, false) {
		r.changes.path(rel)
	}
}

func (r *root) skip(rel string, dir bool) bool { return r.rules.Skip != nil && r.rules.Skip(rel, dir) }

// leavesOut reports whether the rules skip a folder, and remembers a separate repository.
func (r *root) leavesOut(rel string) bool {
	skip := r.skip(rel, true)
	if skip && len(r.nested) < maxNested && r.isRepository(rel) {
		r.nested[rel] = true
	}
	return skip
}

// maxNested bounds the separate repositories that are remembered.
const maxNested = 1000

// isRepository reports whether a folder has a .git.
func (r *root) isRepository(rel string) bool {
	_, err := os.Lstat(filepath.Join(r.at.Path, filepath.FromSlash(rel), ".git"))
	return err == nil || !fsx.IsGone(err)
}

// appear begins to watch a root that is new, is back, or lost events.
func (r *root) appear() {
	info, err := os.Lstat(r.at.Path)
	if err != nil || !info.IsDir() {
		r.vanish()
		return
	}
	r.w.system.release(r, nil)
	r.inbox.take() // everything is compared anyway
	r.be(Starting, "")
	r.info, r.git, r.snapshot = info, gitWork{}, nil
	r.follow()
	r.changes.everything()
}

// follow watches every folder that the rules want, or polls the root.
func (r *root) follow() {
	r.rules = Rules{}
	if r.at.Rules != nil {
		r.rules = r.at.Rules(r.ctx)
	}
	r.stale = false
	keep, err := r.scanAll()
	if err == nil {
		r.w.system.release(r, keep)
		r.snapshot = nil
		r.be(Events, "")
	}
	r.scanned(err)
}

// scanned handles the end of a scan. A root that cannot be watched completely is polled,
// and releases its watches.
func (r *root) scanned(err error) {
	if err == nil || r.ctx.Err() != nil {
		return
	}
	why := err.Error()
	if isExhausted(err) {
		why = exhausted
	}
	if r.told().Mode != Polling {
		r.w.opts.Logger.Info("folder is polled for changes", "part", "watch", "root", r.at.Path, "error", err)
	}
	r.usePolls(why)
}

// vanish handles a missing root.
func (r *root) vanish() {
	if r.info == nil && r.told().Mode == Missing {
		return
	}
	r.w.system.release(r, nil)
	r.info, r.snapshot = nil, nil
	r.changes = changes{}
	r.be(Missing, "")
	r.ready = &Batch{Root: r.at.Path, Gone: true}
}

// look checks whether the root is still the watched folder.
func (r *root) look() {
	info, err := os.Lstat(r.at.Path)
	switch {
	case err != nil || !info.IsDir():
		r.vanish()
	case r.info == nil || !os.SameFile(r.info, info):
		r.appear()
	case !r.stale && (r.told().Mode == Events && r.hasTakenIn() || r.rules.Changed != nil && r.rules.Changed()):
		r.stale = true
		r.changes.everything()
	}
}

// hasTakenIn reports whether a folder that was a separate repository is a part of this one
// by now: nothing tells that its .git is gone, because it is not watched.
func (r *root) hasTakenIn() bool {
	for rel := range r.nested {
		if r.isRepository(rel) {
			continue
		}
		delete(r.nested, rel)
		if info, err := os.Lstat(filepath.Join(r.at.Path, filepath.FromSlash(rel))); err == nil && info.IsDir() {
			return true
		}
	}
	return false
}

// flush makes a batch of the changes, unless git is still working.
func (r *root) flush() {
	if r.git.busy(&r.w.opts, r.rules.GitDir, r.changes.first) {
		r.changes.held = time.Now().Add(r.w.opts.Quiet)
		return
	}
	if r.stale {
		r.follow()
	}
	b := r.changes.batch(r.at.Path, r.w.opts.MaxPaths)
	r.ready = joined(r.ready, &b, r.w.opts.MaxPaths)
}
