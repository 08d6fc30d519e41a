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

	"golang.org/x/sync/errgroup"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
)

// Sink stores the results of a run. Its methods are called by Options.Workers goroutines
// at once, at most once for a file in a run. An error ends the run.
type Sink interface {
	// PutFile replaces a file and its chunks as one. docs has the chunks' documents, each
	// once. f has the project and sandbox, and the generation that is stored; the sink
	// raises it.
	PutFile(ctx context.Context, f memory.File, docs []memory.Document) error
	// PutFiles replaces files without new documents, all of them or none: they have no
	// chunks, or the chunks of a stored file. It returns memory.ErrDocMissing if one of
	// their documents is not stored any more.
	PutFiles(ctx context.Context, files []memory.File) error
	// DropFile removes a file with its chunks.
	DropFile(ctx context.Context, sandbox, path string) error
}

// Report is the outcome of a run.
type Report struct {
	Note string // see Walked
	// Files are indexed now, as far as the run looked; Chunks is their total.
	Files, Chunks int
	// Changed files are new or have another text than before; Shared of them took the
	// chunks of another file with the same text. Touched files only have another time,
	// Dropped ones are gone or no longer indexed.
	Changed, Shared, Touched, Dropped int
	// Heads are the files whose heads were stored first.
	Heads int
	// Read is how many files were read, Documents how many documents the changed files
	// have.
	Read, Documents int
	Skipped         map[SkipReason]int
	// Partial is true for a run over some paths.
	Partial bool
	// Incomplete is true if a folder could not be read, or git was too slow. Known files that
	// may exist were not dropped.
	Incomplete bool
}

// racy is the age below which a file's time does not prove that it is unchanged since it
// was read: file systems keep times in steps of up to two seconds (FAT), and it may have
// been written twice within one. The same holds for its change time, in case the
// modification time was set back.
const racy = 2 * time.Second

// Index brings the stored files of a sandbox up to date with the disk. changed restricts
// it to some files and folders, absolute or relative to the root; nil means all. Files
// whose size, times and inode are the stored ones are not read; files with a stored text
// are not split. Stored files that are gone, or no longer to be indexed, are dropped, but
// only after a walk that saw everything. If Index returns an error, everything that it
// gave to the sink stays, and another run continues from there. The error wraps
// ErrTimeLimit if Options.TimeLimit ended the run.
//
// The first run over a sandbox, one without IndexedAt, stores the heads of all files
// before it splits the first, unless the texts of most files are stored already. Pruned
// files stay pruned while they are unchanged, unless Options.Restore is set.
func Index(ctx context.Context, sandbox memory.Sandbox, known Known, changed []string, sink Sink, opts Options) (Report, error) {
	if err := opts.validate(); err != nil {
		return Report{}, err
	}
	r := &run{
		sandbox: sandbox, known: known, sink: sink, opts: &opts,
		progress: memory.Progress{Phase: "walking", StartedAt: opts.Now()}, report: Report{Skipped: map[SkipReason]int{}},
	}
	ctx, cancel := context.WithTimeoutCause(ctx, opts.TimeLimit, ErrTimeLimit)
	defer cancel()
	err := r.index(ctx, changed)
	if err != nil && errors.Is(context.Cause(ctx), ErrTimeLimit) {
		err = fmt.Errorf("%w of %s", ErrTimeLimit, opts.TimeLimit)
	}
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
	walked  Walked // set before the files are looked at

	// mu guards the fields below and serialises the callbacks.
	mu       sync.Mutex
	report   Report
	progress memory.Progress
	told     time.Time
	// seen are the paths of the files that were stored or kept.
	seen map[string]bool
	// added counts the new files of a run over some paths.
	added int
	// headed are the paths whose heads were stored.
	headed []string
	// waiting are the files of the next batch.
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
	if !r.opts.NoChunks || !r.opts.NoHeads { // else nothing is indexed
		if entries, err = r.walk(ctx, only); err != nil {
			return err
		}
	}
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

// hints makes the changed paths relative to the root. It returns nil, which is a full
// run, if there are none or if ignore files changed.
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
			continue // outside of the sandbox
		}
		switch path.Base(p) {
		case ".gitignore", recalldIgnore:
			return nil
		}
		only = append(only, p)
	}
	slices.Sort(only)
	only = slices.Compact(only)
	all := slices.Clone(only)
	// What lies in a changed folder comes with it, and is looked at once.
	return slices.DeleteFunc(only, func(p string) bool { return covered(all, path.Dir(p)) })
}

// walk lists the files to look at. It holds all of them, some 150 bytes each, because
// only then it is known which stored files are gone.
func (r *run) walk(ctx context.Context, only []string) ([]Entry, error) {
	var entries []Entry
	walked, err := walk(ctx, r.sandbox.Root, only, r.opts, func(e Entry) error {
		entries = append(entries, e)
		return nil
	})
	if err != nil {
		return nil, err
	}
	r.walked = walked
	r.report.Note, r.report.Incomplete = walked.Note, walked.Incomplete
	maps.Copy(r.report.Skipped, walked.Skipped)
	return entries, nil
}

// each calls do for the items in several goroutines and waits for them. The first error
// ends it and is returned; if ctx ended, its cause.
func each[T any](ctx context.Context, workers int, items []T, do func(context.Context, T) error) error {
	work, below := errgroup.WithContext(ctx)
	work.SetLimit(workers)
	for _, item := range items {
		if below.Err() != nil {
			break
		}
		work.Go(func() error { return do(below, item) })
	}
	err := work.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// mayBeThere reports whether a file may exist that the walk, which was incomplete, did not
// see. A path behind a link does not count: it is a file of another name or folder. Nor does
// one whose folders can be read, unless git was too slow: the walk left it out.
func (r *run) mayBeThere(name string) bool {
	hidden := r.walked.slow
	for at := name; at != "."; at = path.Dir(at) {
		info, err := r.root.Lstat(filepath.FromSlash(at))
		if fsx.IsGone(err) || err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return false
		}
		hidden = hidden || err != nil || r.walked.unread[at] || !r.lists(path.Dir(at))
	}
	return hidden
}

// lists reports whether a folder can be read.
func (r *run) lists(folder string) bool {
	f, err := fsx.OpenDir(r.root, filepath.FromSlash(folder))
	if err != nil {
		return false
	}
	f.Close() // only read
	return true
}

// drop removes the stored files that the run should have seen and did not.
func (r *run) drop(ctx context.Context, only []string) error {
	gone := map[string]bool{}
	for _, p := range r.headed { // which are new
		if !r.seen[p] {
			gone[p] = true
		}
	}
	known, err := r.known.Paths(only)
	if err != nil {
		return fmt.Errorf("list known files: %w", err)
	}
	for _, p := range known {
		// A file in a folder that could not be read may still exist.
		if !r.seen[p] && !(r.report.Incomplete && r.mayBeThere(p)) {
			gone[p] = true
		}
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

// dropWorkers is how many files are dropped at once, so that they share commits.
const dropWorkers = 32

// covered reports whether a path is among, or below, sorted paths.
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
