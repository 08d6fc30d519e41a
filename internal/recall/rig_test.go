package recall_test

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

var rigTime = time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)

// rig is the read path over a real store, real indexes and the real write path.
type rig struct {
	t       testing.TB
	store   *store.Store
	index   *indexer.Indexer
	ingest  *ingest.Service
	recall  *recall.Service
	project memory.Project
	now     time.Time
}

// newRig opens a rig that is closed at the end of the test. change may replace what
// the read path is made of.
func newRig(t testing.TB, change ...func(*rig, *recall.Options)) *rig {
	t.Helper()
	r := &rig{t: t, project: memory.Project{ID: "p-demo", Name: "demo", Names: []string{"demo"}}, now: rigTime}
	clock := func() time.Time { return r.now }
	var err error
	if r.index, err = indexer.New(indexer.Options{Builtin: builtin.New()}); err != nil {
		t.Fatal(err)
	}
	r.store, err = store.Open(store.Options{Dir: t.TempDir(), NoSync: true, Apply: r.index.Apply, Follow: r.index.Follow})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.index.Close()
		if err := r.store.Close(); err != nil {
			t.Errorf("close store: %v", err)
		}
	})
	if err := r.index.Load(t.Context(), r.store); err != nil {
		t.Fatal(err)
	}
	r.ingest, err = ingest.New(t.Context(), ingest.Options{
		Committer: r.store, Projects: project.NewResolver(r.store), Sessions: r.store, Records: r.store,
		Analyze: indexer.Analyze, Embedder: builtin.New(), Held: r.index.Held, Clock: clock,
	})
	if err != nil {
		t.Fatal(err)
	}
	opts := recall.Options{
		Corpus: r.index, Sessions: r.index, Current: r.store, Projects: project.NewResolver(r.store), Verifier: code.NewVerifier(),
		Ledger: r.store, Analyze: func(text string) index.Terms { return lexical.Analyze(text) }, Content: lexical.Content, Clock: clock,
	}
	for _, c := range change {
		c(r, &opts)
	}
	if r.recall, err = recall.New(opts); err != nil {
		t.Fatal(err)
	}
	return r
}

// write keeps records.
func (r *rig) write(records ...memory.Record) {
	r.t.Helper()
	for i := range records {
		if records[i].Project == "" {
			records[i].Project = r.project.ID
		}
		if records[i].Created.IsZero() {
			records[i].Created = rigTime
		}
	}
	for len(records) > 0 { // a commit has its bounds
		n := min(len(records), 256)
		if _, err := r.ingest.Write(r.t.Context(), r.project, memory.Batch{Records: records[:n]}); err != nil {
			r.t.Fatalf("write records: %v", err)
		}
		records = records[n:]
	}
}
