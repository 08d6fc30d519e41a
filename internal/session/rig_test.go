package session

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/embedder/builtin"
	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/index/lexical"
	"github.com/recalld/recalld/internal/catalogue"
	"github.com/recalld/recalld/internal/indexer"
	"github.com/recalld/recalld/internal/ingest"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/memory/session"
	"github.com/recalld/recalld/internal/project"
	"github.com/recalld/recalld/internal/recall"
	"github.com/recalld/recalld/internal/source/code"
	"github.com/recalld/recalld/internal/store"
)

var testTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// rig is the contexts of sessions over a real store, real indexes, the write path, the
// read path and the catalogue.
type rig struct {
	t         testing.TB
	dir       string // of the store
	caller    memory.Caller
	options   func(*rig, *Options) // changes what the contexts are made of; may be nil
	sync      bool                 // every commit is synced
	now       time.Time
	store     *store.Store
	index     *indexer.Indexer
	ingest    *ingest.Service
	recall    *recall.Service
	catalogue *catalogue.Service
	*Service
}

// newRig opens a rig that is checked and closed at the end of the test.
func newRig(t testing.TB, options ...func(*rig, *Options)) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir(), caller: memory.Caller{Dir: t.TempDir(), Client: "test"}, now: testTime}
	if len(options) > 0 {
		r.options = options[0]
	}
	r.open()
	t.Cleanup(r.close)
	return r
}

// open makes all parts over the rig's folder, as a daemon does when it starts.
func (r *rig) open() {
	r.t.Helper()
	fail := func(what string, err error) {
		r.t.Helper()
		if err != nil {
			r.t.Fatalf("%s: %v", what, err)
		}
	}
	var err error
	r.index, err = indexer.New(indexer.Options{Builtin: builtin.New()})
	fail("make indexer", err)
	r.store, err = store.Open(store.Options{Dir: r.dir, NoSync: !r.sync, Apply: r.index.Apply, Follow: r.index.Follow})
	fail("open store", err)
	fail("load", r.index.Load(r.t.Context(), r.store))
	clock := func() time.Time { return r.now }
	projects := project.NewResolver(r.store)
	r.ingest, err = ingest.New(r.t.Context(), ingest.Options{
		Committer: r.store, Projects: projects, Sessions: r.store, Records: r.store,
		Analyze: indexer.Analyze, Embedder: builtin.New(), Held: r.index.Held, Clock: clock,
		Redact: func(text string) (string, int) {
			return strings.ReplaceAll(text, "hunter2", "[redacted]"), strings.Count(text, "hunter2")
		},
	})
	fail("make write path", err)
	r.recall, err = recall.New(recall.Options{
		Corpus: r.index, Shelf: r.index, Current: r.store, Projects: projects, Verifier: code.NewVerifier(), Ledger: r.store,
		Analyze: func(text string) index.Terms { return lexical.Analyze(text) }, Content: lexical.Content, Clock: clock,
		Turn: func(key memory.SessionKey) int { return r.Turn(key) },
	})
	fail("make read path", err)
	r.catalogue, err = catalogue.New(catalogue.Options{Writer: r.ingest, Shelf: r.index, States: r.store, Projects: projects, Clock: clock})
	fail("make catalogue", err)
	opts := Options{
		Projects: projects, Sessions: r.ingest, States: r.store, Writer: r.ingest, Catalogue: r.catalogue,
		Matcher: r.recall, Receipts: r.store, Steps: r.recall, Clock: clock,
	}
	if r.options != nil {
		r.options(r, &opts)
	}
	r.Service, err = New(opts)
	fail("make contexts", err)
}

// close checks and closes all parts.
func (r *rig) close() {
	r.t.Helper()
	if err := r.store.Check(); err != nil {
		r.t.Errorf("the store is not sound: %v", err)
	}
	if err := r.index.Check(r.t.Context()); err != nil && r.t.Context().Err() == nil {
		r.t.Errorf("the indexes are not what the store holds: %v", err)
	}
	r.index.Close()
	if err := r.store.Close(); err != nil {
		r.t.Errorf("close store: %v", err)
	}
}

// reopen closes all parts and opens them anew, as another process would.
func (r *rig) reopen() {
	r.t.Helper()
	r.close()
	r.open()
}

// start opens a session and returns its id.
func (r *rig) start(goal string) string {
	r.t.Helper()
	s, err := r.ingest.StartSession(r.t.Context(), memory.StartSessionRequest{Goal: goal, Caller: r.caller})
	if err != nil {
		r.t.Fatalf("start session: %v", err)
	}
	return s.ID
}

// register adds entries that must be accepted.
func (r *rig) register(entries ...session.Entry) {
	r.t.Helper()
	_, err := r.catalogue.Register(r.t.Context(), session.RegisterRequest{Entries: entries, Caller: r.caller})
	if err != nil {
		r.t.Fatalf("register: %v", err)
	}
}

// which means a session of the rig's project.
func (r *rig) which(id string) session.Which { return session.Which{SessionID: id, Caller: r.caller} }

// working returns a session's working context.
func (r *rig) working(id string) *session.WorkingContext {
	r.t.Helper()
	wc, err := r.WorkingContext(r.t.Context(), session.WorkingContextRequest{Which: r.which(id)})
	if err != nil {
		r.t.Fatalf("working context of %q: %v", id, err)
	}
	return wc
}

// stored returns the bytes of a session's working context, nil where there are none.
func (r *rig) stored(id string) []byte {
	r.t.Helper()
	p, _, err := r.Service.opts.Projects.Resolve(r.t.Context(), "", r.caller)
	if err != nil {
		r.t.Fatal(err)
	}
	raw, err := r.store.State(stateKey(memory.SessionKey{Project: p.ID, ID: id}))
	if err != nil && memory.CodeOf(err) != memory.CodeNotFound {
		r.t.Fatal(err)
	}
	return raw
}

// report adds to a session what must be accepted.
func (r *rig) report(id string, req session.ReportRequest) *session.WorkingContext {
	r.t.Helper()
	req.Which = r.which(id)
	wc, err := r.Report(r.t.Context(), req)
	if err != nil {
		r.t.Fatalf("report %+v: %v", req, err)
	}
	return wc
}

// search looks for tools.
func (r *rig) search(id, query string) *session.ToolMatches {
	r.t.Helper()
	out, err := r.SearchTools(r.t.Context(), session.SearchToolsRequest{Query: query, Which: r.which(id)})
	if err != nil {
		r.t.Fatalf("search tools for %q: %v", query, err)
	}
	return out
}

// tool is a tool of a catalogue.
func tool(server, name, description string) session.Entry {
	return session.Entry{
		Ref: session.Ref{Type: memory.Tool, Name: name, ServerName: server}, Description: description,
		InputSchema: json.RawMessage(`{"type":"object"}`),
	}
}

func toolRef(server, name string) session.ToolRef {
	return session.ToolRef{ServerName: server, ToolName: name}
}
