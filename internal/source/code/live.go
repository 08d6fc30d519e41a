package code

import (
	"context"
	"io/fs"
	"os"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/source/watch"
)

// watchedBox is a sandbox whose root is watched.
type watchedBox struct {
	id string
	// folder identifies the root after it was moved.
	folder fs.FileInfo
	// begun is true after its first batch.
	begun bool
}

// follow watches new sandboxes and stops watching forgotten ones.
func (r *refresher) follow(ctx context.Context) {
	if r.watcher == nil {
		return
	}
	boxes, err := r.s.opts.Store.Sandboxes()
	if err != nil {
		r.s.opts.Logger.Error("sandboxes cannot be read", "part", "code", "error", err)
		return
	}
	known := make(map[string]bool, len(boxes))
	for _, b := range boxes {
		known[b.Root] = true
		if r.watched[b.Root] != nil {
			continue
		}
		r.watcher.Remove(b.Root) // a folder of the settings has become a sandbox
		box := &watchedBox{id: b.ID}
		box.folder, _ = os.Lstat(b.Root)
		r.watched[b.Root] = box
		r.moved(ctx, box)
		if err := r.watcher.Add(watch.Root{Path: b.Root, Rules: r.s.rulesOf(b.Root)}); err != nil {
			r.s.opts.Logger.Error("sandbox is not watched", "part", "code", "root", b.Root, "error", err)
		}
	}
	for root := range r.watched {
		if !known[root] {
			r.leave(root)
		}
	}
}

// leave stops watching a sandbox that was forgotten. It may be a folder of the settings.
func (r *refresher) leave(root string) {
	delete(r.watched, root)
	r.watcher.Remove(root)
	r.watchFolders()
}

// take queues a run over the paths of a batch.
func (r *refresher) take(ctx context.Context, batch watch.Batch) {
	box := r.watched[batch.Root]
	if box == nil {
		r.appearing()
		return
	}
	b, known, err := r.s.sandbox(box.id)
	switch {
	case err != nil:
		r.s.opts.Logger.Error("sandbox cannot be read", "part", "code", "root", batch.Root, "error", err)
		return
	case !known:
		r.leave(batch.Root)
		return
	}
	priority := livePriority
	if !box.begun {
		priority = refreshPriority // no change is known
	}
	if batch.Gone {
		r.appearing() // it may have been moved to a discovered place
	} else {
		box.begun = true
		if info, err := os.Lstat(batch.Root); err == nil {
			box.folder = info
		}
	}
	r.s.look(ctx, b, batch.Paths, priority)
}

// watchedBy sets the watcher, nil for none.
func (s *Sandboxes) watchedBy(w *watch.Watcher) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watcher = w
}

// watching returns how changes of a sandbox are noticed. Callers hold mu.
func (s *Sandboxes) watching(b memory.Sandbox) watch.State {
	if s.watcher == nil {
		return watch.State{}
	}
	return s.watcher.State(b.Root)
}

// follow makes Refresh watch new sandboxes.
func (s *Sandboxes) follow() {
	select {
	case s.appeared <- struct{}{}:
	default: // a signal is pending
	}
}
