package daemon

import (
	"context"
	"sync"

	"github.com/recalld/recalld/internal/access"
	"github.com/recalld/recalld/internal/mcp"
	"github.com/recalld/recalld/internal/memory"
)

// ready waits for the indexes and takes notice of where a caller is.
func (d *Daemon) ready(ctx context.Context, caller memory.Caller) {
	d.awaitLoad(ctx)
	d.files.See(caller.Dir)
}

// SearchTools carries out service.SearchTools.
func (d *Daemon) SearchTools(ctx context.Context, req memory.SearchToolsRequest) (*memory.ToolMatches, error) {
	if req.Own {
		d.ownTools.register(ctx, d)
	}
	req.ReadOnly = req.ReadOnly || access.ReadOnly(ctx)
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

// Assemble carries out service.Assemble.
func (d *Daemon) Assemble(ctx context.Context, req memory.AssembleRequest) (*memory.Assembled, error) {
	a, err := d.core.Session.Assemble(ctx, req)
	if err != nil {
		return nil, err
	}
	d.core.QuoteFilter.AddAnswer(a.Text, a.Memories)
	d.codeUsed(a.Memories)
	return a, nil
}

// Compact carries out service.Compact.
func (d *Daemon) Compact(ctx context.Context, req memory.CompactRequest) (*memory.Compacted, error) {
	out, err := d.core.Session.Compact(ctx, req)
	if err == nil {
		d.team.Compacted(out.Project)
	}
	return out, err
}

// Replay carries out service.Replay.
func (d *Daemon) Replay(ctx context.Context, req memory.ReplayRequest, progress func(memory.ReplayProgress)) (*memory.Replayed, error) {
	d.ready(ctx, req.Caller)
	return d.core.Ledger.Replay(ctx, req, progress)
}
