package agentctx

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/indexer"
	"github.com/recalld/recalld/internal/ingest"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/redact"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/store"
	"github.com/recalld/recalld/internal/testkit/backend"
)

// catalogueRig is a catalogue over the real write path, a real store and real indexes.
type catalogueRig struct {
	t         testing.TB
	parts     *backend.Parts
	catalogue *Catalogue
	ingest    *ingest.Service
	store     *store.Store
	index     *indexer.Indexer
	dir       string // the store's
	memTable  int64  // the store's; backend's if zero
	caller    memory.Caller
	project   memory.Project
}

// newCatalogueRig opens a rig that is checked and closed at the end of the test.
func newCatalogueRig(t testing.TB) *catalogueRig {
	t.Helper()
	return newLargeCatalogueRig(t, 0)
}

// newLargeCatalogueRig opens a rig whose store takes transactions of an eighth of memTable.
func newLargeCatalogueRig(t testing.TB, memTable int64) *catalogueRig {
	t.Helper()
	r := &catalogueRig{t: t, dir: t.TempDir(), memTable: memTable}
	r.caller = memory.Caller{Dir: backend.Repo(t), Client: "host"}
	r.open()
	t.Cleanup(r.close)
	var err error
	if r.project, _, err = r.parts.Projects.Resolve(t.Context(), "", r.caller); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *catalogueRig) open() {
	r.t.Helper()
	r.parts = backend.Open(r.t, backend.Options{Dir: r.dir, MemTableSize: r.memTable, Redact: redact.Redact, RedactValue: redact.Value})
	r.store, r.index, r.ingest = r.parts.Store, r.parts.Index, r.parts.Ingest
	var err error
	r.catalogue, err = NewCatalogue(Ports{
		Writer: r.ingest, Records: r.index, Store: r.store, Projects: r.parts.Projects, Clock: func() time.Time { return testTime },
	})
	must(r.t, err)
}

func (r *catalogueRig) close() { r.parts.Close(r.t) }

// register must be accepted, and is the caller's unless it says otherwise.
func (r *catalogueRig) register(req memory.RegisterRequest) *memory.Registered {
	r.t.Helper()
	if req.Caller == (memory.Caller{}) {
		req.Caller = r.caller
	}
	out, err := r.catalogue.Register(r.t.Context(), req)
	if err != nil {
		r.t.Fatalf("register %+v: %v", req, err)
	}
	return out
}

func (r *catalogueRig) takeFiles(hash string, files ...memory.FileEntries) *memory.Registered {
	r.t.Helper()
	out, err := r.catalogue.TakeFiles(r.t.Context(), r.project, hash, files)
	if err != nil {
		r.t.Fatalf("take files: %v", err)
	}
	return out
}

// counts are added, changed, unchanged, removed and the total, as "+1 ~0 =0 -0 of 1".
func counts(out *memory.Registered) string {
	return fmt.Sprintf("+%d ~%d =%d -%d of %d", out.Added, out.Changed, out.Unchanged, out.Removed, out.Total)
}

// listed are the entries in their order, with what matters of them: "rule A v1".
func (r *catalogueRig) listed() string {
	var all []string
	for _, e := range r.catalogue.Items(r.project.ID) {
		all = append(all, fmt.Sprintf("%s %s v%d", e.Type, render.Name(e.Ref.ServerName, e.Ref.Name), e.Version))
	}
	return strings.Join(all, ", ")
}

// find returns one entry with what applies to it, and whether it exists.
func (r *catalogueRig) find(ref memory.Ref) (memory.EntryState, bool) {
	items := r.catalogue.Items(r.project.ID)
	if i := slices.IndexFunc(items, func(e memory.EntryState) bool { return e.Ref == ref }); i >= 0 {
		return items[i], true
	}
	return memory.EntryState{}, false
}

// records counts what the store holds of the project.
func (r *catalogueRig) records(projectID string) int {
	n := 0
	err := r.store.View(func(v store.View) error {
		for rec := range v.Records() {
			if rec.Project == projectID {
				n++
			}
		}
		return nil
	})
	must(r.t, err)
	return n
}

func rule(name, content string) memory.CatalogueEntry {
	return memory.CatalogueEntry{Ref: memory.Ref{Type: memory.Rule, Name: name}, Content: content}
}

func reference(name, content string) memory.CatalogueEntry {
	return memory.CatalogueEntry{Ref: memory.Ref{Type: memory.Reference, Name: name}, Content: content}
}

func bareTool(server, name, description string) memory.CatalogueEntry {
	return memory.CatalogueEntry{Ref: memory.Ref{Type: memory.Tool, Name: name, ServerName: server}, Description: description}
}
