package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
)

// TestDebounce: a batch comes when nothing has changed for a moment, and not much
// later than the first change.
func TestDebounce(t *testing.T) {
	root := tempDir(t)
	synctest.Test(t, func(t *testing.T) {
		n := newNotifier(-1, nil)
		w := start(t, Options{Notify: n.connect}, Root{Path: root})
		tell := func(name string) { n.events <- fsnotify.Event{Name: filepath.Join(root, name), Op: fsnotify.Write} }
		began := time.Now()
		tell("a.go")
		expect(t, w, "a.go")
		if took := time.Since(began); took != 100*time.Millisecond {
			t.Errorf("one change is reported after %s, want 100ms", took)
		}
		began = time.Now()
		done := make(chan struct{})
		go func() {
			defer close(done)
			for i := range 10 {
				tell(fmt.Sprintf("f%d.go", i))
				time.Sleep(60 * time.Millisecond) // of the test's clock
			}
		}()
		b := next(t, w)
		if took := time.Since(began); took != 500*time.Millisecond || len(b.Paths) < 8 {
			t.Errorf("changes without an end are reported after %s as %q, want 500ms", took, b.Paths)
		}
		<-done
		next(t, w)
		must(t, w.Close())
	})
}

func TestOverflowIsEverything(t *testing.T) {
	one, two := tempDir(t), tempDir(t)
	write(t, one, "sub/a.go", "package a\n")
	synctest.Test(t, func(t *testing.T) {
		n := newNotifier(-1, nil)
		w := start(t, Options{Notify: n.connect}, Root{Path: one})
		must(t, w.Add(Root{Path: two}))
		next(t, w)
		must(t, os.Rename(filepath.Join(one, "sub"), filepath.Join(one, "moved")))
		n.errors <- fsnotify.ErrEventOverflow
		roots := map[string]bool{}
		for range 2 {
			b := next(t, w)
			if !b.All {
				t.Fatalf("the batch is %+v, want everything", b)
			}
			roots[b.Root] = true
		}
		if !roots[one] || !roots[two] {
			t.Errorf("reported %v, want both roots", roots)
		}
		synctest.Wait()
		if s := w.State(one); s.String() != "events" || !s.Live() {
			t.Errorf("after that the state is %+v", s)
		}
		n.mu.Lock()
		if n.watched[filepath.Join(one, "sub")] || !n.watched[filepath.Join(one, "moved")] {
			t.Errorf("watched are %v", n.watched)
		}
		n.mu.Unlock()
		must(t, w.Close())
	})
}

// TestOutOfWatches: the root is polled, says so, gives its watches back, and has
// them again when there are some.
func TestOutOfWatches(t *testing.T) {
	for _, full := range []error{syscall.ENOSPC, syscall.EMFILE, ErrNoWatches} {
		t.Run(full.Error(), func(t *testing.T) {
			root := tempDir(t)
			for i := range 10 {
				write(t, root, fmt.Sprintf("d%d/a.go", i), "package a\n")
			}
			write(t, root, "node_modules/b.js", "1\n")
			synctest.Test(t, func(t *testing.T) {
				n := newNotifier(5, fmt.Errorf("watch: %w", full))
				w := start(t, Options{Notify: n.connect, RetryAfter: 10 * time.Second}, Root{Path: root, Rules: skipping("node_modules")})
				synctest.Wait()
				if s := w.State(root); s.Mode != Polling || !strings.HasPrefix(s.String(), "polling: ") || !s.Live() {
					t.Fatalf("the state is %+v, want polling", s)
				}
				if n.count() != 0 {
					t.Errorf("%d watches are kept, which others could have", n.count())
				}
				write(t, root, "d3/a.go", "package changed\n")
				must(t, os.Remove(filepath.Join(root, "d4", "a.go")))
				must(t, os.RemoveAll(filepath.Join(root, "d5")))
				write(t, root, "new/deep/c.go", "package c\n")
				write(t, root, "node_modules/b.js", "22\n")
				expect(t, w, "d3/a.go", "d4/a.go", "d5", "new")

				n.give(100)
				if b := next(t, w); !b.All {
					t.Fatalf("when watches are there the batch is %+v, want everything", b)
				}
				synctest.Wait()
				if s := w.State(root); s.String() != "events" {
					t.Errorf("with watches the state is %+v", s)
				}
				n.events <- fsnotify.Event{Name: filepath.Join(root, "d1", "a.go"), Op: fsnotify.Write}
				expect(t, w, "d1/a.go")
				must(t, w.Close())
			})
		})
	}
}

// TestWatchesRunOutLater: a folder that is made when there are no more.
func TestWatchesRunOutLater(t *testing.T) {
	root := tempDir(t)
	synctest.Test(t, func(t *testing.T) {
		n := newNotifier(2, syscall.ENOSPC)
		w := start(t, Options{Notify: n.connect}, Root{Path: root})
		write(t, root, "a/b/c/d.go", "package d\n")
		n.events <- fsnotify.Event{Name: filepath.Join(root, "a"), Op: fsnotify.Create}
		if b := next(t, w); !b.All {
			t.Fatalf("the batch is %+v, want everything", b)
		}
		write(t, root, "a/b/c/d.go", "package later\n")
		expect(t, w, "a/b/c/d.go")
		if s := w.State(root); s.Mode != Polling {
			t.Errorf("the state is %+v, want polling", s)
		}
		must(t, w.Close())
	})
}

// TestNoConnection: the system has no notices to give, for now.
func TestNoConnection(t *testing.T) {
	root := tempDir(t)
	synctest.Test(t, func(t *testing.T) {
		n, tries := newNotifier(-1, nil), 0
		w := start(t, Options{Notify: func() (Notifier, error) {
			if tries++; tries < 3 {
				return nil, errors.New("too many users")
			}
			return n, nil
		}, RetryAfter: 5 * time.Second}, Root{Path: root})
		synctest.Wait()
		if s := w.State(root).String(); s != "polling: too many users" {
			t.Errorf("the state is %q", s)
		}
		for b := next(t, w); !b.All; b = next(t, w) {
		}
		synctest.Wait()
		if s := w.State(root).String(); s != "events" {
			t.Errorf("the state is %q, want events at the third try", s)
		}
		must(t, w.Close())
	})
}

// TestNothingIsLostUntaken: batches that are not received are joined, and events go on
// being heard.
func TestNothingIsLostUntaken(t *testing.T) {
	root := tempDir(t)
	synctest.Test(t, func(t *testing.T) {
		n := newNotifier(-1, nil)
		w := start(t, Options{Notify: n.connect}, Root{Path: root})
		for i := range 20 {
			n.events <- fsnotify.Event{Name: filepath.Join(root, fmt.Sprintf("f%02d.go", i)), Op: fsnotify.Write}
			time.Sleep(time.Second) // of the test's clock
		}
		if b := next(t, w); len(b.Paths) != 20 {
			t.Errorf("the batch is %+v, want all 20 files", b)
		}
		must(t, w.Close())
	})
}

// TestTooManyEventsAreEverything: what waits is bounded.
func TestTooManyEventsAreEverything(t *testing.T) {
	q := newQueue()
	for range maxQueued + 1 {
		q.put(fsnotify.Event{Name: "a"})
	}
	if events, lost := q.take(); len(events) != maxQueued || !lost {
		t.Errorf("%d events wait, lost %t; want %d and true", len(events), lost, maxQueued)
	}
	q.put(fsnotify.Event{Name: "b"})
	if events, lost := q.take(); len(events) != 1 || lost {
		t.Errorf("after that %d events wait, lost %t", len(events), lost)
	}
}

// TestRootIsMadeAgain: a folder that takes the place of a root may be given its number
// by the file system as well, so that only the event tells them apart.
func TestRootIsMadeAgain(t *testing.T) {
	root := tempDir(t)
	write(t, root, "sub/a.go", "package a\n")
	synctest.Test(t, func(t *testing.T) {
		n := newNotifier(-1, nil)
		w := start(t, Options{Notify: n.connect}, Root{Path: root})
		n.events <- fsnotify.Event{Name: root, Op: fsnotify.Remove}
		if b := next(t, w); !b.All {
			t.Fatalf("the batch is %+v, want everything", b)
		}
		synctest.Wait()
		if s := w.State(root); s.Mode != Events || n.count() != 2 {
			t.Errorf("then %d folders are watched in the state %+v, want 2", n.count(), s)
		}
		must(t, w.Close())
	})
}

// TestFolderTakenUpWhileItIsLeft: a root takes a folder up just as the watch over it is
// ended for another one. It makes its watches anew.
func TestFolderTakenUpWhileItIsLeft(t *testing.T) {
	n := newNotifier(-1, nil)
	s := newSystem(n.connect, slog.New(slog.DiscardHandler), func(func()) {})
	one, two := &root{inbox: newQueue()}, &root{inbox: newQueue()}
	must(t, s.watch(one, "/shared", 0))
	n.leaving = func(string) {
		n.leaving = nil
		must(t, s.watch(two, "/shared", 0))
	}
	s.release(one, nil)
	if _, lost := two.inbox.take(); !lost && n.count() != 1 {
		t.Error("the folder is not watched, and the root that has taken it up does not know")
	}
}

// TestFolderThatCannotBeWatchedAgain: with it go the watches of all below it, or nobody
// would ever end them.
func TestFolderThatCannotBeWatchedAgain(t *testing.T) {
	n := newNotifier(-1, nil)
	s := newSystem(n.connect, slog.New(slog.DiscardHandler), func(func()) {})
	r := &root{}
	for _, dir := range []string{"/top", "/top/in", "/top/in/deep"} {
		must(t, s.watch(r, dir, 0))
	}
	n.refuse("/top/in", fs.ErrPermission)
	if err := s.watch(r, "/top/in", 0); !errors.Is(err, fs.ErrPermission) {
		t.Fatalf("watched again: %v, want what the system says", err)
	}
	if s.watches() != 1 || n.count() != 1 {
		t.Errorf("%d folders are known and %d watched, want the one above", s.watches(), n.count())
	}
}

// TestFolderMayBeReadAgain: a folder that could not be watched for want of permission is,
// with what is below it, once it has it.
func TestFolderMayBeReadAgain(t *testing.T) {
	root := tempDir(t)
	write(t, root, "closed/in/a.go", "a")
	synctest.Test(t, func(t *testing.T) {
		closed, n := filepath.Join(root, "closed"), newNotifier(-1, nil)
		n.refuse(closed, fs.ErrPermission)
		w := start(t, Options{Notify: n.connect}, Root{Path: root})
		if n.count() != 1 {
			t.Fatalf("%d folders are watched, want the root", n.count())
		}
		n.events <- fsnotify.Event{Name: closed, Op: fsnotify.Chmod}
		n.refuse(closed, nil)
		n.events <- fsnotify.Event{Name: closed, Op: fsnotify.Chmod}
		expect(t, w, "closed")
		if n.count() != 3 {
			t.Errorf("%d folders are watched, want 3", n.count())
		}
		n.events <- fsnotify.Event{Name: closed, Op: fsnotify.Chmod}
		n.events <- fsnotify.Event{Name: filepath.Join(closed, "in", "a.go"), Op: fsnotify.Write}
		expect(t, w, "closed/in/a.go")
		must(t, w.Close())
	})
}

// watches counts the folders that are watched.
func (s *system) watches() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.folders)
}
