package code

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// goneAfter is how long a folder must be missing before its files are dropped from the
// index, so that a drive that is disconnected for a while loses nothing.
const goneAfter = 24 * time.Hour

// present reports whether the folder of a sandbox exists, and stores since when it does
// not.
func (s *Sandboxes) present(ctx context.Context, b memory.Sandbox) bool {
	info, err := os.Lstat(b.Root)
	there := err == nil && info.IsDir()
	if there == b.GoneAt.IsZero() {
		return there
	}
	var at time.Time
	if !there {
		at = s.opts.Clock().UTC()
	}
	err = s.record(ctx, b.Project, b.ID, func(p memory.Project, b *memory.Sandbox) memory.Project {
		b.GoneAt = at
		return p
	})
	if err != nil && ctx.Err() == nil {
		s.opts.Logger.Error("sandbox cannot be written", "part", "code", "root", b.Root, "error", err)
	}
	return there
}

// dropGone drops the files of sandboxes that have been missing for goneAfter.
func (r *refresher) dropGone(ctx context.Context) {
	boxes, err := r.s.opts.Store.Sandboxes()
	if err != nil {
		r.s.opts.Logger.Error("sandboxes cannot be read", "part", "code", "error", err)
		return
	}
	for _, b := range boxes {
		if !b.GoneAt.IsZero() && r.s.opts.Clock().Sub(b.GoneAt) >= goneAfter && !isDropped(b) {
			r.drop(ctx, b.ID, "its folder has been missing for long")
		}
	}
}

// isDropped reports whether the folder of a sandbox is missing and its files were
// dropped.
func isDropped(b memory.Sandbox) bool {
	return !b.GoneAt.IsZero() && b.IndexedAt.IsZero() && b.Files == 0
}

// moved drops the files of a sandbox whose folder was moved to another sandbox, where
// they are found.
func (r *refresher) moved(ctx context.Context, to *watchedBox) {
	if to.folder == nil {
		return
	}
	for _, from := range r.watched {
		if from == to || from.folder == nil || !os.SameFile(from.folder, to.folder) {
			continue
		}
		if b, err := r.s.opts.Store.Sandbox(from.id); err == nil && !r.s.present(ctx, b) {
			from.folder = nil
			r.drop(ctx, from.id, "its folder was moved")
		}
	}
}

// drop drops the files of a sandbox in the background.
func (r *refresher) drop(ctx context.Context, sandbox, why string) {
	r.drops.Go(func() {
		files, err := r.dropFiles(ctx, sandbox)
		switch {
		case err != nil && ctx.Err() == nil:
			r.s.opts.Logger.Error("files of a missing sandbox are not dropped", "part", "code", "sandbox", sandbox, "error", err)
		case err == nil && files > 0:
			r.s.opts.Logger.Info("files dropped", "part", "code", "sandbox", sandbox, "files", files, "why", why)
		}
	})
}

// dropFiles drops all stored files of a sandbox whose folder is missing, and returns how
// many there were. The sandbox itself stays, so that it is indexed if the folder comes
// back.
func (r *refresher) dropFiles(ctx context.Context, sandbox string) (int, error) {
	r.dropping.Lock()
	defer r.dropping.Unlock()
	s := r.s
	b, err := s.opts.Store.Sandbox(sandbox)
	if err != nil {
		return 0, fmt.Errorf("read sandbox: %w", err)
	}
	if isDropped(b) || s.present(ctx, b) {
		return 0, nil
	}
	files, err := s.opts.Store.FileMetadata(sandbox)
	if err != nil {
		return 0, fmt.Errorf("list known files: %w", err)
	}
	err = each(ctx, dropWorkers, slices.Collect(maps.Keys(files)), func(ctx context.Context, path string) error {
		if err := s.opts.Writer.DropFile(ctx, sandbox, path); err != nil {
			return fmt.Errorf("drop %s: %w", path, err)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	err = s.record(ctx, b.Project, sandbox, func(p memory.Project, b *memory.Sandbox) memory.Project {
		b.IndexedAt, b.Files, b.Chunks, b.Bytes, b.Skipped = time.Time{}, 0, 0, 0, nil
		b.LastError, b.LastErrorAt = "", time.Time{}
		return p
	})
	if err != nil {
		return 0, fmt.Errorf("write sandbox: %w", err)
	}
	s.forgotten(sandbox)
	if s.present(ctx, b) {
		// The folder came back meanwhile, and a run may have found files indexed that
		// were dropped after that.
		s.markDirty(sandbox)
		s.again(ctx, b)
	}
	return len(files), nil
}
