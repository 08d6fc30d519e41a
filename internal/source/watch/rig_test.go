package watch

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// patience is when a test gives up what never comes.
const patience = 3 * time.Minute

// start watches a root until the end of the test, once its first batch has come.
func start(t *testing.T, opts Options, at Root) *Watcher {
	t.Helper()
	w, err := New(opts)
	must(t, err)
	t.Cleanup(func() { must(t, w.Close()) })
	must(t, w.Add(at))
	if b := next(t, w); !b.All || b.Gone {
		t.Fatalf("the first batch is %+v, want everything", b)
	}
	return w
}

// needEvents skips a test where the system's notices are not used: what it shows
// does not hold for polling.
func needEvents(t testing.TB, w *Watcher, root string) {
	t.Helper()
	if s := w.State(root); s.Mode != Events {
		t.Skipf("the root is not watched by events: %s", s)
	}
}

// next waits for the next batch.
func next(t *testing.T, w *Watcher) Batch {
	t.Helper()
	select {
	case b := <-w.Batches():
		return b
	case <-time.After(patience):
		t.Fatalf("no batch comes for %s", patience)
		return Batch{}
	}
}

// expect waits until batches have named all of the paths, and no other ones.
func expect(t *testing.T, w *Watcher, paths ...string) {
	t.Helper()
	for len(paths) > 0 {
		b := next(t, w)
		if b.All || b.Gone {
			t.Fatalf("the batch is %+v, want the paths %q", b, paths)
		}
		for _, p := range b.Paths {
			i := slices.Index(paths, p)
			if i < 0 {
				t.Fatalf("the batch names %q, want only %q", b.Paths, paths)
			}
			paths = slices.Delete(paths, i, i+1)
		}
	}
}

// silent fails when what was done until now is told of, but for a sign that is
// given now.
func silent(t *testing.T, w *Watcher, root string) {
	t.Helper()
	write(t, root, "sign.txt", time.Now().String())
	expect(t, w, "sign.txt")
}

func tempDir(t testing.TB) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	return root
}

func write(t testing.TB, root, name, text string) {
	t.Helper()
	path := filepath.Join(root, filepath.FromSlash(name))
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o644))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// skipping are rules that leave out the folders of some names.
func skipping(names ...string) func(context.Context) Rules {
	return func(context.Context) Rules {
		return Rules{Skip: func(path string, dir bool) bool { return dir && slices.Contains(names, filepath.Base(path)) }}
	}
}

// notifier is one that the test speaks for.
type notifier struct {
	events chan fsnotify.Event
	errors chan error

	mu      sync.Mutex // guards what follows
	watched map[string]bool
	// room is how many more watches there are; negative is any number.
	room   int
	full   error
	closed bool
	// refused are the folders that cannot be watched, and why.
	refused map[string]error
	// slow, if set, is called before a folder is watched, leaving before it no longer is.
	slow, leaving func(dir string)
}

var _ Notifier = (*notifier)(nil)

func newNotifier(room int, full error) *notifier {
	return &notifier{events: make(chan fsnotify.Event), errors: make(chan error), watched: map[string]bool{}, refused: map[string]error{}, room: room, full: full}
}

func (n *notifier) connect() (Notifier, error) { return n, nil }

// Add implements Notifier.
func (n *notifier) Add(dir string) error {
	if n.slow != nil {
		n.slow(dir)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.refused[dir]; err != nil {
		return err
	}
	if n.watched[dir] {
		return nil
	}
	if n.room == 0 {
		return n.full
	}
	n.room--
	n.watched[dir] = true
	return nil
}

// Remove implements Notifier.
func (n *notifier) Remove(dir string) error {
	if n.leaving != nil {
		n.leaving(dir)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.watched[dir] {
		return fsnotify.ErrNonExistentWatch
	}
	delete(n.watched, dir)
	n.room++
	return nil
}

// Events implements Notifier.
func (n *notifier) Events() <-chan fsnotify.Event { return n.events }

// Errors implements Notifier.
func (n *notifier) Errors() <-chan error { return n.errors }

// Close implements Notifier.
func (n *notifier) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.closed {
		n.closed = true
		close(n.events)
		close(n.errors)
	}
	return nil
}

// refuse lets a folder not be watched any more; it stays so if it is.
func (n *notifier) refuse(dir string, why error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.refused[dir] = why
}

// give makes room for more watches.
func (n *notifier) give(more int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.room += more
}

// count is how many folders are watched.
func (n *notifier) count() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.watched)
}
