package daemon

import (
	"context"
	"sync"

	"github.com/recalld/recalld/internal/mcp"
	"github.com/recalld/recalld/internal/memory"
)

// ready waits for the indexes and takes notice of where a caller is.
func (d *Daemon) ready(ctx context.Context, caller memory.Caller) {
	d.awaitLoad(ctx)
	d.files.See(caller.Dir)
}

// CompleteTask carries out service.CompleteTask.
func (d *Daemon) CompleteTask(ctx context.Context, req memory.CompleteTaskRequest) (*memory.TaskSaved, error) {
	d.files.See(req.Caller.Dir)
	return d.core.Working.CompleteTask(ctx, req)
}

// BlockTask carries out service.BlockTask.
func (d *Daemon) BlockTask(ctx context.Context, req memory.BlockTaskRequest) (*memory.TaskSaved, error) {
	d.files.See(req.Caller.Dir)
	return d.core.Working.BlockTask(ctx, req)
}

// UnblockTask carries out service.UnblockTask.
func (d *Daemon) UnblockTask(ctx context.Context, req memory.UnblockTaskRequest) (*memory.TaskSaved, error) {
	d.files.See(req.Caller.Dir)
	return d.core.Working.UnblockTask(ctx, req)
}

// TaskWindow carries out service.TaskWindow.
func (d *Daemon) TaskWindow(ctx context.Context, req memory.TaskWindowRequest) (*memory.TaskWindow, error) {
	d.files.See(req.Caller.Dir)
	return d.core.Working.TaskWindow(ctx, req)
}

// Brief carries out service.Brief.
func (d *Daemon) Brief(ctx context.Context, req memory.BriefRequest) (*memory.Brief, error) {
	d.ready(ctx, req.Caller)
	return d.core.Session.Brief(ctx, req)
}

// LoadTasks carries out service.LoadTasks.
func (d *Daemon) LoadTasks(ctx context.Context, req memory.LoadTasksRequest) (*memory.TasksLoaded, error) {
	d.files.See(req.Caller.Dir)
	return d.core.Working.LoadTasks(ctx, req)
}

// TaskHistory carries out service.TaskHistory.
func (d *Daemon) TaskHistory(ctx context.Context, req memory.TaskHistoryRequest) (*memory.TaskHistory, error) {
	d.files.See(req.Caller.Dir)
	return d.core.Working.TaskHistory(ctx, req)
}

// Register carries out service.Register.
func (d *Daemon) Register(ctx context.Context, req memory.RegisterRequest) (*memory.Registered, error) {
	d.ready(ctx, req.Caller)
	return d.core.Catalogue.Register(ctx, req)
}

// Unregister carries out service.Unregister.
func (d *Daemon) Unregister(ctx context.Context, req memory.UnregisterRequest) (*memory.Registered, error) {
	d.ready(ctx, req.Caller)
	return d.core.Catalogue.Unregister(ctx, req)
}

// Entries carries out service.Entries.
func (d *Daemon) Entries(ctx context.Context, req memory.EntriesRequest) (*memory.EntryList, error) {
	d.ready(ctx, req.Caller)
	d.files.TakeContext(ctx, req.Project, req.Caller)
	return d.core.Catalogue.Entries(ctx, req)
}

// SearchTools carries out service.SearchTools.
func (d *Daemon) SearchTools(ctx context.Context, req memory.SearchToolsRequest) (*memory.ToolMatches, error) {
	d.ready(ctx, req.Caller)
	d.files.TakeContext(ctx, req.Project, req.Caller)
	if req.Own {
		d.ownTools.register(ctx, d)
	}
	return d.core.Session.SearchTools(ctx, req)
}

// ownTools enters recalld's own tools in the catalogue at the first search that wants them,
// so that nothing is stored for users who never search.
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

// SessionContext carries out service.SessionContext.
func (d *Daemon) SessionContext(ctx context.Context, req memory.ContextRequest) (*memory.Context, error) {
	d.ready(ctx, req.Caller)
	d.files.TakeContext(ctx, req.Project, req.Caller)
	return d.core.Session.SessionContext(ctx, req)
}

// ChangeContext carries out service.ChangeContext.
func (d *Daemon) ChangeContext(ctx context.Context, req memory.ChangeContextRequest) (*memory.Context, error) {
	d.ready(ctx, req.Caller)
	d.files.TakeContext(ctx, req.Project, req.Caller)
	return d.core.Session.ChangeContext(ctx, req)
}

// Assemble carries out service.Assemble.
func (d *Daemon) Assemble(ctx context.Context, req memory.AssembleRequest) (*memory.Assembled, error) {
	d.ready(ctx, req.Caller)
	d.files.TakeContext(ctx, req.Project, req.Caller)
	a, err := d.core.Session.Assemble(ctx, req)
	if err != nil {
		return nil, err
	}
	d.core.QuoteFilter.AddAnswer(a.Text, a.Memories)
	d.codeUsed(a.Memories)
	return a, nil
}

// WorkingContext carries out service.WorkingContext.
func (d *Daemon) WorkingContext(ctx context.Context, req memory.WorkingContextRequest) (*memory.WorkingContext, error) {
	d.files.See(req.Caller.Dir)
	return d.core.Session.WorkingContext(ctx, req)
}

// Report carries out service.Report.
func (d *Daemon) Report(ctx context.Context, req memory.ReportRequest) (*memory.WorkingContext, error) {
	d.files.See(req.Caller.Dir)
	return d.core.Session.Report(ctx, req)
}

// Compact carries out service.Compact.
func (d *Daemon) Compact(ctx context.Context, req memory.CompactRequest) (*memory.Compacted, error) {
	d.ready(ctx, req.Caller)
	out, err := d.core.Session.Compact(ctx, req)
	if err == nil {
		d.team.Compacted(out.Project)
	}
	return out, err
}

// Receipts carries out service.Receipts.
func (d *Daemon) Receipts(ctx context.Context, req memory.ReceiptsRequest) (*memory.ReceiptList, error) {
	d.files.See(req.Caller.Dir)
	return d.core.Ledger.Receipts(ctx, req)
}

// ContextOf carries out service.ContextOf.
func (d *Daemon) ContextOf(ctx context.Context, req memory.ContextOfRequest) (*memory.TurnContext, error) {
	d.files.See(req.Caller.Dir)
	return d.core.Ledger.ContextOf(ctx, req)
}

// Replay carries out service.Replay.
func (d *Daemon) Replay(ctx context.Context, req memory.ReplayRequest, progress func(memory.ReplayProgress)) (*memory.Replayed, error) {
	d.ready(ctx, req.Caller)
	return d.core.Ledger.Replay(ctx, req, progress)
}
