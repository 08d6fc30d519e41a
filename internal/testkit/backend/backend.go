// Package backend opens the real parts of recalld for tests: a store in a temporary folder,
// its indexes, the write path and the read path.
package backend

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
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
	"github.com/recalld/recalld/worker"
)

// Options are what tests choose. The zero value is a new store with the real clock.
type Options struct {
	// Dir is the folder of the store; empty means a new one.
	Dir string
	// Sync syncs every commit.
	Sync  bool
	Clock func() time.Time
	// MemTableSize is the store's; zero means 2 MiB, an eighth of the product's, because
	// it is cleared at every start. A larger one takes larger transactions.
	MemTableSize int64
	Queue        worker.ScheduleOptions
	// Redact and RedactValue redact on the write path, and Redact on the read path too.
	Redact      func(string) (string, int)
	RedactValue func(value string, names ...string) (string, int)
	// Turn is the number of a session's turn, for the read path.
	Turn func(memory.SessionKey) int
	// Committed gets the changes of each commit after the indexes.
	Committed func([]memory.Change)
	// Recall changes what the read path is made of.
	Recall func(*Parts, *recall.Options)
}

// Parts are open until Close.
type Parts struct {
	Store    *store.Store
	Index    *indexer.Indexer
	Projects *project.Resolver
	Ingest   *ingest.Service
	Recall   *recall.Service
}

// Open opens all parts, as a daemon does when it starts. Whoever opens closes.
func Open(t testing.TB, o Options) *Parts {
	t.Helper()
	must := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	var err error
	p, model, verifier := &Parts{}, builtin.New(), code.NewVerifier()
	p.Index, err = indexer.New(indexer.Options{Builtin: model, ChunkText: verifier.Document})
	must("make indexer", err)
	apply := func(changes []memory.Change) {
		p.Index.Apply(changes)
		if o.Committed != nil {
			o.Committed(changes)
		}
	}
	p.Store, err = store.Open(store.Options{
		Dir: o.Dir, NoSync: !o.Sync, Apply: apply, Follow: p.Index.Follow, Clock: o.Clock, Queue: o.Queue,
		MemTableSize: cmp.Or(o.MemTableSize, 2<<20),
	})
	must("open store", err)
	must("load", p.Index.Load(t.Context(), p.Store))
	p.Projects = project.NewResolver(p.Store)
	p.Ingest, err = ingest.New(t.Context(), ingest.Options{
		Committer: p.Store, Projects: p.Projects, Sessions: p.Store, Records: p.Store, Analyze: indexer.Analyze, Embedder: model,
		Held: p.Index.Held, Redact: o.Redact, RedactValue: o.RedactValue, Clock: o.Clock,
	})
	must("make write path", err)
	reading := recall.Options{
		Corpus: p.Index, Sessions: p.Index, Current: p.Store, Projects: p.Projects, Verifier: verifier, Ledger: p.Store,
		Analyze: func(text string) index.Terms { return lexical.Analyze(text) }, Content: lexical.Content,
		Redact: o.Redact, Turn: o.Turn, Clock: o.Clock,
	}
	if o.Recall != nil {
		o.Recall(p, &reading)
	}
	p.Recall, err = recall.New(reading)
	must("make read path", err)
	return p
}

// New opens parts that are checked and closed at the end of the test.
func New(t testing.TB, o Options) *Parts {
	t.Helper()
	p := Open(t, o)
	t.Cleanup(func() { p.Close(t) })
	return p
}

// Close compares the indexes with the store, checks the store and closes both.
func (p *Parts) Close(t testing.TB) {
	t.Helper()
	if err := p.Store.Check(); err != nil {
		t.Errorf("the store is not sound: %v", err)
	}
	if err := p.Index.Check(context.Background()); err != nil { // t.Context ends before the test is cleaned up
		t.Errorf("the indexes are not what the store holds: %v", err)
	}
	p.Index.Close()
	if err := p.Store.Close(); err != nil {
		t.Errorf("close store: %v", err)
	}
}

// RedactSecret redacts one word, so that a test sees where it was looked for.
func RedactSecret(text string) (string, int) {
	return strings.ReplaceAll(text, "hunter2", "[redacted]"), strings.Count(text, "hunter2")
}

// Repo makes the folder of a repository named demo and returns its path.
func Repo(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "demo")
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, ".git"), 0o755),
		os.WriteFile(filepath.Join(dir, ".git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	return dir
}
