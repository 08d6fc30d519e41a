package daemon

import (
	"context"

	"github.com/recalld/recalld/internal/memory"
)

// StartSession implements memory.Journal.
func (d *Daemon) StartSession(ctx context.Context, req memory.StartSessionRequest) (*memory.SessionState, error) {
	return d.core.Ingest.StartSession(ctx, req)
}

// RecordStep implements memory.Journal.
func (d *Daemon) RecordStep(ctx context.Context, req memory.RecordStepRequest) (*memory.StepRecorded, error) {
	return d.core.Ingest.RecordStep(ctx, req)
}

// EndSession implements memory.Journal.
func (d *Daemon) EndSession(ctx context.Context, req memory.EndSessionRequest) (*memory.SessionState, error) {
	return d.core.Ingest.EndSession(ctx, req)
}

// SearchSteps implements memory.History.
func (d *Daemon) SearchSteps(ctx context.Context, req memory.HistoryRequest) (*memory.StepMatches, error) {
	d.awaitLoad(ctx)
	return d.core.Recall.SearchSteps(ctx, req)
}

// LastSteps implements memory.History.
func (d *Daemon) LastSteps(ctx context.Context, req memory.HistoryRequest) (*memory.StepList, error) {
	d.awaitLoad(ctx)
	return d.core.Recall.LastSteps(ctx, req)
}

// SummarizeSession implements memory.History.
func (d *Daemon) SummarizeSession(ctx context.Context, req memory.HistoryRequest) (*memory.Summary, error) {
	d.awaitLoad(ctx)
	return d.core.Recall.SummarizeSession(ctx, req)
}

// Sessions implements memory.History.
func (d *Daemon) Sessions(ctx context.Context, req memory.HistoryRequest) (*memory.SessionList, error) {
	d.awaitLoad(ctx)
	return d.core.Recall.Sessions(ctx, req)
}

// Import implements memory.Archive.
func (d *Daemon) Import(ctx context.Context, req memory.ImportRequest) (*memory.Imported, error) {
	return nil, memory.Errorf(memory.CodeUnavailable, "not built yet")
}

// Export implements memory.Archive.
func (d *Daemon) Export(ctx context.Context, req memory.ExportRequest) (*memory.Exported, error) {
	return nil, memory.Errorf(memory.CodeUnavailable, "not built yet")
}
