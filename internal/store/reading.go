package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/dgraph-io/badger/v4"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/store/lsm"
)

// handle is an open database with its number of readers. A store that was opened
// read-only gets a new handle when it can be written.
type handle struct {
	*badger.DB
	readOnly bool
	users    sync.WaitGroup
	// folder is the copy that is read; empty if the store's own folder is read. held
	// releases its lock.
	folder string
	held   func()
}

// use returns the database to read from, and a function that releases it.
func (s *Store) use() (*handle, func()) {
	s.swap.RLock()
	defer s.swap.RUnlock()
	h := s.db
	h.users.Add(1)
	return h, h.users.Done
}

// reading reports whether the store is open read-only.
func (s *Store) reading() bool {
	s.swap.RLock()
	defer s.swap.RUnlock()
	return s.db.readOnly
}

func (h *handle) close() error {
	h.users.Wait()
	return errors.Join(h.DB.Close(), h.dropFolder())
}

func (h *handle) dropFolder() error {
	if h.folder == "" {
		return nil
	}
	if h.held != nil {
		h.held()
	}
	return os.RemoveAll(h.folder)
}

// openDB opens the database for writing, or read-only if there is no room or the disk is
// read-only. It returns the guard's error if there is no store yet.
func openDB(o Options, x *examination) (*handle, error) {
	if !o.NoSync {
		g, err := newGuard(o.Dir)
		if err != nil {
			return nil, err
		}
		if trouble := g.room(); trouble != nil && x.empty {
			return nil, trouble
		} else if trouble != nil {
			return openForReading(o, x)
		}
	}
	if x.last.Number == 0 && !x.empty {
		x.notes = append(x.notes, "the witness of the store is missing; it is created again")
	}
	for _, note := range append(x.notes, dropUnused(o.Dir)...) {
		o.Logger.Warn(note, "part", "store")
	}
	return openForWriting(o)
}

func openForWriting(o Options) (*handle, error) {
	if err := renameEmptyLogs(o); err != nil {
		return nil, err
	}
	db, err := openBadger(badgerOptions(o))
	return &handle{DB: db}, err
}

// renameEmptyLogs renames the empty logs that a kill leaves between the creation of a file
// and its first write, because Badger refuses to open them. They never held anything
// acknowledged. A log that was only allocated in advance is removed.
func renameEmptyLogs(o Options) error {
	entries, err := os.ReadDir(o.Dir)
	if err != nil {
		return fmt.Errorf("read store: %w", err)
	}
	for _, e := range entries {
		ext := filepath.Ext(e.Name())
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || info.Size() > 0 || ext != ".mem" && ext != ".vlog" {
			continue
		}
		path := filepath.Join(o.Dir, e.Name())
		if ext == ".mem" && diskUsage(info) > 0 {
			err = os.Remove(path)
		} else {
			err = os.Rename(path, path+".empty")
			o.Logger.Warn("an empty log was renamed", "part", "store", "file", e.Name(), "as", e.Name()+".empty", "written", info.ModTime().UTC())
		}
		if err != nil {
			return fmt.Errorf("rename empty log: %w", err)
		}
	}
	return nil
}

// openForReading opens the database without writing to its folder. After a kill, a log has
// empty room after its last transaction, and Badger does not read such a log read-only.
// Then a folder in memory gets shortened copies of the logs, and links to the other files.
// A store with an older layout is copied as a whole, and the copy is migrated.
func openForReading(o Options, x *examination) (*handle, error) {
	h, err := openAsItIs(o, x.logs)
	if err != nil {
		return nil, err
	}
	if version, err := schemaOf(h.DB); err != nil || version == 0 || version >= Schema() {
		return h, nil // openSchema reports the error
	}
	if err := h.close(); err != nil {
		return nil, err
	}
	h = &handle{readOnly: true}
	if h.folder, err = copyElsewhere(o.Dir, copyRoom(o.Dir), func(to string) error {
		made := o
		made.Dir, made.NoSync = to, true
		if err := rebuild(o.Dir, x, made, nil); err != nil {
			return err
		}
		db, err := openBadger(badgerOptions(made))
		if err != nil {
			return err
		}
		return errors.Join(migrate(db, migrations, o.Logger), db.Close())
	}); err != nil {
		return nil, fmt.Errorf("migrate a copy of the store: %w", err)
	}
	return h, h.openFolder(o)
}

// openAsItIs opens the database read-only, in any layout.
func openAsItIs(o Options, logs []lsm.Log) (*handle, error) {
	readable, err := readableAsItIs(o.Dir)
	if err != nil {
		return nil, err
	}
	h := &handle{readOnly: true}
	if !readable {
		h.folder, err = copyElsewhere(o.Dir, 0, func(to string) error { return copyInto(to, o.Dir, logs) })
		if err != nil {
			return nil, fmt.Errorf("copy the logs of the store: %w", err)
		}
	}
	return h, h.openFolder(o)
}

// openFolder opens the copy, or the store's own folder if there is none.
func (h *handle) openFolder(o Options) error {
	from := o
	if h.folder != "" {
		from.Dir = h.folder
		h.held, _ = lockFolder(h.folder, 0) // copies without a lock are removed
	}
	var err error
	h.DB, err = openBadger(badgerOptions(from).WithReadOnly(true).WithBypassLockGuard(true))
	if err != nil {
		err = errors.Join(err, h.dropFolder())
	}
	return err
}

// readableAsItIs reports whether Badger can open the database of a folder without writing: it
// has no log to replay, and no file of values without a header.
func readableAsItIs(dir string) (bool, error) {
	files, err := os.ReadDir(dir)
	return !slices.ContainsFunc(files, func(f fs.DirEntry) bool {
		if filepath.Ext(f.Name()) != ".vlog" {
			return filepath.Ext(f.Name()) == ".mem"
		}
		info, err := f.Info()
		return err == nil && info.Size() == 0
	}), err
}

// memoryFolders are the folders for copies, best first. They should not be on the disk
// of the store, which may be full.
func memoryFolders() []string { return []string{"/dev/shm", os.TempDir()} }

// copyRoom is the free room, in bytes, that a copy of a store needs: twice its size, while
// tables are compacted, and a log.
func copyRoom(dir string) int64 { return 2*sizeOf(dir) + reserveSize }

// roomFor returns an error if a folder has no room for need bytes. Callers
// check before Badger writes, because a full disk kills the process (see guard).
func roomFor(parent string, need int64) error {
	disk, err := lookAtDisk(parent)
	switch {
	case err != nil:
		return err
	case disk.readOnly:
		return memory.Errorf(memory.CodeReadOnly, "%s cannot be written", parent)
	case disk.free < need:
		return &memory.Error{
			Code: memory.CodeReadOnly, Limit: mebibytes(need) + " free",
			Message: fmt.Sprintf("the disk of %s has %s free, and %s are needed", parent, mebibytes(disk.free), mebibytes(need)),
			Hint:    fmt.Sprintf("free %s there", mebibytes(need-disk.free)),
		}
	}
	return nil
}

// copyElsewhere creates a folder in memory for a copy of need bytes of the store in dir, and
// calls fill to fill it. It first removes copies of the same store that a kill has left.
func copyElsewhere(dir string, need int64, fill func(to string) error) (to string, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return "", err
	}
	name := fmt.Sprintf("recalld-%08x-", checksum([]byte(dir)))
	var failed error
	for _, parent := range memoryFolders() {
		others, _ := os.ReadDir(parent)
		for _, other := range others {
			path := filepath.Join(parent, other.Name())
			if !strings.HasPrefix(other.Name(), name) {
				continue
			}
			if release, err := lockFolder(path, 0); err == nil {
				release()
				_ = os.RemoveAll(path) // fails if it belongs to another user
			}
		}
		if err = roomFor(parent, need); err == nil {
			to, err = os.MkdirTemp(parent, name)
		}
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		if err = fill(to); err == nil {
			return to, nil
		}
		failed = errors.Join(failed, err, os.RemoveAll(to))
	}
	return "", failed
}

// copyInto copies the logs of a database, each up to the end of its last complete transaction,
// where Badger would truncate it, and links the other files.
func copyInto(to, dir string, logs []lsm.Log) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	ends := map[string]int{}
	for _, l := range logs {
		ends[logName(int(l.ID))] = l.End
	}
	for _, e := range entries {
		path, ext := filepath.Join(dir, e.Name()), filepath.Ext(e.Name())
		info, err := e.Info()
		if err != nil {
			return err
		}
		switch {
		case !info.Mode().IsRegular() || (ext == ".mem" || ext == ".vlog") && info.Size() == 0:
		case ext == ".mem":
			end, examined := ends[e.Name()]
			if !examined {
				return fmt.Errorf("log %s has appeared since the examination", e.Name())
			}
			err = copyStart(filepath.Join(to, e.Name()), path, int64(end))
		default:
			err = os.Symlink(path, filepath.Join(to, e.Name()))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// copyStart copies the first bytes of a file.
func copyStart(to, path string, size int64) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.CopyN(out, in, size)
	return errors.Join(err, out.Close())
}

// promote opens a read-only store for writing. Running readers keep the old database;
// compactions, which remove files, wait for them (see compactionGate).
func (s *Store) promote() *memory.Error {
	var failed error
	err := s.betweenCommits(func() {
		h, err := openForWriting(s.opts)
		if err != nil {
			failed = err
			return
		}
		if failed = migrate(h.DB, migrations, s.opts.Logger); failed == nil {
			failed = s.writeTo(h)
		}
		if failed != nil {
			failed = errors.Join(failed, closeBadger(h.DB))
			return
		}
		last, _ := readWitness(s.opts.Dir) // a damaged one is replaced
		s.beginWitness(last)
	})
	if err = errors.Join(err, failed); err == nil {
		return nil
	}
	return s.guard.refuse(&memory.Error{
		Code: memory.CodeReadOnly, Field: "data", Cause: err,
		Message: "nothing can be stored: the store cannot be opened for writing: " + strings.TrimSpace(err.Error()),
	})
}

// writeTo makes h the store's database, and closes the former one when its last reader is
// done.
func (s *Store) writeTo(h *handle) error {
	a, err := newPreallocator(s.opts.Dir)
	if err != nil {
		return err
	}
	held := theGate.hold()
	s.swap.Lock()
	before := s.db
	s.db = h
	s.swap.Unlock()
	s.preallocator = a
	s.guard.measure()
	s.retired.Go(func() {
		defer held()
		if err := before.close(); err != nil {
			s.opts.Logger.Warn("a copy of the store is left behind", "part", "store", "error", err)
		}
	})
	return nil
}
