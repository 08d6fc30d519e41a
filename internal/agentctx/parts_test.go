package agentctx

import (
	"testing"
	"time"

	"github.com/recalld/recalld/internal/indexer"
	"github.com/recalld/recalld/internal/ingest"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/project"
	"github.com/recalld/recalld/internal/recall"
	"github.com/recalld/recalld/internal/store"
	"github.com/recalld/recalld/internal/testkit/backend"
)

// parts are what contexts stand on: the real parts below, the catalogue and tasks.
type parts struct {
	*backend.Parts
	store     *store.Store
	index     *indexer.Indexer
	projects  *project.Resolver
	ingest    *ingest.Service
	recall    *recall.Service
	catalogue *Catalogue
	working   *Tasks
}

// openParts makes all parts over the folder of a store, as a daemon does when it starts.
// registered is the clock of the catalogue; nil is that of the options.
func openParts(t testing.TB, o backend.Options, registered func() time.Time) (p parts) {
	t.Helper()
	p.Parts = backend.Open(t, o)
	p.store, p.index, p.projects, p.ingest, p.recall = p.Store, p.Index, p.Projects, p.Ingest, p.Recall
	if registered == nil {
		registered = o.Clock
	}
	var err error
	if p.catalogue, err = NewCatalogue(p.ports(registered)); err != nil {
		t.Fatalf("make catalogue: %v", err)
	}
	if p.working, err = NewTasks(TaskOptions{Ports: p.ports(o.Clock), Settings: defaultTasks}); err != nil {
		t.Fatalf("make tasks: %v", err)
	}
	return p
}

// The settings of contracts 3 and 6.
var (
	defaultTasks    = TaskSettings{Window: memory.DefaultWindow}
	defaultAssembly = AssemblySettings{
		MaxTokens: memory.DefaultBudget, TopK: memory.DefaultTopK, TopN: memory.DefaultTopN, IncludeScore: memory.DefaultIncludeScore,
		KeepTurns: memory.DefaultKeepTurns,
	}
)

// ports are those of a service over the parts.
func (p *parts) ports(clock func() time.Time) Ports {
	return Ports{Writer: p.ingest, Projects: p.projects, Records: p.index, Store: p.store, Clock: clock}
}

// options are those of Contexts over the parts.
func (p *parts) options(clock func() time.Time) ContextOptions {
	return ContextOptions{
		Ports: p.ports(clock), Sessions: p.ingest, Receipts: p.store, Catalogue: p.catalogue, Recall: p.recall, Tasks: p.working,
		Settings: defaultAssembly,
	}
}
