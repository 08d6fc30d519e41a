package daemon

import (
	"context"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/memory/session"
)

var errUnbuilt = memory.Errorf(memory.CodeUnavailable, "not built yet")

// CompleteTask implements session.WorkingMemory.
func (d *Daemon) CompleteTask(ctx context.Context, req session.CompleteTaskRequest) (*session.TaskKept, error) {
	return nil, errUnbuilt
}

// BlockTask implements session.WorkingMemory.
func (d *Daemon) BlockTask(ctx context.Context, req session.BlockTaskRequest) (*session.TaskKept, error) {
	return nil, errUnbuilt
}

// UnblockTask implements session.WorkingMemory.
func (d *Daemon) UnblockTask(ctx context.Context, req session.UnblockTaskRequest) (*session.TaskKept, error) {
	return nil, errUnbuilt
}

// TaskWindow implements session.WorkingMemory.
func (d *Daemon) TaskWindow(ctx context.Context, req session.TaskWindowRequest) (*session.TaskWindow, error) {
	return nil, errUnbuilt
}

// LoadTasks implements session.WorkingMemory.
func (d *Daemon) LoadTasks(ctx context.Context, req session.LoadTasksRequest) (*session.TasksLoaded, error) {
	return nil, errUnbuilt
}

// Register implements session.Catalogue.
func (d *Daemon) Register(ctx context.Context, req session.RegisterRequest) (*session.Registered, error) {
	return nil, errUnbuilt
}

// Unregister implements session.Catalogue.
func (d *Daemon) Unregister(ctx context.Context, req session.UnregisterRequest) (*session.Registered, error) {
	return nil, errUnbuilt
}

// Entries implements session.Catalogue.
func (d *Daemon) Entries(ctx context.Context, req session.EntriesRequest) (*session.EntryList, error) {
	return nil, errUnbuilt
}

// SearchTools implements session.Catalogue.
func (d *Daemon) SearchTools(ctx context.Context, req session.SearchToolsRequest) (*session.ToolMatches, error) {
	return nil, errUnbuilt
}

// SessionContext implements session.Contexts.
func (d *Daemon) SessionContext(ctx context.Context, req session.ContextRequest) (*session.Context, error) {
	return nil, errUnbuilt
}

// ChangeContext implements session.Contexts.
func (d *Daemon) ChangeContext(ctx context.Context, req session.ChangeContextRequest) (*session.Context, error) {
	return nil, errUnbuilt
}

// Assemble implements session.Contexts.
func (d *Daemon) Assemble(ctx context.Context, req session.AssembleRequest) (*session.Assembled, error) {
	return nil, errUnbuilt
}

// WorkingContext implements session.WorkingContexts.
func (d *Daemon) WorkingContext(ctx context.Context, req session.WorkingContextRequest) (*session.WorkingContext, error) {
	return nil, errUnbuilt
}

// Report implements session.WorkingContexts.
func (d *Daemon) Report(ctx context.Context, req session.ReportRequest) (*session.WorkingContext, error) {
	return nil, errUnbuilt
}

// Compact implements session.WorkingContexts.
func (d *Daemon) Compact(ctx context.Context, req session.CompactRequest) (*session.Compacted, error) {
	return nil, errUnbuilt
}

// Receipts implements session.Ledger.
func (d *Daemon) Receipts(ctx context.Context, req session.ReceiptsRequest) (*session.ReceiptList, error) {
	return nil, errUnbuilt
}

// ContextOf implements session.Ledger.
func (d *Daemon) ContextOf(ctx context.Context, req session.ContextOfRequest) (*session.TurnContext, error) {
	return nil, errUnbuilt
}

// Feedback implements session.Ledger.
func (d *Daemon) Feedback(ctx context.Context, req session.FeedbackRequest) (*session.FeedbackTaken, error) {
	return nil, errUnbuilt
}

// Replay implements session.Ledger.
func (d *Daemon) Replay(ctx context.Context, req session.ReplayRequest, progress func(session.ReplayProgress)) (*session.Replayed, error) {
	return nil, errUnbuilt
}
