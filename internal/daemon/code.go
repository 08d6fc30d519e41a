package daemon

import (
	"context"
	"fmt"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/project"
)

// IndexRepo carries out service.IndexRepo.
func (d *Daemon) IndexRepo(ctx context.Context, req memory.IndexRequest) (*memory.IndexQueued, error) {
	queued, err := d.sandboxes.IndexRepo(ctx, req)
	d.files.Wake() // it may be one that it has not looked at
	return queued, err
}

// Pause carries out service.Pause. To pause all is to embed nothing either.
func (d *Daemon) Pause(ctx context.Context, req memory.PauseRequest) (*memory.Paused, error) {
	d.pausing.Lock()
	defer d.pausing.Unlock()
	held, err := d.sandboxes.Pause(ctx, req)
	if err != nil {
		return nil, err
	}
	if held.All {
		d.models.Pause()
	} else {
		d.models.Resume(context.WithoutCancel(ctx))
	}
	return held, nil
}

// holdPaused holds after a start what was paused before.
func (d *Daemon) holdPaused() error {
	d.pausing.Lock()
	defer d.pausing.Unlock()
	paused, err := d.core.Store.Paused()
	if err != nil {
		return fmt.Errorf("read whether work is paused: %w", err)
	}
	if paused {
		d.models.Pause()
	}
	return nil
}

// Files carries out service.Files.
func (d *Daemon) Files(ctx context.Context, req memory.FilesRequest) (*memory.FileList, error) {
	d.awaitLoad(ctx)
	return d.core.Recall.Files(ctx, req)
}

// codeShown counts an answer, and keeps which files it showed: what is used stays
// when the index has to be pruned.
func (d *Daemon) codeShown(req memory.RecallRequest, a *memory.RecallResponse) {
	d.codeQueries.Answer(req, a)
	d.codeUsed(a.Items)
}

// codeUsed has the store keep which files were shown.
func (d *Daemon) codeUsed(items []memory.Item) {
	var files []memory.FileKey
	for _, item := range items {
		if item.Kind == memory.Chunk && item.Strength != memory.Maybe {
			files = append(files, memory.FileKey{Sandbox: project.SandboxID(item.Source.Sandbox), Path: item.Source.Path})
		}
	}
	if len(files) > 0 {
		d.core.Store.Used(time.Now(), files...)
	}
}
