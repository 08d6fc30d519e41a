package code

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

const (
	// pruneTarget is the size to which an index is pruned, in percent of its limit. It is
	// below the limit so that the next few files do not start another pruning.
	pruneTarget = 90
	// pruneBatch is the most files that lose their chunks in one commit. The sizes are
	// read again between commits.
	pruneBatch = 64
)

// prune removes chunks while the index of all code is over its limit, from the least
// recently used projects first, and in each from the least recently used files. It stops
// before a project that is being indexed: the end of that run prunes again. Pruned files
// keep their heads.
func (s *Sandboxes) prune(ctx context.Context) error {
	if s.opts.MaxSize == 0 || !s.pruning.TryLock() {
		return nil // the running prune continues until the size is right
	}
	defer s.pruning.Unlock()
	sizes, disk := s.opts.Store.IndexSizes()
	if disk <= s.opts.MaxSize {
		return nil
	}
	order, err := s.leastUsed(sizes)
	if err != nil {
		return err
	}
	target, files := s.opts.MaxSize/100*pruneTarget, 0
	before := disk
	for _, boxes := range order {
		if disk <= target || s.inRun(boxes) {
			break
		}
		var n int
		if n, disk, err = s.pruneProject(ctx, boxes, target); err != nil {
			return err
		}
		files += n
	}
	log := s.opts.Logger.With("part", "code", "files", files, "was", before, "bytes", disk, "limit", s.opts.MaxSize)
	if disk > s.opts.MaxSize {
		log.Warn("index is over its limit and nothing more can be pruned for now")
	} else {
		log.Info("index pruned")
	}
	return nil
}

// leastUsed returns the sandboxes that have chunks, grouped by project, the least
// recently used project first. A request to index a project counts as use.
func (s *Sandboxes) leastUsed(sizes map[string]memory.IndexSize) ([][]memory.Sandbox, error) {
	boxes, err := s.opts.Store.Sandboxes()
	if err != nil {
		return nil, fmt.Errorf("list sandboxes: %w", err)
	}
	used := map[string]time.Time{}
	byProject := map[string][]memory.Sandbox{}
	for _, b := range boxes {
		used[b.Project] = latest(used[b.Project], latest(b.RequestedAt, sizes[b.ID].UsedAt))
		if sizes[b.ID].Chunks > 0 {
			byProject[b.Project] = append(byProject[b.Project], b)
		}
	}
	return slices.SortedFunc(maps.Values(byProject), func(a, b []memory.Sandbox) int {
		return cmp.Or(used[a[0].Project].Compare(used[b[0].Project]), cmp.Compare(a[0].Project, b[0].Project))
	}), nil
}

// prunable is a file that has chunks. used is when its code was last shown.
type prunable struct {
	memory.FileKey
	used, modified time.Time
}

// pruneProject prunes files of a project's sandboxes until the index is down to target
// bytes. It returns how many files it pruned and the size of the index.
func (s *Sandboxes) pruneProject(ctx context.Context, boxes []memory.Sandbox, target int64) (files int, disk int64, err error) {
	list, err := s.prunables(boxes)
	if err != nil {
		return 0, 0, err
	}
	sizes, disk := s.opts.Store.IndexSizes()
	mean := int64(1) // the mean size of a file
	for _, b := range boxes {
		mean += sizes[b.ID].Disk / int64(len(list)+1)
	}
	for len(list) > 0 && disk > target {
		n := min(len(list), pruneBatch, 1+int((disk-target)/mean))
		keys := s.idle(list[:n])
		list = list[n:]
		if len(keys) == 0 {
			continue
		}
		done, err := s.opts.Writer.PruneFiles(ctx, keys)
		if err != nil {
			return files, disk, fmt.Errorf("prune files: %w", err)
		}
		files += done
		_, disk = s.opts.Store.IndexSizes()
	}
	return files, disk, nil
}

// inRun reports whether a sandbox is being indexed or has the rest of a run queued:
// pruning would remove what that run restores.
func (s *Sandboxes) inRun(boxes []memory.Sandbox) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(boxes, func(b memory.Sandbox) bool { return s.runs(b.ID) })
}

// Callers hold mu.
func (s *Sandboxes) runs(sandbox string) bool {
	st := s.state(sandbox)
	return st.running != nil || st.unfinished
}

// idle returns the files whose sandboxes are not in a run.
func (s *Sandboxes) idle(list []prunable) []memory.FileKey {
	keys := make([]memory.FileKey, 0, len(list))
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range list {
		if !s.runs(f.Sandbox) {
			keys = append(keys, f.FileKey)
		}
	}
	return keys
}

// prunables lists the files that can be pruned, least recently used first; of files that
// were never used the oldest first. The same file of two worktrees is adjacent, because
// only both together free the text that they share.
func (s *Sandboxes) prunables(boxes []memory.Sandbox) ([]prunable, error) {
	var list []prunable
	for _, b := range boxes {
		metadata, err := s.opts.Store.FileMetadata(b.ID)
		if err != nil {
			return nil, fmt.Errorf("list files: %w", err)
		}
		used := s.opts.Store.UsedAt(b.ID)
		for path, f := range metadata {
			if f.Chunks > 0 {
				list = append(list, prunable{memory.FileKey{Sandbox: b.ID, Path: path}, used[path], f.ModTime})
			}
		}
	}
	slices.SortFunc(list, func(a, b prunable) int {
		return cmp.Or(a.used.Compare(b.used), a.modified.Compare(b.modified), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Sandbox, b.Sandbox))
	})
	return list, nil
}
