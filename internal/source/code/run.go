package code

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/memory"
)

// Known is what was indexed of a sandbox before. It is asked while the Sink is
// given changes; that it answers as before the run is enough.
type Known interface {
	// File returns a file that was indexed. It must be safe for concurrent use.
	File(ctx context.Context, path string) (memory.File, bool, error)
	// Paths lists all of them, in any order.
	Paths(ctx context.Context) iter.Seq2[string, error]
}

// KnownFiles is Known from a map by path, which nobody may change meanwhile.
type KnownFiles map[string]memory.File

var _ Known = KnownFiles(nil)

// File returns the file of a path.
func (k KnownFiles) File(_ context.Context, path string) (memory.File, bool, error) {
	f, ok := k[path]
	return f, ok, nil
}

// Paths lists the paths.
func (k KnownFiles) Paths(context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for path := range k {
			if !yield(path, nil) {
				return
			}
		}
	}
}

// Sink takes what a run finds. Its methods are called by Options.Workers
// goroutines at once, for one file once a run; an error ends the run.
type Sink interface {
	// PutFile replaces a file and its chunks as one. The chunks' documents are
	// in docs, each once. No docs at all means that only size and time of the
	// file have changed: its chunks, and so its documents, are known. Project,
	// Sandbox and Generation of f are those of the sandbox and of what is known;
	// the sink raises the generation.
	PutFile(ctx context.Context, f memory.File, docs []memory.Document) error
	// DropFile removes a file with its chunks.
	DropFile(ctx context.Context, sandbox, path string) error
}

// Report is what a run did.
type Report struct {
	View string // whose view of the folder was taken: see Walked
	Note string
	// Files are those that are indexed now, as far as the run looked; Chunks and
	// Bytes are theirs.
	Files  int
	Chunks int
	Bytes  int64
	// Changed files were cut anew, Touched ones only have another time, Dropped
	// ones are gone or no longer indexed.
	Changed, Touched, Dropped int
	// Read is how many files were opened, Documents how many documents the
	// changed files hold.
	Read, Documents int
	Skipped         map[SkipReason]int
	// Partial says that only some paths were looked at.
	Partial bool
	// Incomplete says that a folder could not be read. Nothing was dropped that
	// may still be in it.
	Incomplete     bool
	Walking, Total time.Duration
}

// racy is how long after a file was written its time does not prove that it is
// as it was read: file systems keep times in steps of up to two seconds (FAT),
// and it may have been written again within one.
const racy = 2 * time.Second

// Index brings what is known of a sandbox up to date with the disk. Changed
// restricts it to some files and folders, absolute or relative to the root; nil
// is all. Files whose size and time are known and whose rules have not changed
// are not read; those whose text is the same are not cut. Files that are known
// and no longer there, or not to be indexed any more, are dropped, but only
// after a walk that saw everything. When Index returns an error, what it gave
// to the sink until then stands, and another run goes on from there.
func Index(ctx context.Context, sandbox memory.Sandbox, known Known, changed []string, sink Sink, opts Options) (Report, error) {
	if err := opts.validate(); err != nil {
		return Report{}, err
	}
	r := &run{
		sandbox: sandbox, known: known, sink: sink, opts: &opts, began: opts.Now(),
		progress: memory.Progress{Phase: "walking"},
	}
	r.progress.StartedAt = r.began
	r.report.Skipped = map[SkipReason]int{}
	ctx, cancel := context.WithTimeoutCause(ctx, opts.TimeLimit, errTimeLimit)
	defer cancel()
	err := r.index(ctx, changed)
	if err != nil && errors.Is(context.Cause(ctx), errTimeLimit) {
		err = fmt.Errorf("%w of %s", errTimeLimit, opts.TimeLimit)
	}
	r.report.Total = opts.Now().Sub(r.began)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.progress.Error = err.Error()
		r.phase("failed")
		return r.report, fmt.Errorf("index %s: %w", sandbox.Root, err)
	}
	r.phase("done")
	return r.report, nil
}

// errTimeLimit is returned when a run reaches Options.TimeLimit.
var errTimeLimit = errors.New("the run reached its time limit")

type run struct {
	sandbox memory.Sandbox
	known   Known
	sink    Sink
	opts    *Options
	root    *os.Root
	began   time.Time

	// mu guards what follows, and keeps the calls of the callbacks apart.
	mu       sync.Mutex
	report   Report
	progress memory.Progress
	told     time.Time
	// seen are the paths whose files were put, or kept as they are.
	seen map[string]bool
}

func (r *run) index(ctx context.Context, changed []string) error {
	root, err := os.OpenRoot(r.sandbox.Root)
	if err != nil {
		return fmt.Errorf("open sandbox: %w", err)
	}
	defer root.Close() // only read
	r.root = root
	only := r.hints(changed)
	r.report.Partial = only != nil
	r.tell("walking")
	entries, err := r.walk(ctx, only)
	if err != nil {
		return err
	}
	r.report.Walking = r.opts.Now().Sub(r.began)
	r.progress.FilesTotal = len(entries)
	r.seen = make(map[string]bool, len(entries))
	r.tell("indexing")
	if err := r.all(ctx, entries); err != nil {
		return err
	}
	return r.drop(ctx, only)
}

// tell reports a change of phase.
func (r *run) tell(phase string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.phase(phase)
}

// phase is tell for holders of r.mu.
func (r *run) phase(name string) {
	r.progress.Phase = name
	r.told = r.opts.Now()
	if r.opts.Progress != nil {
		r.opts.Progress(r.progress)
	}
}

// hints makes the changed paths relative to the root. It returns nil, for a
// full run, when there are none or when rules of what is ignored changed.
func (r *run) hints(changed []string) []string {
	if len(changed) == 0 {
		return nil
	}
	only := make([]string, 0, len(changed))
	for _, p := range changed {
		if filepath.IsAbs(p) {
			rel, err := filepath.Rel(r.sandbox.Root, p)
			if err != nil {
				continue
			}
			p = rel
		}
		p = path.Clean(filepath.ToSlash(p))
		if p == "." {
			return nil
		}
		if !filepath.IsLocal(filepath.FromSlash(p)) || !utf8.ValidString(p) {
			continue // not of this sandbox
		}
		switch path.Base(p) {
		case ".gitignore", recalldIgnore:
			return nil
		}
		only = append(only, p)
	}
	slices.Sort(only)
	return slices.Compact(only)
}

// walk lists the files to look at. All are held at once, some 150 bytes each,
// because what is to be dropped is known only when all were seen.
func (r *run) walk(ctx context.Context, only []string) ([]Entry, error) {
	var entries []Entry
	walked, err := walk(ctx, r.sandbox.Root, only, r.opts, func(e Entry) error {
		entries = append(entries, e)
		return nil
	})
	if err != nil {
		return nil, err
	}
	r.report.View, r.report.Note, r.report.Incomplete = walked.View, walked.Note, walked.Incomplete
	for reason, n := range walked.Skipped {
		r.report.Skipped[reason] += n
	}
	return entries, nil
}

// all gives the entries to the workers and waits for them.
func (r *run) all(ctx context.Context, entries []Entry) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	work := make(chan Entry)
	var workers sync.WaitGroup
	for range r.opts.Workers {
		workers.Go(func() {
			for e := range work {
				if err := r.file(ctx, e); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
feed:
	for _, e := range entries {
		select {
		case work <- e:
		case <-ctx.Done():
			break feed
		}
	}
	close(work)
	workers.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// drop removes the known files that the run should have seen and has not.
func (r *run) drop(ctx context.Context, only []string) error {
	var gone []string
	for p, err := range r.known.Paths(ctx) {
		if err != nil {
			return fmt.Errorf("list known files: %w", err)
		}
		if r.seen[p] || only != nil && !covered(only, p) {
			continue
		}
		if r.report.Incomplete {
			// Not seen is not gone, where a folder could not be looked into.
			if _, err := r.root.Lstat(filepath.FromSlash(p)); !isGone(err) {
				continue
			}
		}
		gone = append(gone, p)
	}
	for _, p := range gone {
		if err := r.sink.DropFile(ctx, r.sandbox.ID, p); err != nil {
			return fmt.Errorf("drop %s: %w", p, err)
		}
		r.report.Dropped++
	}
	return nil
}

// covered says that a path is among, or lies below, sorted paths.
func covered(only []string, p string) bool {
	for {
		if _, ok := slices.BinarySearch(only, p); ok {
			return true
		}
		i := strings.LastIndexByte(p, '/')
		if i < 0 {
			return false
		}
		p = p[:i]
	}
}
