package code_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recalld/recalld/embedder/builtin"
	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/git/gittest"
	"github.com/recalld/recalld/internal/indexer"
	"github.com/recalld/recalld/internal/ingest"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/project"
	"github.com/recalld/recalld/internal/source/code"
	"github.com/recalld/recalld/internal/store"
	"github.com/recalld/recalld/worker"
)

// rig is sandboxes over the real store, indexes and write path. Its jobs run
// when the test says so.
type rig struct {
	t     testing.TB
	dir   string
	store *store.Store
	index *indexer.Indexer
	paths *ingest.Service
	boxes *code.Sandboxes
	// projects finds the project of a folder.
	projects *project.Resolver
	clock    *clock
	queue    *queue
	disk     *writer
	reads    reads
	// closed reports whether the store was checked and closed.
	closed bool
}

// rigOptions are what tests choose.
type rigOptions struct {
	depth      int
	staleAfter time.Duration
	maxSize    int64
	run        code.Options // runOptions if zero
	dir        string       // of the store; a new one if empty
	watch      bool
	reconcile  time.Duration
}

// newRig opens a rig whose store is checked at the end of the test.
func newRig(t testing.TB, opts rigOptions) *rig {
	t.Helper()
	if opts.run.Workers == 0 {
		opts.run = runOptions()
	}
	if opts.dir == "" {
		opts.dir = t.TempDir()
	}
	r := &rig{t: t, dir: opts.dir, clock: &clock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}}
	model := builtin.New()
	var err error
	r.index, err = indexer.New(indexer.Options{Builtin: model, ChunkText: code.NewVerifier().Document})
	must(t, err)
	r.store, err = store.Open(store.Options{
		Dir: opts.dir, NoSync: true, MemTableSize: 1 << 20, Apply: r.index.Apply, Follow: r.index.Follow, Clock: r.clock.Now,
		Queue: worker.ScheduleOptions{Depth: opts.depth, Merge: func(_ string, older, newer json.RawMessage) json.RawMessage {
			return code.MergeRuns(older, newer)
		}},
	})
	must(t, err)
	must(t, r.index.Load(t.Context(), r.store))
	r.projects = project.NewResolver(r.store)
	r.paths, err = ingest.New(t.Context(), ingest.Options{
		Committer: r.store, Projects: r.projects, Sessions: r.store, Records: r.store, Analyze: indexer.Analyze, Embedder: model, Held: r.index.Held,
	})
	must(t, err)
	r.disk = &writer{Service: r.paths}
	r.queue = &queue{queue: r.store.Queue(), asked: make(chan code.RunRequest, 1000)}
	r.boxes, err = code.NewSandboxes(code.SandboxesOptions{
		Store: countingStore{r.store, &r.reads}, Writer: r.disk, Queue: r.queue, Projects: r.projects, Switch: r.store,
		Run: opts.run, StaleAfter: cmp.Or(opts.staleAfter, config.Default().Index.StaleAfter), Clock: r.clock.Now,
		MaxSize: opts.maxSize, Watch: opts.watch, ReconcileEvery: opts.reconcile,
	})
	must(t, err)
	t.Cleanup(r.close)
	return r
}

// close checks what is stored and closes it, once.
func (r *rig) close() {
	if r.closed {
		return
	}
	r.closed = true
	if err := errors.Join(r.store.Check(), r.index.Check(context.Background()), r.store.Close()); err != nil {
		r.t.Errorf("at the end: %v", err)
	}
}

// reopen closes the rig and opens another one over the same store.
func (r *rig) reopen(opts rigOptions) *rig {
	r.t.Helper()
	r.close()
	opts.dir = r.dir
	next := newRig(r.t, opts)
	next.clock.advance(r.clock.Now().Sub(next.clock.Now()))
	return next
}

// countingStore counts what runs read of the store.
type countingStore struct {
	*store.Store
	reads *reads
}

// reads counts the files that were looked up, and the lists of all.
type reads struct{ files, lists atomic.Int64 }

func (s countingStore) File(sandbox, path string) (memory.File, error) {
	s.reads.files.Add(1)
	return s.Store.File(sandbox, path)
}

func (s countingStore) FileMetadata(sandbox string) (map[string]memory.FileMetadata, error) {
	s.reads.lists.Add(1)
	return s.Store.FileMetadata(sandbox)
}

// ask has a folder indexed that must be accepted.
func (r *rig) ask(path string, changed ...string) *memory.IndexQueued {
	r.t.Helper()
	q, err := r.boxes.IndexRepo(r.t.Context(), memory.IndexRequest{Path: path, ChangedFiles: changed})
	if err != nil {
		r.t.Fatalf("index %s: %v", path, err)
	}
	return q
}

// lease takes the next run from the queue.
func (r *rig) lease() worker.Job {
	r.t.Helper()
	lease, err := r.store.Queue().Lease(r.t.Context(), []string{indexKind})
	if err != nil {
		r.t.Fatalf("lease a run: %v", err)
	}
	return lease
}

// run handles a leased run and settles it as a pool would.
func (r *rig) run(lease worker.Job) error {
	r.t.Helper()
	err := r.boxes.Run(r.t.Context(), lease.Payload)
	end := worker.Settlement{Outcome: worker.Done}
	if err != nil {
		end = worker.Settlement{Outcome: worker.Retry, Error: err.Error()}
	}
	must(r.t, r.store.Queue().Settle(r.t.Context(), lease.ID, end))
	return err
}

// stallPut has every put of a file but one hang until its run is cancelled. The
// channel is closed when one hangs.
func (r *rig) stallPut(but string) (stalled <-chan struct{}) {
	entered := make(chan struct{})
	r.disk.onPut(func(ctx context.Context, f memory.File) error {
		if f.Path == but {
			return nil
		}
		close(entered)
		<-ctx.Done()
		return ctx.Err()
	})
	return entered
}

// runBoth runs what waits for two sandboxes, each by itself.
func (r *rig) runBoth() {
	for range 2 {
		r.next()
		r.runNext()
	}
}

// runNext runs what is next in the queue, which must succeed.
func (r *rig) runNext() {
	r.t.Helper()
	if err := r.run(r.lease()); err != nil {
		r.t.Fatalf("run: %v", err)
	}
}

// refresh keeps the sandboxes up to date until the end of the test.
func (r *rig) refresh(folders ...string) {
	r.t.Helper()
	ctx, cancel := context.WithCancel(r.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.boxes.Refresh(ctx, folders) }()
	r.t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			r.t.Errorf("refresh: %v", err)
		}
	})
}

// next waits for the next run that is queued.
func (r *rig) next() code.RunRequest {
	r.t.Helper()
	select {
	case run := <-r.queue.asked:
		return run
	case <-time.After(patience):
		r.t.Fatalf("nothing is queued for %s", patience)
		return code.RunRequest{}
	}
}

// leaseOf queues a run of a sandbox as a refresh would and takes it.
func (r *rig) leaseOf(q *memory.IndexQueued) worker.Job {
	r.t.Helper()
	_, err := r.queue.Enqueue(r.t.Context(), code.RunRequest{Sandbox: q.Sandbox, Project: q.Project})
	must(r.t, err)
	return r.lease()
}

// leaseAndRun looks at a whole sandbox again, as a refresh would.
func (r *rig) leaseAndRun(q *memory.IndexQueued) {
	r.t.Helper()
	if err := r.run(r.leaseOf(q)); err != nil {
		r.t.Fatalf("run: %v", err)
	}
}

// waiting is how many runs wait.
func (r *rig) waiting() int { return r.store.Queue().Stats().Waiting }

// state returns what is known of a sandbox.
func (r *rig) state(sandbox string) memory.SandboxState {
	r.t.Helper()
	states, err := r.boxes.Repos(r.t.Context())
	must(r.t, err)
	for _, s := range states {
		if s.ID == sandbox {
			return s
		}
	}
	r.t.Fatalf("sandbox %s is unknown; %d others are", sandbox, len(states))
	return memory.SandboxState{}
}

// indexed are the paths that are stored of a sandbox.
func (r *rig) indexed(sandbox string) map[string]memory.File {
	r.t.Helper()
	files, err := r.store.Files(sandbox)
	must(r.t, err)
	return files
}

const indexKind = "index"

// patience is when a test gives up what never comes.
const patience = 3 * time.Minute

// deadEnd gives a job up.
var deadEnd = worker.Settlement{Outcome: worker.Dead, Error: "given up"}

// queue puts runs into the store's queue, as the daemon does, and reports each.
type queue struct {
	queue worker.Queue
	asked chan code.RunRequest
	// after, if set, is called when a run has been queued and nobody knows yet.
	after func()
}

func (q *queue) Enqueue(ctx context.Context, run code.RunRequest) (code.Queued, error) {
	payload, err := json.Marshal(run)
	if err != nil {
		return code.Queued{}, err
	}
	at, err := q.queue.Enqueue(ctx, worker.Job{
		Kind: indexKind, Key: run.Sandbox, Group: run.Project, Priority: run.Priority, Droppable: true, Payload: payload,
	})
	if err != nil {
		return code.Queued{}, err
	}
	if q.after != nil {
		q.after()
	}
	q.asked <- run
	out := code.Queued{Job: at.ID, Position: at.Position, Coalesced: at.Coalesced}
	if at.Dropped != nil {
		out.Dropped = at.Dropped.Key
	}
	return out, nil
}

// writer is the write path, which tests can hold up or break.
type writer struct {
	*ingest.Service
	mu sync.Mutex // guards what follows
	// files and prune, if set, are called before files are put without documents, or
	// pruned.
	files func([]memory.File) error
	prune func([]memory.FileKey) error
	// put, if set, is called before a file is put.
	put func(ctx context.Context, f memory.File) error
	// drop, if set, is called before a file is dropped.
	drop func()
}

func (w *writer) onDrop(drop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drop = drop
}

func (w *writer) DropFile(ctx context.Context, sandbox, path string) error {
	w.mu.Lock()
	drop := w.drop
	w.mu.Unlock()
	if drop != nil {
		drop()
	}
	return w.Service.DropFile(ctx, sandbox, path)
}

func (w *writer) onPut(put func(context.Context, memory.File) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.put = put
}

func (w *writer) onPutFiles(put func([]memory.File) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.files = put
}

func (w *writer) PutFiles(ctx context.Context, files []memory.File) error {
	w.mu.Lock()
	put := w.files
	w.mu.Unlock()
	if put != nil {
		if err := put(files); err != nil {
			return err
		}
	}
	return w.Service.PutFiles(ctx, files)
}

func (w *writer) PruneFiles(ctx context.Context, files []memory.FileKey) (int, error) {
	w.mu.Lock()
	prune := w.prune
	w.mu.Unlock()
	if prune != nil {
		if err := prune(files); err != nil {
			return 0, err
		}
	}
	return w.Service.PruneFiles(ctx, files)
}

func (w *writer) PutFile(ctx context.Context, f memory.File, docs []memory.Document) error {
	w.mu.Lock()
	put := w.put
	w.mu.Unlock()
	if put != nil {
		if err := put(ctx, f); err != nil {
			return err
		}
	}
	return w.Service.PutFile(ctx, f, docs)
}

// clock is set by hand.
type clock struct {
	mu  sync.Mutex // guards now
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// folder writes files, given as path and text, below a new folder without
// symbolic links in its path.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	for name, text := range files {
		write(t, root, name, text)
	}
	return root
}

func write(t testing.TB, root, name, text string) {
	t.Helper()
	path := filepath.Join(root, filepath.FromSlash(name))
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o644))
}

// gitFolder makes a folder a repository, without a remote or with one. Those with the
// same remote have a commit in common.
func gitFolder(t testing.TB, root, remote string) {
	t.Helper()
	config := "[core]\n\tbare = false\n"
	if remote != "" {
		config += fmt.Sprintf("[remote \"origin\"]\n\turl = %s\n", remote)
	}
	write(t, root, ".git/config", config)
	write(t, root, ".git/HEAD", "ref: refs/heads/main\n")
	if remote != "" {
		gittest.Commit(t, filepath.Join(root, ".git"), remote)
	}
	for _, dir := range []string{"objects", "refs"} {
		must(t, os.MkdirAll(filepath.Join(root, ".git", dir), 0o755))
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// runOptions are the settings' defaults, for one file after the other and
// without git.
func runOptions() code.Options {
	x := config.Default().Index
	return code.Options{
		MaxFileSize: int64(x.MaxFileSize), MaxFiles: x.MaxFiles, TimeLimit: x.TimeLimit,
		SkipDirs: x.SkipDirs, SkipFiles: x.SkipFiles, Workers: 1, Git: "none",
	}
}
