package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/dgraph-io/badger/v4"
)

// TestLeftCopiesAreRemoved: what a kill has left of a copy of the store, which has all
// that is remembered, is removed: beside the store when it is opened, and in memory when
// the next copy is made. A copy that is in use stays.
func TestLeftCopiesAreRemoved(t *testing.T) {
	gone := func(path string) {
		t.Helper()
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is left behind: %v", path, err)
		}
	}
	dir := filepath.Join(t.TempDir(), "store")
	must(t, os.Mkdir(dir, 0o700))
	must(t, os.Mkdir(readablePath(dir), 0o700))
	must(t, os.Mkdir(repairingPath(dir), 0o700))
	must(t, open(t, Options{Dir: dir}).Close())
	gone(readablePath(dir))
	gone(repairingPath(dir))

	copied := func() string {
		t.Helper()
		to, err := copyElsewhere(dir, 0, func(to string) error { return copyInto(to, dir, nil) })
		must(t, err)
		t.Cleanup(func() { _ = os.RemoveAll(to) })
		return to
	}
	left := copied()
	used := copied()
	gone(left)
	release, err := lockFolder(used, 0)
	must(t, err)
	copied()
	if _, err := os.Stat(used); err != nil {
		t.Errorf("a copy in use was removed: %v", err)
	}
	release()
}

// TestReadingCopiesLogs: the logs of a store are copied to be read, whatever its folder is
// called.
func TestReadingCopiesLogs(t *testing.T) {
	written := open(t, Options{})
	r, d := lesson("l-1", "a lesson")
	put(t, written, r, d)
	opts := Options{Dir: filepath.Join(t.TempDir(), "a [store]")}
	must(t, opts.validate())
	must(t, os.CopyFS(opts.Dir, os.DirFS(written.opts.Dir))) // as a kill leaves it
	x, err := examineFirst(&opts)
	must(t, err)
	h, err := openForReading(opts, x)
	must(t, err)
	if h.folder == "" {
		t.Error("the store is read where it is, want a copy")
	}
	must(t, h.View(func(txn *badger.Txn) error {
		_, err := View{txn}.Record("l-1")
		return err
	}))
	must(t, h.close())
}
