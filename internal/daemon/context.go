package daemon

import (
	"context"
	"sync"

	"github.com/recalld/recalld/internal/mcp"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/memory/session"
)

// ready waits for the indexes and takes notice of where a caller is.
func (d *Daemon) ready(ctx context.Context, caller memory.Caller) {
	d.awaitLoad(ctx)
	d.roots.see(ctx, caller.Dir)
}

// CompleteTask implements session.WorkingMemory.
func (d *Daemon) CompleteTask(ctx context.Context, req session.CompleteTaskRequest) (*session.TaskSaved, error) {
	d.roots.see(ctx, req.Caller.Dir)
	return d.core.Working.CompleteTask(ctx, req)
}

// BlockTask implements session.WorkingMemory.
func (d *Daemon) BlockTask(ctx context.Context, req session.BlockTaskRequest) (*session.TaskSaved, error) {
	d.roots.see(ctx, req.Caller.Dir)
	return d.core.Working.BlockTask(ctx, req)
}

// UnblockTask implements session.WorkingMemory.
func (d *Daemon) UnblockTask(ctx context.Context, req session.UnblockTaskRequest) (*session.TaskSaved, error) {
	d.roots.see(ctx, req.Caller.Dir)
	return d.core.Working.UnblockTask(ctx, req)
}

// TaskWindow implements session.WorkingMemory.
func (d *Daemon) TaskWindow(ctx context.Context, req session.TaskWindowRequest) (*session.TaskWindow, error) {
	d.roots.see(ctx, req.Caller.Dir)
	return d.core.Working.TaskWindow(ctx, req)
}

// LoadTasks implements session.WorkingMemory.
func (d *Daemon) LoadTasks(ctx context.Context, req session.LoadTasksRequest) (*session.TasksLoaded, error) {
	d.roots.see(ctx, req.Caller.Dir)
	return d.core.Working.LoadTasks(ctx, req)
}

// TaskHistory implements session.WorkingMemory.
func (d *Daemon) TaskHistory(ctx context.Context, req session.TaskHistoryRequest) (*session.TaskHistory, error) {
	d.roots.see(ctx, req.Caller.Dir)
	return d.core.Working.TaskHistory(ctx, req)
}

// Register implements session.Catalogue.
func (d *Daemon) Register(ctx context.Context, req session.RegisterRequest) (*session.Registered, error) {
	d.ready(ctx, req.Caller)
	return d.core.Catalogue.Register(ctx, req)
}

// Unregister implements session.Catalogue.
func (d *Daemon) Unregister(ctx context.Context, req session.UnregisterRequest) (*session.Registered, error) {
	d.ready(ctx, req.Caller)
	return d.core.Catalogue.Unregister(ctx, req)
}

// Entries implements session.Catalogue.
func (d *Daemon) Entries(ctx context.Context, req session.EntriesRequest) (*session.EntryList, error) {
	d.ready(ctx, req.Caller)
	d.contextFiles.take(ctx, req.Project, req.Caller)
	return d.core.Catalogue.Entries(ctx, req)
}

// SearchTools implements session.Catalogue.
func (d *Daemon) SearchTools(ctx context.Context, req session.SearchToolsRequest) (*session.ToolMatches, error) {
	d.ready(ctx, req.Caller)
	d.contextFiles.take(ctx, req.Project, req.Caller)
	if req.Own {
		d.ownTools.register(ctx, d)
	}
	return d.core.Session.SearchTools(ctx, req)
}

// ownTools has recalld's own tools in the catalogue from the first search on that wants
// them: who never searches has nothing stored but what was told.
type ownTools struct {
	mu   sync.Mutex
	done bool // guarded by mu
}

func (o *ownTools) register(ctx context.Context, d *Daemon) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.done {
		return
	}
	err := d.core.Catalogue.RegisterOwn(context.WithoutCancel(ctx), mcp.OwnTools(d.opts.Config.MCP.Prefix))
	if o.done = err == nil; !o.done { // while loading, for one; the next search tries again
		d.log.Warn("recalld's own tools are not found yet", attrPart, "catalogue", attrError, err)
	}
}

// SessionContext implements session.Contexts.
func (d *Daemon) SessionContext(ctx context.Context, req session.ContextRequest) (*session.Context, error) {
	d.ready(ctx, req.Caller)
	d.contextFiles.take(ctx, req.Project, req.Caller)
	return d.core.Session.SessionContext(ctx, req)
}

// ChangeContext implements session.Contexts.
func (d *Daemon) ChangeContext(ctx context.Context, req session.ChangeContextRequest) (*session.Context, error) {
	d.ready(ctx, req.Caller)
	d.contextFiles.take(ctx, req.Project, req.Caller)
	return d.core.Session.ChangeContext(ctx, req)
}

// Assemble implements session.Contexts.
func (d *Daemon) Assemble(ctx context.Context, req session.AssembleRequest) (*session.Assembled, error) {
	d.ready(ctx, req.Caller)
	d.contextFiles.take(ctx, req.Project, req.Caller)
	a, err := d.core.Session.Assemble(ctx, req)
	if err != nil {
		return nil, err
	}
	d.core.Echo.Add(a.Text)
	for _, item := range a.Memories {
		d.core.Echo.Add(item.Text)
	}
	d.codeUsed(a.Memories)
	return a, nil
}

// WorkingContext implements session.WorkingContexts.
func (d *Daemon) WorkingContext(ctx context.Context, req session.WorkingContextRequest) (*session.WorkingContext, error) {
	d.roots.see(ctx, req.Caller.Dir)
	return d.core.Session.WorkingContext(ctx, req)
}

// Report implements session.WorkingContexts.
func (d *Daemon) Report(ctx context.Context, req session.ReportRequest) (*session.WorkingContext, error) {
	d.roots.see(ctx, req.Caller.Dir)
	return d.core.Session.Report(ctx, req)
}

// Compact implements session.WorkingContexts.
func (d *Daemon) Compact(ctx context.Context, req session.CompactRequest) (*session.Compacted, error) {
	d.ready(ctx, req.Caller)
	return d.core.Session.Compact(ctx, req)
}

// Receipts implements session.Ledger.
func (d *Daemon) Receipts(ctx context.Context, req session.ReceiptsRequest) (*session.ReceiptList, error) {
	d.roots.see(ctx, req.Caller.Dir)
	return d.core.Ledger.Receipts(ctx, req)
}

// ContextOf implements session.Ledger.
func (d *Daemon) ContextOf(ctx context.Context, req session.ContextOfRequest) (*session.TurnContext, error) {
	d.roots.see(ctx, req.Caller.Dir)
	return d.core.Ledger.ContextOf(ctx, req)
}

// Feedback implements session.Ledger.
func (d *Daemon) Feedback(ctx context.Context, req session.FeedbackRequest) (*session.FeedbackResult, error) {
	return d.core.Ledger.Feedback(ctx, req)
}

// Replay implements session.Ledger.
func (d *Daemon) Replay(ctx context.Context, req session.ReplayRequest, progress func(session.ReplayProgress)) (*session.Replayed, error) {
	d.ready(ctx, req.Caller)
	return d.core.Replay.Replay(ctx, req, progress)
}
