package recall_test

import (
	"testing"
	"time"

	"github.com/recalld/recalld/internal/indexer"
	"github.com/recalld/recalld/internal/ingest"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/recall"
	"github.com/recalld/recalld/internal/store"
	"github.com/recalld/recalld/internal/testkit/backend"
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
	parts := backend.Open(t, backend.Options{Clock: clock, Recall: func(p *backend.Parts, opts *recall.Options) {
		r.store, r.index, r.ingest = p.Store, p.Index, p.Ingest
		for _, c := range change {
			c(r, opts)
		}
	}})
	r.recall = parts.Recall
	t.Cleanup(func() { // no check: some tests store steps without their session
		r.index.Close()
		if err := r.store.Close(); err != nil {
			t.Errorf("close store: %v", err)
		}
	})
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
