package daemon

import (
	"context"

	"github.com/recalld/recalld/internal/indexer"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/source/code"
	"github.com/recalld/recalld/internal/store"
)

// Forget carries out service.Forget. While a project is being removed nothing
// of it is indexed.
func (d *Daemon) Forget(ctx context.Context, req memory.ForgetRequest) (*memory.Forgotten, error) {
	quiet := &quiet{Store: d.core.Store, index: d.core.Indexer, sandboxes: d.sandboxes, release: func() {}}
	defer func() { quiet.release() }()
	if req.Project != "" {
		defer d.files.Forgotten()
	}
	defer d.core.Catalogue.Retake()
	return d.core.Ingest.Forget(ctx, req, quiet)
}

// quiet lists what a project holds once no run can add to it.
type quiet struct {
	*store.Store
	index     *indexer.Indexer
	sandboxes *code.Sandboxes
	release   func()
}

// ProjectHoldings implements ingest.Holdings. Once the indexes are loaded it reads
// nothing of other projects: what is committed is in them before it is acknowledged.
func (q *quiet) ProjectHoldings(ctx context.Context, project string) (memory.Holdings, error) {
	q.release = q.sandboxes.Suspend(project)
	held, ok := q.index.ProjectHoldings(project)
	if !ok {
		return q.Store.ProjectHoldings(ctx, project)
	}
	sessions, err := q.Store.ProjectSessions(project)
	if err != nil {
		return held, err
	}
	for _, s := range sessions {
		held.Sessions = append(held.Sessions, s.ID)
	}
	boxes, err := q.Store.ProjectSandboxes(project)
	for _, b := range boxes {
		held.Sandboxes = append(held.Sandboxes, b.ID)
	}
	return held, err
}

// SessionHoldings implements ingest.Holdings.
func (q *quiet) SessionHoldings(ctx context.Context, id string) ([]memory.SessionHoldings, error) {
	if found, ok := q.index.SessionHoldings(id); ok {
		return found, nil
	}
	return q.Store.SessionHoldings(ctx, id)
}
