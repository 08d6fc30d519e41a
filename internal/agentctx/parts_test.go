package agentctx

import (
	"testing"
	"time"

	"github.com/recalld/recalld/embedder/builtin"
	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/index/lexical"
	"github.com/recalld/recalld/internal/indexer"
	"github.com/recalld/recalld/internal/ingest"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/project"
	"github.com/recalld/recalld/internal/recall"
	"github.com/recalld/recalld/internal/source/code"
	"github.com/recalld/recalld/internal/store"
)

// parts are what contexts stand on: a real store, real indexes, the write path, the
// read path and the catalogue.
type parts struct {
	store     *store.Store
	index     *indexer.Indexer
	projects  *project.Resolver
	ingest    *ingest.Service
	recall    *recall.Service
	catalogue *Catalogue
	working   *Tasks
}

// making says how parts are made.
type making struct {
	dir   string // of the store
	sync  bool   // every commit is synced
	clock func() time.Time
	// registered is the clock of the catalogue; nil is clock.
	registered func() time.Time
	redact     func(text string) (string, int)
	turn       func(memory.SessionKey) int
}

// openParts makes all parts over the folder of a store, as a daemon does when it starts.
func openParts(t testing.TB, m making) (p parts) {
	t.Helper()
	fail := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	var err error
	verifier := code.NewVerifier()
	p.index, err = indexer.New(indexer.Options{Builtin: builtin.New(), ChunkText: verifier.Document})
	fail("make indexer", err)
	p.store, err = store.Open(store.Options{Dir: m.dir, NoSync: !m.sync, Apply: p.index.Apply, Follow: p.index.Follow})
	fail("open store", err)
	fail("load", p.index.Load(t.Context(), p.store))
	p.projects = project.NewResolver(p.store)
	p.ingest, err = ingest.New(t.Context(), ingest.Options{
		Committer: p.store, Projects: p.projects, Sessions: p.store, Records: p.store,
		Analyze: indexer.Analyze, Embedder: builtin.New(), Held: p.index.Held, Redact: m.redact, Clock: m.clock,
	})
	fail("make write path", err)
	p.recall, err = recall.New(recall.Options{
		Corpus: p.index, Sessions: p.index, Current: p.store, Projects: p.projects, Verifier: verifier, Ledger: p.store,
		Analyze: func(text string) index.Terms { return lexical.Analyze(text) }, Content: lexical.Content,
		Redact: m.redact, Turn: m.turn, Clock: m.clock,
	})
	fail("make read path", err)
	if m.registered == nil {
		m.registered = m.clock
	}
	p.catalogue, err = NewCatalogue(p.ports(m.registered))
	fail("make catalogue", err)
	p.working, err = NewTasks(TaskOptions{Ports: p.ports(m.clock)})
	fail("make tasks", err)
	return p
}

// ports are those of a service over the parts.
func (p *parts) ports(clock func() time.Time) Ports {
	return Ports{Writer: p.ingest, Projects: p.projects, Records: p.index, Store: p.store, Clock: clock}
}

// options are those of Contexts over the parts.
func (p *parts) options(clock func() time.Time) ContextOptions {
	return ContextOptions{
		Ports: p.ports(clock), Sessions: p.ingest, Receipts: p.store, Catalogue: p.catalogue, Recall: p.recall, Tasks: p.working,
	}
}

// close checks and closes the parts.
func (p *parts) close(t testing.TB) {
	t.Helper()
	if err := p.store.Check(); err != nil {
		t.Errorf("the store is not sound: %v", err)
	}
	if err := p.index.Check(t.Context()); err != nil && t.Context().Err() == nil {
		t.Errorf("the indexes are not what the store holds: %v", err)
	}
	p.index.Close()
	if err := p.store.Close(); err != nil {
		t.Errorf("close store: %v", err)
	}
}
