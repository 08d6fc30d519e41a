package daemon

import (
	"context"
	"log/slog"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/project"
	"github.com/recalld/recalld/internal/store"
)

// noticing resolves projects for questions, and has the store keep what one tells of
// a known project: a name, or the remote that its repository has got since. By that
// its clones are known, also when they are the first to write something.
type noticing struct {
	projects *project.Resolver
	store    *store.Store
	log      *slog.Logger
}

// Resolve is that of project.Resolver.
func (n noticing) Resolve(ctx context.Context, name string, caller memory.Caller) (memory.Project, bool, error) {
	p, known, err := n.projects.Resolve(ctx, name, caller)
	if err != nil || !known {
		return p, known, err
	}
	stored, err := n.projects.Stored(p)
	if err == nil && !stored {
		_, err = n.store.RecordProject(context.WithoutCancel(ctx), p, "")
	}
	if err != nil { // the question can be answered all the same
		n.log.Warn("a project's new name or remote is not kept", attrPart, "projects", "project", p.ID, attrError, err)
	}
	return p, true, nil
}
