package code

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// goneAfter is how long a folder must have been missing before what is known of its
// files is dropped: a drive that is away for a moment loses nothing.
const goneAfter = 24 * time.Hour

// present says whether the folder of a sandbox is there, and writes down since when
// it is not.
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

// dropGone drops the files of the sandboxes that have been missing for long.
func (s *Sandboxes) dropGone(ctx context.Context) {
	boxes, err := s.opts.Shelf.Sandboxes()
	if err != nil {
		s.opts.Logger.Error("sandboxes cannot be read", "part", "code", "error", err)
		return
	}
	for _, b := range boxes {
		if b.GoneAt.IsZero() || s.opts.Clock().Sub(b.GoneAt) < goneAfter || isDropped(b) || s.present(ctx, b) {
			continue
		}
		s.dropFiles(ctx, b, "its folder has been missing for long")
	}
}

// isDropped says of a sandbox whose folder is missing that nothing is known of its
// files any more.
func isDropped(b memory.Sandbox) bool {
	return !b.GoneAt.IsZero() && b.IndexedAt.IsZero() && b.Files == 0
}

// moved drops the files of a sandbox whose folder is now that of another one: its
// files are found there.
func (s *Sandboxes) moved(ctx context.Context, to *watchedBox, watched map[string]*watchedBox) {
	if to.folder == nil {
		return
	}
	for root, from := range watched {
		if from == to || from.folder == nil || !os.SameFile(from.folder, to.folder) {
			continue
		}
		b, err := s.opts.Shelf.Sandbox(from.id)
		if err != nil || s.present(ctx, b) {
			continue
		}
		from.folder = nil
		if b, err = s.opts.Shelf.Sandbox(from.id); err == nil && b.Root == root && !isDropped(b) {
			s.dropFiles(ctx, b, "its folder was moved")
		}
	}
}

// dropFiles drops all that is known of the files of a sandbox. The sandbox stays, so
// that it is looked at should its folder come back.
func (s *Sandboxes) dropFiles(ctx context.Context, b memory.Sandbox, why string) {
	n, err := s.drop(ctx, b)
	if err != nil {
		if ctx.Err() == nil {
			s.opts.Logger.Error("files of a missing sandbox are not dropped", "part", "code", "root", b.Root, "error", err)
		}
		return
	}
	s.opts.Logger.Info("files dropped", "part", "code", "root", b.Root, "files", n, "why", why)
}

func (s *Sandboxes) drop(ctx context.Context, b memory.Sandbox) (int, error) {
	files, err := s.opts.Shelf.Briefs(b.ID)
	if err != nil {
		return 0, fmt.Errorf("list known files: %w", err)
	}
	for path := range files {
		if err := s.opts.Writer.DropFile(ctx, b.ID, path); err != nil {
			return 0, fmt.Errorf("drop %s: %w", path, err)
		}
	}
	err = s.record(ctx, b.Project, b.ID, func(p memory.Project, b *memory.Sandbox) memory.Project {
		b.IndexedAt, b.Files, b.Chunks, b.Bytes, b.Skipped = time.Time{}, 0, 0, 0, nil
		b.LastError, b.LastErrorAt = "", time.Time{}
		return p
	})
	if err != nil {
		return 0, fmt.Errorf("write sandbox: %w", err)
	}
	s.forgotten(b.ID)
	return len(files), nil
}
