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
func (d *Daemon) ImportAll(ctx context.Context, req memory.ArchiveRequest, progress func(memory.ArchiveProgress)) (out *memory.Archive, err error) {
	if err := d.whenLoaded(ctx); err != nil {
		return nil, err
	}
	from := archive.Importer{Writer: d.core.Ingest, Store: d.core.Store, CheckState: agentctx.CheckState}
	err = d.garbage.during(func() (err error) {
		out, err = from.Import(ctx, req.Path, req.DryRun, progress)
		return err
	})
	return out, err
}

// Import carries out service.Import.
func (d *Daemon) Import(ctx context.Context, req memory.ImportRequest) (out *memory.Imported, err error) {
	err = d.garbage.during(func() (err error) {
		out, err = d.files.Import(ctx, req)
		return err
	})
	return out, err
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
