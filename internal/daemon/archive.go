package daemon

import (
	"context"
	"time"

	"github.com/recalld/recalld/internal/agentctx"
	"github.com/recalld/recalld/internal/archive"
	"github.com/recalld/recalld/internal/memory"
)

// ExportAll carries out service.ExportAll. Writes go on meanwhile: it reads one state.
func (d *Daemon) ExportAll(ctx context.Context, req memory.ArchiveRequest, progress func(memory.ArchiveProgress)) (*memory.Archive, error) {
	if err := d.whenLoaded(ctx); err != nil {
		return nil, err
	}
	x, err := d.core.Store.Snapshot()
	if err != nil {
		return nil, err
	}
	defer x.Close()
	return archive.Write(ctx, x, req.Path, archive.WriteOptions{
		Version: d.opts.Version, Now: time.Now(), Settings: d.opts.Config.Text(),
		Progress: func(done int) { progress(memory.ArchiveProgress{Phase: "exporting", Done: done}) },
	})
}

// ImportAll carries out service.ImportAll.
func (d *Daemon) ImportAll(ctx context.Context, req memory.ArchiveRequest, progress func(memory.ArchiveProgress)) (*memory.Archive, error) {
	if err := d.whenLoaded(ctx); err != nil {
		return nil, err
	}
	defer d.garbage.during(&d.garbage.waited)()
	return archive.Importer{Writer: d.core.Ingest, Store: d.core.Store, CheckState: agentctx.CheckState}.Import(ctx, req.Path, req.DryRun, progress)
}

// Import carries out service.Import.
func (d *Daemon) Import(ctx context.Context, req memory.ImportRequest) (*memory.Imported, error) {
	defer d.garbage.during(&d.garbage.waited)()
	return d.files.Import(ctx, req)
}

// whenLoaded waits until the store is loaded.
func (d *Daemon) whenLoaded(ctx context.Context) error {
	select {
	case <-d.loaded:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-d.draining:
		return memory.Errorf(memory.CodeUnavailable, "the daemon stops")
	}
}
