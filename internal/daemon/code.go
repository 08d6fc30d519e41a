package daemon

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/project"
)

// IndexRepo carries out service.IndexRepo.
func (d *Daemon) IndexRepo(ctx context.Context, req memory.IndexRequest, report func(memory.Progress)) (*memory.IndexQueued, error) {
	if err := d.roomFor("indexing"); err != nil {
		return nil, err
	}
	asked := time.Now()
	queued, err := d.sandboxes.IndexRepo(ctx, req)
	d.files.Wake() // it may be one that it has not looked at
	if err == nil && req.Wait {
		queued.Indexed, err = d.waitIndexed(ctx, queued, asked, report)
	}
	if err != nil {
		return nil, err
	}
	return queued, nil
}

// The pause between two looks at a run, and how many looks in a row may find it neither
// running nor queued before it counts as dropped.
const (
	indexPoll = 100 * time.Millisecond
	maxIdle   = 20
)

// waitIndexed waits for the end of a run that began after it was asked for.
func (d *Daemon) waitIndexed(ctx context.Context, queued *memory.IndexQueued, asked time.Time, report func(memory.Progress)) (*memory.IndexedSize, error) {
	var run *memory.IndexWait
	for idle := 0; ; {
		repos, err := d.sandboxes.Repos(ctx)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(repos, func(r memory.SandboxState) bool { return r.ID == queued.Sandbox })
		if at < 0 {
			return nil, &memory.Error{Code: memory.CodeNotFound, Field: "path", Message: "the repository was forgotten while it was indexed"}
		}
		r := repos[at]
		if run == nil {
			run = memory.NewIndexWait(asked, &r)
		}
		switch {
		case run.Indexed(&r):
			return &memory.IndexedSize{Files: r.Files, Chunks: r.Chunks}, nil
		case run.Failed(&r):
			return nil, &memory.Error{Code: memory.CodeUnavailable, Message: fmt.Sprintf("indexing %s failed: %s", r.Root, r.LastError), Hint: "it is tried again in the background; status shows it"}
		case r.Progress != nil && r.Progress.Phase == "paused":
			return nil, &memory.Error{Code: memory.CodeConflict, Message: "indexing is paused", Hint: "'recalld resume' resumes it"}
		case r.Progress != nil:
			idle = 0
			report(*r.Progress)
		case idle == maxIdle:
			return nil, &memory.Error{Code: memory.CodeUnavailable, Message: fmt.Sprintf("indexing %s gave way to other work", r.Root), Hint: "ask again; the setting queue.depth says how much may wait"}
		default:
			idle++
		}
		select {
		case <-time.After(indexPoll):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
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

// codeUsed has the store keep which files were shown: what is used stays when the index
// has to be pruned.
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
