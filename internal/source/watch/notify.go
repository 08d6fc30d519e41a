package watch

import (
	"errors"
	"syscall"

	"github.com/fsnotify/fsnotify"
)

// Notifier reports changes of the system, one folder at a time. Its methods, except the
// channels, are safe for concurrent use.
type Notifier interface {
	// Add watches a folder; it is a no-op for a watched one. It returns ErrNoWatches, or
	// the system's own error, if there are no more watches.
	Add(dir string) error
	// Remove stops watching a folder. Its error does not matter: the system stops by
	// itself when the folder is removed.
	Remove(dir string) error
	// Events and Errors are closed by Close. The error fsnotify.ErrEventOverflow
	// says that events were lost.
	Events() <-chan fsnotify.Event
	Errors() <-chan error
	Close() error
}

// ErrNoWatches is returned by a Notifier that has given all the watches it may.
var ErrNoWatches = errors.New("watch: no watches are left")

// fromSystem is the Notifier of the system.
type fromSystem struct{ w *fsnotify.Watcher }

var _ Notifier = fromSystem{}

// SystemNotifier connects to the system's events. It fails if there are none, if they are
// not to be used, or if the system has no connection left.
func SystemNotifier() (Notifier, error) {
	if errUnfit != nil {
		return nil, errUnfit
	}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	return fromSystem{w}, nil
}

func (n fromSystem) Add(dir string) error          { return n.w.Add(dir) }
func (n fromSystem) Remove(dir string) error       { return n.w.Remove(dir) }
func (n fromSystem) Events() <-chan fsnotify.Event { return n.w.Events }
func (n fromSystem) Errors() <-chan error          { return n.w.Errors }
func (n fromSystem) Close() error                  { return n.w.Close() }

// isExhausted reports whether an error is the system's way to say that it has no more
// watches: none for the user (ENOSPC), or no more open files (EMFILE, ENFILE).
func isExhausted(err error) bool {
	return errors.Is(err, ErrNoWatches) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}
