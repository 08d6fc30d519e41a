package code

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/project"
)

const (
	// refreshPause is how long a project that lags is left alone after it was
	// looked at; refreshShare keeps the time spent on that to a tenth.
	refreshPause = 10 * time.Second
	refreshShare = 10
	// maxFound bounds the repositories looked for under one folder.
	maxFound = 1000
)

// Refresh keeps the index up to date until ctx ends: it has every known sandbox
// looked at, and every repository below the folders, then every repository that
// appears below them, and the projects that Stale was asked about.
func (s *Sandboxes) Refresh(ctx context.Context, folders []string) error {
	if err := s.reconcile(ctx); err != nil {
		return err
	}
	tick := time.NewTicker(s.opts.StaleAfter)
	defer tick.Stop()
	missing := map[string]bool{} // folders that were said to be
	for {
		s.lookFor(folders, missing)
		s.discover(ctx, folders)
		for again := true; again; {
			select {
			case <-ctx.Done():
				return nil
			case <-tick.C:
				again = false
			case p := <-s.wake:
				s.refresh(ctx, p)
			}
		}
	}
}

// reconcile has every known sandbox looked at whose folder is there.
func (s *Sandboxes) reconcile(ctx context.Context) error {
	boxes, err := s.opts.Shelf.Sandboxes()
	if err != nil {
		return err
	}
	for _, b := range boxes {
		s.again(ctx, b)
	}
	return nil
}

// again queues a run that nobody waits for. A queue that is full is said; the
// next question asks again.
func (s *Sandboxes) again(ctx context.Context, b memory.Sandbox) {
	if _, err := os.Stat(b.Root); err != nil {
		return // a drive that is away for a moment, or gone: the gates decide
	}
	if _, err := s.enqueue(ctx, RunRequest{Sandbox: b.ID, Project: b.Project, Priority: refreshPriority}); err != nil && ctx.Err() == nil {
		s.opts.Logger.Warn("sandbox is not looked at again", "part", "code", "root", b.Root, "error", err)
	}
}

// lookFor says which folders do not exist, each once until it is there: most
// likely its name is misspelt, and nothing of it would ever be indexed.
func (s *Sandboxes) lookFor(folders []string, missing map[string]bool) {
	for _, dir := range folders {
		info, err := os.Stat(dir)
		if err == nil && !info.IsDir() {
			err = errors.New("it is not a folder")
		}
		if err != nil && !missing[dir] {
			s.opts.Logger.Error("folder of the setting sandboxes cannot be used", "part", "code", "folder", dir, "error", err)
		}
		missing[dir] = err != nil
	}
}

// discover queues the repositories below folders that are not known.
func (s *Sandboxes) discover(ctx context.Context, folders []string) {
	for _, dir := range folders {
		for _, root := range project.Below(dir, maxFound) {
			id, err := project.Identify(root)
			if err != nil {
				continue
			}
			if _, err := s.opts.Shelf.Sandbox(project.SandboxID(id.Root)); err == nil {
				continue
			}
			if _, err := s.request(ctx, memory.IndexRequest{Path: id.Root}, refreshPriority); err != nil && ctx.Err() == nil {
				s.opts.Logger.Warn("repository is not indexed", "part", "code", "root", id.Root, "error", err)
			}
		}
	}
}

// refresh queues the sandboxes of a project that lags, but not again and again
// while they are being looked at, or what was seen does not go away.
func (s *Sandboxes) refresh(ctx context.Context, project string) {
	boxes, err := s.opts.Shelf.Sandboxes()
	if err != nil {
		return // said by Stale
	}
	now := s.opts.Clock()
	for _, b := range boxes {
		if b.Project != project {
			continue
		}
		s.mu.Lock()
		_, busy := s.progress[b.ID]
		busy = busy || now.Sub(s.refreshed[b.ID]) < max(refreshPause, refreshShare*b.LastRun.Duration())
		if !busy {
			s.refreshed[b.ID] = now
		}
		s.mu.Unlock()
		if !busy {
			s.again(ctx, b)
		}
	}
}
