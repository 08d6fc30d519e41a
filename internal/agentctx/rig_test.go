package agentctx

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/testkit/backend"
)

var testTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// rig is the contexts of sessions over real parts.
type rig struct {
	parts
	t         testing.TB
	dir       string // of the store
	caller    memory.Caller
	configure func(*rig, *ContextOptions) // changes what the contexts are made of; may be nil
	sync      bool                        // every commit is synced
	now       time.Time
	*Contexts
}

// newRig opens a rig that is checked and closed at the end of the test.
func newRig(t testing.TB, configure ...func(*rig, *ContextOptions)) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir(), caller: memory.Caller{Dir: t.TempDir(), Client: "test"}, now: testTime}
	if len(configure) > 0 {
		r.configure = configure[0]
	}
	r.open()
	t.Cleanup(r.close)
	return r
}

// open makes all parts over the rig's folder, as a daemon does when it starts.
func (r *rig) open() {
	r.t.Helper()
	clock := func() time.Time { return r.now }
	r.parts = openParts(r.t, backend.Options{
		Dir: r.dir, Sync: r.sync, Clock: clock, Turn: func(key memory.SessionKey) int { return r.Turn(key) }, Redact: backend.RedactSecret,
	}, nil)
	opts := r.options(clock)
	if r.configure != nil {
		r.configure(r, &opts)
	}
	var err error
	if r.Contexts, err = NewContexts(opts); err != nil {
		r.t.Fatalf("make contexts: %v", err)
	}
}

// close checks and closes all parts.
func (r *rig) close() {
	r.t.Helper()
	r.parts.Close(r.t)
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
func (r *rig) register(entries ...memory.CatalogueEntry) {
	r.t.Helper()
	_, err := r.catalogue.Register(r.t.Context(), memory.RegisterRequest{Entries: entries, Caller: r.caller})
	if err != nil {
		r.t.Fatalf("register: %v", err)
	}
}

// which means a session of the rig's project.
func (r *rig) which(id string) memory.SessionRef {
	return memory.SessionRef{SessionID: id, Caller: r.caller}
}

// working returns a session's working context.
func (r *rig) working(id string) *memory.WorkingContext {
	r.t.Helper()
	wc, err := r.WorkingContext(r.t.Context(), memory.WorkingContextRequest{SessionRef: r.which(id)})
	if err != nil {
		r.t.Fatalf("working context of %q: %v", id, err)
	}
	return wc
}

// stored returns the bytes of a session's working context, nil where there are none.
func (r *rig) stored(id string) []byte {
	r.t.Helper()
	p, _, err := r.Contexts.opts.Projects.Resolve(r.t.Context(), "", r.caller)
	must(r.t, err)
	raw, err := r.store.State(stateKey(memory.SessionKey{Project: p.ID, ID: id}))
	if err != nil && memory.CodeOf(err) != memory.CodeNotFound {
		r.t.Fatal(err)
	}
	return raw
}

// report adds to a session what must be accepted.
func (r *rig) report(id string, req memory.ReportRequest) *memory.WorkingContext {
	r.t.Helper()
	req.SessionRef = r.which(id)
	wc, err := r.Report(r.t.Context(), req)
	if err != nil {
		r.t.Fatalf("report %+v: %v", req, err)
	}
	return wc
}

// search looks for tools.
func (r *rig) search(id, query string) *memory.ToolMatches {
	r.t.Helper()
	out, err := r.SearchTools(r.t.Context(), memory.SearchToolsRequest{Query: query, SessionRef: r.which(id)})
	if err != nil {
		r.t.Fatalf("search tools for %q: %v", query, err)
	}
	return out
}

// tool is a tool of a catalogue.
func tool(server, name, description string) memory.CatalogueEntry {
	return memory.CatalogueEntry{
		Ref: memory.Ref{Type: memory.Tool, Name: name, ServerName: server}, Description: description,
		InputSchema: json.RawMessage(`{"type":"object"}`),
	}
}

func toolRef(server, name string) memory.ToolRef {
	return memory.ToolRef{ServerName: server, ToolName: name}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
