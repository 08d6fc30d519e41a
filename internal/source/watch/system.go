package watch

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// system shares the system's watches among the roots: each folder is watched once, and
// its events go to every root that wants them.
type system struct {
	connect func() (Notifier, error)
	log     *slog.Logger
	start   func(func()) // starts a goroutine that the owner waits for
	budget  int

	mu       sync.Mutex // guards what follows
	notifier Notifier   // nil until the first root, or as long as connecting fails
	closed   bool
	folders  map[string]*folder
	held     map[*root]map[*folder]struct{}
	used     int // the weights of all folders
}

// folder is a watched folder.
type folder struct {
	path   string
	weight int
	roots  []*root
	// below are the folders in it, as far as they were watched after it was.
	below map[*folder]struct{}
	above *folder
}

func newSystem(connect func() (Notifier, error), log *slog.Logger, start func(func())) *system {
	return &system{
		connect: connect, log: log, start: start, budget: maxWatches(),
		folders: map[string]*folder{}, held: map[*root]map[*folder]struct{}{},
	}
}

// connected returns the notifier, which the first caller connects to.
func (s *system) connected() (Notifier, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.notifier != nil {
		return s.notifier, nil
	}
	if s.closed {
		return nil, ErrClosed
	}
	n, err := s.connect()
	if err != nil {
		return nil, err
	}
	s.notifier = n
	q := newQueue()
	s.start(func() { pump(n, q, s.log) })
	s.start(func() {
		for {
			events, lost, open := q.wait()
			for _, e := range events {
				s.dispatch(n, e)
			}
			if lost {
				s.log.Warn("too many changes to report one by one", "part", "watch")
				s.lost()
			}
			if !open {
				return
			}
		}
	})
	return n, nil
}

// pump reads the system's events at once, whatever else happens: its buffer is small, and
// on some systems watches cannot be added or removed while an event is delivered.
func pump(n Notifier, q *queue, log *slog.Logger) {
	defer q.close()
	events, errs := n.Events(), n.Errors()
	for events != nil || errs != nil {
		select {
		case e, ok := <-events:
			if !ok {
				events = nil
			} else if e.Name != "" { // fsnotify's way to report nothing
				q.put(e)
			}
		case err, ok := <-errs:
			switch {
			case !ok:
				errs = nil
			case errors.Is(err, fsnotify.ErrEventOverflow):
				q.lose()
			case err != nil:
				// It is about one folder. Rescanning everything for it might never end.
				log.Warn("changes of a folder may be missed", "part", "watch", "error", err)
			}
		}
	}
}

// wasFolder is added to the operation of an event where a watched folder is gone: rules for
// the names of files, which a folder may have as well, do not hide that.
const wasFolder fsnotify.Op = 1 << 31

// dispatch passes an event on. The watches at and below a removed folder end before any
// root gets the event: if the folder was moved, they would keep its old name.
func (s *system) dispatch(n Notifier, e fsnotify.Event) {
	s.mu.Lock()
	own, in := s.folders[e.Name], s.folders[filepath.Dir(e.Name)]
	var roots []*root
	for _, f := range []*folder{own, in} {
		if f != nil {
			for _, r := range f.roots {
				if !slices.Contains(roots, r) {
					roots = append(roots, r)
				}
			}
		}
	}
	var gone []string
	if own != nil && e.Op&(fsnotify.Remove|fsnotify.Rename) != 0 {
		gone = s.cut(own, nil)
	}
	s.mu.Unlock()
	s.unwatch(n, gone)
	for _, r := range roots {
		told := e
		if len(gone) > 0 && slices.Contains(own.roots, r) {
			told.Op |= wasFolder
		}
		r.inbox.put(told)
	}
}

// unwatch ends the watches of removed folders. A root that has taken over such a folder
// since then may have lost its watch, and renews all of its watches.
func (s *system) unwatch(n Notifier, paths []string) {
	for _, path := range paths {
		_ = n.Remove(path) // the system has ended it by itself, or does now
		s.mu.Lock()
		if f := s.folders[path]; f != nil {
			for _, r := range f.roots {
				r.inbox.lose()
			}
		}
		s.mu.Unlock()
	}
}

// lost tells all roots that anything may have changed.
func (s *system) lost() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for r := range s.held {
		r.inbox.lose()
	}
}

// watch watches a folder of a root with about so many entries. It returns the notifier's
// error, or ErrNoWatches.
func (s *system) watch(r *root, path string, entries int) error {
	n, err := s.connected()
	if err != nil {
		return err
	}
	s.mu.Lock()
	f := s.folders[path]
	if f == nil {
		f = &folder{path: path, weight: weight(entries), below: map[*folder]struct{}{}, above: s.folders[filepath.Dir(path)]}
		if s.used+f.weight > s.budget {
			s.mu.Unlock()
			return ErrNoWatches
		}
		s.used += f.weight
		s.folders[path] = f
		if f.above != nil {
			f.above.below[f] = struct{}{}
		}
	}
	if !slices.Contains(f.roots, r) {
		f.roots = append(f.roots, r)
	}
	if s.held[r] == nil {
		s.held[r] = map[*folder]struct{}{}
	}
	s.held[r][f] = struct{}{}
	s.mu.Unlock()
	// Record it first: the first event may come before Add returns. A watched folder is
	// added again, because its path may be another folder by now.
	if err := n.Add(path); err != nil {
		var gone []string
		s.mu.Lock()
		if s.folders[path] == f {
			gone = s.cut(f, nil)
		}
		s.mu.Unlock()
		s.unwatch(n, gone)
		return fmt.Errorf("watch folder: %w", err)
	}
	return nil
}

// holds reports whether a folder is watched for a root.
func (s *system) holds(r *root, path string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.folders[path]
	return f != nil && slices.Contains(f.roots, r)
}

// release ends the watches of a root over the folders that keep does not name, over
// all if keep is nil.
func (s *system) release(r *root, keep map[string]bool) {
	s.mu.Lock()
	n := s.notifier
	var gone []string
	for f := range s.held[r] {
		if keep[f.path] {
			continue
		}
		f.roots = slices.DeleteFunc(f.roots, func(other *root) bool { return other == r })
		delete(s.held[r], f)
		if len(f.roots) == 0 {
			s.forget(f)
			gone = append(gone, f.path)
		}
	}
	if len(s.held[r]) == 0 {
		delete(s.held, r)
	}
	s.mu.Unlock()
	if n != nil { // else it is closed, and all watches with it
		s.unwatch(n, gone)
	}
}

// cut forgets a folder and all below it, and adds their paths to a list. Callers
// hold mu.
func (s *system) cut(f *folder, paths []string) []string {
	for child := range f.below {
		paths = s.cut(child, paths)
	}
	for _, r := range f.roots {
		delete(s.held[r], f)
	}
	s.forget(f)
	return append(paths, f.path)
}

// forget removes a folder from the tree. Callers hold mu.
func (s *system) forget(f *folder) {
	s.used -= f.weight
	delete(s.folders, f.path)
	if f.above != nil {
		delete(f.above.below, f)
	}
	for child := range f.below {
		child.above = nil
	}
}

func (s *system) close() error {
	s.mu.Lock()
	n := s.notifier
	s.notifier, s.closed = nil, true
	s.mu.Unlock()
	if n == nil {
		return nil
	}
	if err := n.Close(); err != nil && !errors.Is(err, fsnotify.ErrClosed) {
		return fmt.Errorf("close watcher: %w", err)
	}
	return nil
}
