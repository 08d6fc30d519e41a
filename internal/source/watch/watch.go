// Package watch reports which files below some folders have changed, soon after they did.
//
// A root is a folder that is watched with everything below it. The system reports changes
// of one folder at a time; a watch asks it to, and their number is limited. Changes are
// pending until they are handed over as a batch, when nothing has changed for a moment.
// While git works - a switch of branches, a rebase - batches are held back, so that its
// work is one batch. A root without watches is polled: its folders are read and compared
// from time to time.
//
// A batch says where to look, not what has changed: its paths may name files that are gone,
// never existed, or have not changed.
package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"
)

// ErrClosed is returned by Add when the watcher is closed.
var ErrClosed = errors.New("watch: the watcher is closed")

// Options configure a Watcher. All have defaults.
type Options struct {
	// Quiet is how long nothing may change before a batch is handed over: 100 ms.
	// MaxDelay bounds that from the first change: 500 ms.
	Quiet, MaxDelay time.Duration
	// GitQuiet is how long git's own files must not change: 300 ms. GitHold bounds how
	// long its work is held back, from the first change: 10 s.
	GitQuiet, GitHold time.Duration
	// MaxPaths is the most paths in a batch; with more changes it is of everything: 300.
	MaxPaths int
	// LookEvery is how often the root itself is checked, because the system does not
	// always report that it is moved away and back: 3 s.
	LookEvery time.Duration
	// PollEvery is how often a root without watches is read: 2 s, or less often if that
	// would take more than a twentieth of the time.
	PollEvery time.Duration
	// RetryAfter is how long after running out of watches a root tries again: 1 min.
	RetryAfter time.Duration
	// Notify connects to the system: SystemNotifier. It is called again after it
	// failed.
	Notify func() (Notifier, error)
	// Logger discards if nil.
	Logger *slog.Logger
}

// pollShare limits polling a root to one part in so many of the time.
const pollShare = 20

func (o *Options) validate() error {
	for _, f := range []struct {
		name  string
		value *time.Duration
		def   time.Duration
	}{
		{"Quiet", &o.Quiet, 100 * time.Millisecond}, {"MaxDelay", &o.MaxDelay, 500 * time.Millisecond},
		{"GitQuiet", &o.GitQuiet, 300 * time.Millisecond}, {"GitHold", &o.GitHold, 10 * time.Second},
		{"LookEvery", &o.LookEvery, 3 * time.Second}, {"PollEvery", &o.PollEvery, 2 * time.Second},
		{"RetryAfter", &o.RetryAfter, time.Minute},
	} {
		if *f.value < 0 {
			return fmt.Errorf("watch: %s is negative", f.name)
		}
		*f.value = cmp.Or(*f.value, f.def)
	}
	if o.MaxPaths < 0 {
		return errors.New("watch: MaxPaths is negative")
	}
	o.MaxPaths = cmp.Or(o.MaxPaths, 300)
	if o.Notify == nil {
		o.Notify = SystemNotifier
	}
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	return nil
}

// Root is a folder to watch.
type Root struct {
	// Path is absolute and free of symbolic links. The folder need not exist yet.
	Path string
	// Rules returns the rules of the root. It is called at the start and whenever an
	// ignore file or a .git has changed, or Rules.Changed says so, by one goroutine at a
	// time, and ends early with its context. Nil is no rules.
	Rules func(context.Context) Rules
}

// Rules select what is watched of a root.
type Rules struct {
	// GitDir is where git keeps HEAD and the index of this worktree, which need not
	// lie below the root. It is empty without git.
	GitDir string
	// Skip reports whether a folder is not watched, or that a file does not matter. The
	// path is relative to the root, with slashes. Nil skips nothing. Folders named
	// .git are never watched but for GitDir, and symbolic links never followed.
	Skip func(path string, dir bool) bool
	// Changed reports whether something that no watch covers decides otherwise what Skip
	// returns. Nil is no.
	Changed func() bool
}

// Batch is a set of changes below a root. The first batch of a root is of everything,
// because earlier changes are not known.
type Batch struct {
	Root string
	// Paths are files and folders, relative to the root with slashes, sorted. A
	// folder stands for all that is below it.
	Paths []string
	// All means that anything may have changed; Paths are empty then.
	All bool
	// Gone means that the root is missing. When it is back, a batch of everything
	// follows.
	Gone bool
}

// Mode is how the changes of a root are noticed.
type Mode int

const (
	// Starting is a root whose folders are still being found.
	Starting Mode = iota
	// Events come from the system.
	Events
	// Polling reads the folders from time to time.
	Polling
	// Missing is a root that is not there.
	Missing
)

// State is how a root is watched.
type State struct {
	Mode Mode
	// Why is why a root is polled.
	Why string
	// Pending means that changes wait to be handed over.
	Pending bool
}

// String returns "events", "polling: " with the reason, or "" if nothing is noticed now.
func (s State) String() string {
	switch s.Mode {
	case Events:
		return "events"
	case Polling:
		return "polling: " + s.Why
	}
	return ""
}

// Live reports whether changes are noticed and all were handed over.
func (s State) Live() bool { return (s.Mode == Events || s.Mode == Polling) && !s.Pending }

// Watcher watches roots until it is closed. It is safe for concurrent use.
type Watcher struct {
	opts    Options
	ctx     context.Context
	cancel  context.CancelFunc
	work    sync.WaitGroup // all goroutines
	batches chan Batch
	system  *system
	// polls and scans hold a place for each root that may read all its folders now.
	polls, scans chan struct{}

	mu     sync.Mutex // guards what follows
	roots  map[string]*root
	closed bool
}

// maxScans bounds the roots that are scanned at once: a large root does not hold up the
// others, and a hundred do not read the disk at once.
const maxScans = 4

// New returns a watcher without roots. Close it.
func New(opts Options) (*Watcher, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	w := &Watcher{
		opts: opts, ctx: ctx, cancel: cancel, batches: make(chan Batch), roots: map[string]*root{},
		polls: make(chan struct{}, 1), scans: make(chan struct{}, maxScans),
	}
	w.system = newSystem(opts.Notify, opts.Logger, w.work.Go)
	return w, nil
}

// Batches returns the channel of batches. Batches of one root that wait are joined. Close
// closes the channel.
func (w *Watcher) Batches() <-chan Batch { return w.batches }

// Add watches a root from now on, and returns at once. It is a no-op for a watched root.
// It returns ErrClosed after Close.
func (w *Watcher) Add(at Root) error {
	at.Path = filepath.Clean(at.Path)
	if !filepath.IsAbs(at.Path) {
		return fmt.Errorf("watch: the path %q is not absolute", at.Path)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return ErrClosed
	}
	if w.roots[at.Path] != nil {
		return nil
	}
	r := newRoot(w, at)
	w.roots[at.Path] = r
	w.work.Go(r.run)
	return nil
}

// Remove stops watching a root and waits until nothing of it is handed over any more.
func (w *Watcher) Remove(path string) {
	path = filepath.Clean(path)
	w.mu.Lock()
	r := w.roots[path]
	delete(w.roots, path)
	w.mu.Unlock()
	if r != nil {
		r.cancel()
		<-r.ended
	}
}

// State returns how a root is watched; zero if it is not.
func (w *Watcher) State(path string) State {
	w.mu.Lock()
	r := w.roots[filepath.Clean(path)]
	w.mu.Unlock()
	if r == nil {
		return State{}
	}
	return r.told()
}

// Close stops all watching and waits for its end. It may be called again.
func (w *Watcher) Close() error {
	w.mu.Lock()
	first := !w.closed
	w.closed = true
	w.mu.Unlock()
	w.cancel()
	err := w.system.close()
	w.work.Wait()
	if first {
		close(w.batches)
	}
	return err
}
