package code

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
)

// Sink takes what a run finds. Its methods are called by Options.Workers
// goroutines at once, for one file once a run; an error ends the run.
type Sink interface {
	// PutFile replaces a file and its chunks as one. The chunks' documents are
	// in docs, each once. Project, Sandbox and Generation of f are those of the
	// sandbox and of what is known; the sink raises the generation.
	PutFile(ctx context.Context, f memory.File, docs []memory.Document) error
	// PutFiles replaces files that bring no documents, all of them or none: they
	// have no chunks, or those of a file that is stored. When a document of theirs
	// is not stored any more, it returns memory.ErrDocMissing.
	PutFiles(ctx context.Context, files []memory.File) error
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
	// Changed files have another text than before, or are new; Shared are those of
	// them that were not cut, since another file with their text had been. Touched
	// ones only have another time, Dropped ones are gone or no longer indexed.
	Changed, Shared, Touched, Dropped int
	// Heads are the files whose beginning was put ahead of the rest of them.
	Heads int
	// Read is how many files were read, Documents how many documents the
	// changed files hold.
	Read, Documents int
	Skipped         map[SkipReason]int
	// Partial reports whether only some paths were looked at.
	Partial bool
	// Incomplete reports whether a folder could not be read. Nothing was dropped that
	// may still be in it.
	Incomplete     bool
	Walking, Total time.Duration
}

// racy is how long after a file was written its time does not prove that it is
// as it was read: file systems keep times in steps of up to two seconds (FAT),
// and it may have been written again within one. The same holds of its change time,
// where the time of modification was set back.
const racy = 2 * time.Second

// Index brings what is known of a sandbox up to date with the disk. Changed
// restricts it to some files and folders, absolute or relative to the root; nil
// is all. Files whose size, times and inode are known and whose rules have not
// changed are not read; those whose text is the same are not cut. Files that are known
// and no longer there, or not to be indexed any more, are dropped, but only
// after a walk that saw everything. When Index returns an error, what it gave
// to the sink until then stands, and another run goes on from there; the error
// wraps ErrTimeLimit when it was Options.TimeLimit that ended it.
//
// The first run over a sandbox, one that has no IndexedAt, puts the heads of all
// files before it cuts the first, unless most of them are known from elsewhere. Files whose chunks gave way to the size limit
// keep to that while they are as they were, unless Options.Restore is set.
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
	ctx, cancel := context.WithTimeoutCause(ctx, opts.TimeLimit, ErrTimeLimit)
	defer cancel()
	err := r.index(ctx, changed)
	if err != nil && errors.Is(context.Cause(ctx), ErrTimeLimit) {
		err = fmt.Errorf("%w of %s", ErrTimeLimit, opts.TimeLimit)
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

// ErrTimeLimit is returned when a run reaches Options.TimeLimit.
var ErrTimeLimit = errors.New("the run reached its time limit")

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
	// added are the files that a run over some paths found and that were not known.
	added int
	// headed are the paths whose heads were put.
	headed []string
	// waiting are the files that are put together with the next ones.
	waiting []waiting
}

func (r *run) index(ctx context.Context, changed []string) error {
	root, err := fsx.OpenRoot(r.sandbox.Root)
	if err != nil {
		return fmt.Errorf("open sandbox: %w", err)
	}
	defer root.Close() // only read
	r.root = root
	only := hints(r.sandbox.Root, changed)
	r.report.Partial = only != nil
	r.tell("walking")
	var entries []Entry
	if !r.opts.NoChunks || !r.opts.NoHeads { // else nothing is to be kept
		if entries, err = r.walk(ctx, only); err != nil {
			return err
		}
	}
	r.report.Walking = r.opts.Now().Sub(r.began)
	r.progress.FilesTotal = len(entries)
	r.seen = make(map[string]bool, len(entries))
	if first := only == nil && r.sandbox.IndexedAt.IsZero(); first && !r.opts.NoHeads && !r.opts.NoChunks {
		if err := r.heads(ctx, entries); err != nil {
			return err
		}
	}
	r.tell("indexing")
	if err := each(ctx, r.opts.Workers, entries, r.file); err != nil {
		return err
	}
	if err := r.putRest(ctx); err != nil {
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
func hints(root string, changed []string) []string {
	if len(changed) == 0 {
		return nil
	}
	only := make([]string, 0, len(changed))
	for _, p := range changed {
		if filepath.IsAbs(p) {
			rel, err := filepath.Rel(root, p)
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

// each gives the items to as many workers and waits for them. The first error ends
// it and is returned.
func each[T any](ctx context.Context, workers int, items []T, do func(context.Context, T) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	work := make(chan T)
	var busy sync.WaitGroup
	for range min(workers, len(items)) {
		busy.Go(func() {
			for item := range work {
				if err := do(ctx, item); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
feed:
	for _, item := range items {
		select {
		case work <- item:
		case <-ctx.Done():
			break feed
		}
	}
	close(work)
	busy.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// mayBeThere reports whether a file may exist although it was not seen. What lies behind a
// link does not: it is a file of another name, or of another folder.
func (r *run) mayBeThere(name string) bool {
	for at := name; at != "."; at = path.Dir(at) {
		info, err := r.root.Lstat(filepath.FromSlash(at))
		if isGone(err) || err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return false
		}
	}
	return true
}

// drop removes the known files that the run should have seen and has not.
func (r *run) drop(ctx context.Context, only []string) error {
	gone := map[string]bool{}
	for _, p := range r.headed { // which were not known before
		if !r.seen[p] {
			gone[p] = true
		}
	}
	for p, err := range r.known.Paths(only) {
		if err != nil {
			return fmt.Errorf("list known files: %w", err)
		}
		if r.seen[p] {
			continue
		}
		if r.report.Incomplete {
			// Not seen is not gone, where a folder could not be looked into.
			if r.mayBeThere(p) {
				continue
			}
		}
		gone[p] = true
	}
	return each(ctx, dropWorkers, slices.Sorted(maps.Keys(gone)), func(ctx context.Context, p string) error {
		if err := r.sink.DropFile(ctx, r.sandbox.ID, p); err != nil {
			return fmt.Errorf("drop %s: %w", p, err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.report.Dropped++
		return nil
	})
}

// dropWorkers is how many files are dropped at once: what waits is committed
// together.
const dropWorkers = 32

// covered reports whether a path is among, or lies below, sorted paths.
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
