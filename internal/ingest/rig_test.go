package ingest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/embedder/builtin"
	"github.com/recalld/recalld/internal/indexer"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/project"
	"github.com/recalld/recalld/internal/store"
)

var testTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// rig is the write path over a real store, real indexes and a real folder.
type rig struct {
	t      testing.TB
	ingest *Service
	store  *store.Store
	index  *indexer.Indexer
	repo   string // a repository's folder, called "demo"
	caller memory.Caller
	now    time.Time
}

// newRig opens a rig that is checked and closed at the end of the test. change
// may replace what the write path is made of.
func newRig(t testing.TB, change ...func(*rig, *Options)) *rig {
	t.Helper()
	return newLargeRig(t, 4<<20, change...)
}

// newLargeRig is newRig with a store that takes transactions of an eighth of memTable.
func newLargeRig(t testing.TB, memTable int64, change ...func(*rig, *Options)) *rig {
	t.Helper()
	r := &rig{t: t, repo: filepath.Join(t.TempDir(), "demo"), now: testTime}
	must(t, os.MkdirAll(filepath.Join(r.repo, ".git"), 0o755))
	must(t, os.WriteFile(filepath.Join(r.repo, ".git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o644))
	r.caller = memory.Caller{Dir: r.repo}
	var err error
	if r.index, err = indexer.New(indexer.Options{Builtin: builtin.New()}); err != nil {
		t.Fatal(err)
	}
	r.store, err = store.Open(store.Options{Dir: t.TempDir(), NoSync: true, MemTableSize: memTable, Apply: r.index.Apply, Follow: r.index.Follow})
	must(t, err)
	t.Cleanup(func() {
		if err := r.store.Check(); err != nil {
			t.Errorf("the store is not sound: %v", err)
		}
		if err := r.store.Close(); err != nil {
			t.Errorf("close store: %v", err)
		}
	})
	must(t, r.index.Load(t.Context(), r.store))
	opts := Options{
		Committer: r.store, Projects: project.NewResolver(r.store), Sessions: r.store, Records: r.store,
		Analyze: indexer.Analyze, Embedder: builtin.New(), Held: r.index.Held, Redact: redactSecret, Clock: func() time.Time { return r.now },
	}
	for _, c := range change {
		c(r, &opts)
	}
	if r.ingest, err = New(t.Context(), opts); err != nil {
		t.Fatal(err)
	}
	return r
}

// redactSecret takes out one word, so that a test sees where it was looked for.
func redactSecret(text string) (string, int) {
	return strings.ReplaceAll(text, "hunter2", "[redacted]"), strings.Count(text, "hunter2")
}

func (r *rig) remember(req memory.RememberRequest) *memory.Remembered {
	r.t.Helper()
	if req.Project == "" && req.Caller.Dir == "" {
		req.Caller = r.caller
	}
	out, err := r.ingest.Remember(r.t.Context(), req)
	if err != nil {
		r.t.Fatalf("remember %+v: %v", req, err)
	}
	return out
}

func (r *rig) record(id string) memory.Record {
	r.t.Helper()
	rec, err := r.store.Record(id)
	if err != nil {
		r.t.Fatalf("record %s: %v", id, err)
	}
	return rec
}

// contents counts what the store holds.
type contents struct{ Records, Documents, Projects, Sandboxes, Files int }

func (r *rig) contents() contents {
	r.t.Helper()
	c := contents{Documents: r.index.Documents()}
	err := r.store.View(func(v store.View) error {
		for range v.Records() {
			c.Records++
		}
		for range v.Files("") {
			c.Files++
		}
		for range v.Projects() {
			c.Projects++
		}
		for range v.Sandboxes() {
			c.Sandboxes++
		}
		return nil
	})
	must(r.t, err)
	return c
}

// start opens a session that must be accepted.
func (r *rig) start(req memory.StartSessionRequest) *memory.SessionState {
	r.t.Helper()
	if req.Caller == (memory.Caller{}) {
		req.Caller = r.caller
	}
	out, err := r.ingest.StartSession(r.t.Context(), req)
	if err != nil {
		r.t.Fatalf("start %+v: %v", req, err)
	}
	return out
}

// step records a step that must be accepted.
func (r *rig) step(req memory.RecordStepRequest) *memory.StepRecorded {
	r.t.Helper()
	if req.Caller == (memory.Caller{}) {
		req.Caller = r.caller
	}
	out, err := r.ingest.RecordStep(r.t.Context(), req)
	if err != nil {
		r.t.Fatalf("record %+v: %v", req, err)
	}
	return out
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
