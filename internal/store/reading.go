package store

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/dgraph-io/badger/v4"

	"github.com/recalld/recalld/internal/memory"
)

// handle is an open database and those who read from it. A store that was opened for
// reading alone gets another one when it can be written.
type handle struct {
	*badger.DB
	readOnly bool
	users    sync.WaitGroup
	// folder holds the copies that are read from, empty if it is the store's own; held
	// lets it go.
	folder string
	held   func()
}

// use returns the database to read from and what lets it go.
func (s *Store) use() (*handle, func()) {
	s.swap.RLock()
	defer s.swap.RUnlock()
	h := s.db
	h.users.Add(1)
	return h, h.users.Done
}

// reading says that the store is open for reading alone.
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

// openDB opens the database for writing, or for reading alone where there is no room or
// the disk is read-only. Where there is no store yet the error is that of the guard.
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
		x.notes = append(x.notes, "there is no witness of the store; it is made anew")
	}
	for _, note := range append(x.notes, dropUnused(o.Dir)...) {
		o.Logger.Warn(note, "part", "store")
	}
	return openForWriting(o)
}

func openForWriting(o Options) (*handle, error) {
	if err := setEmptyAside(o); err != nil {
		return nil, err
	}
	db, err := openBadger(badgerOptions(o))
	return &handle{DB: db}, err
}

// setEmptyAside renames the empty logs that a kill leaves between the making of a file
// and its first write: Badger refuses to open them, once. Nothing was ever acknowledged
// of what was to be written there. The next log, which is made ahead, is removed.
func setEmptyAside(o Options) error {
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
			o.Logger.Warn("an empty log was set aside", "part", "store", "file", e.Name(), "as", e.Name()+".empty", "written", info.ModTime().UTC())
		}
		if err != nil {
			return fmt.Errorf("set empty log aside: %w", err)
		}
	}
	return nil
}

// openForReading opens the database without writing to its folder. Badger does not read
// a log behind whose last transaction there is room, as there is after a kill: then a
// folder in memory has copies of the logs, cut there, and links to the other files. A
// store of an older layout is copied whole, and the copy is brought up to date.
func openForReading(o Options, x *examination) (*handle, error) {
	h, err := openAsItIs(o)
	if err != nil {
		return nil, err
	}
	if version, err := schemaOf(h.DB); err != nil || version == 0 || version >= latest(migrations) {
		return h, nil // what is wrong is for openSchema to say
	}
	if err := h.close(); err != nil {
		return nil, err
	}
	h = &handle{readOnly: true}
	if h.folder, err = copyElsewhere(o.Dir, copyRoom(o.Dir), func(to string) error {
		made := o
		made.Dir, made.NoSync = to, true
		if err := rebuild(o.Dir, x, made); err != nil {
			return err
		}
		db, err := openBadger(badgerOptions(made))
		if err != nil {
			return err
		}
		return errors.Join(migrate(db, migrations, o.Logger), db.Close())
	}); err != nil {
		return nil, fmt.Errorf("bring a copy of the store up to date: %w", err)
	}
	return h, h.openFolder(o)
}

// openAsItIs opens the database for reading alone, whatever its layout.
func openAsItIs(o Options) (*handle, error) {
	logs, err := filepath.Glob(filepath.Join(o.Dir, "*.mem"))
	if err != nil {
		return nil, err
	}
	h := &handle{readOnly: true}
	if len(logs) > 0 || hasEmpty(o.Dir) {
		h.folder, err = copyElsewhere(o.Dir, 0, func(to string) error { return copyInto(to, o.Dir) })
		if err != nil {
			return nil, fmt.Errorf("copy the logs of the store: %w", err)
		}
	}
	return h, h.openFolder(o)
}

// openFolder opens the database that is read from.
func (h *handle) openFolder(o Options) error {
	from := o
	if h.folder != "" {
		from.Dir = h.folder
		h.held, _ = lockFolder(h.folder) // without it the copy of a killed process stays behind
	}
	var err error
	h.DB, err = openBadger(badgerOptions(from).WithReadOnly(true).WithBypassLockGuard(true))
	if err != nil {
		err = errors.Join(err, h.dropFolder())
	}
	return err
}

func hasEmpty(dir string) bool {
	values, _ := filepath.Glob(filepath.Join(dir, "*.vlog"))
	for _, path := range values {
		if info, err := os.Stat(path); err == nil && info.Size() == 0 {
			return true
		}
	}
	return false
}

// memoryFolders are where copies are made, the first that takes them: they must be
// somewhere else than on the disk that is full.
func memoryFolders() []string { return []string{"/dev/shm", os.TempDir()} }

// copyRoom is how much must be free, in bytes, for a copy of a store: its entries twice,
// while tables are compacted, and a log.
func copyRoom(dir string) int64 { return 2*sizeOf(dir) + reserveSize }

// roomForCopy says why a folder has no room for a copy of need bytes, nil if it has. It is
// asked before Badger writes one, since a full disk ends the process (see guard).
func roomForCopy(parent string, need int64) error {
	disk, err := lookAtDisk(parent)
	switch {
	case err != nil:
		return err
	case disk.readOnly:
		return memory.Errorf(memory.CodeReadOnly, "what can be read cannot be copied: %s cannot be written", parent)
	case disk.free < need:
		return &memory.Error{
			Code: memory.CodeReadOnly, Limit: mebibytes(need) + " free",
			Message: fmt.Sprintf("what can be read cannot be copied: the disk of %s has %s free, and %s are needed", parent, mebibytes(disk.free), mebibytes(need)),
			Hint:    fmt.Sprintf("free %s there", mebibytes(need-disk.free)),
		}
	}
	return nil
}

// copyElsewhere makes a folder in memory for a copy of need bytes of the store in dir, and
// fills it. The names tell stores apart, so that copies that a kill has left are removed.
func copyElsewhere(dir string, need int64, fill func(to string) error) (to string, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return "", err
	}
	name := fmt.Sprintf("recalld-%08x-", crc32.Checksum([]byte(dir), castagnoli()))
	var failed error
	for _, parent := range memoryFolders() {
		left, _ := filepath.Glob(filepath.Join(parent, name+"*"))
		for _, path := range left {
			if release, err := lockFolder(path); err == nil {
				release()
				_ = os.RemoveAll(path) // it may be of another user
			}
		}
		if err = roomForCopy(parent, need); err == nil {
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

func copyInto(to, dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
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
			err = copyLog(filepath.Join(to, e.Name()), path)
		default:
			err = os.Symlink(path, filepath.Join(to, e.Name()))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// copyLog copies a log up to the end of its last whole transaction.
func copyLog(to, path string) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close() // it was only read
	end, err := logEnd(in)
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, io.NewSectionReader(in, 0, end))
	return errors.Join(err, out.Close())
}

// The header of a log, and the bits of an entry in it, as Badger has them: an entry is
// meta, user's meta, lengths of key and value, time of expiry (the last three as
// varints), key, value, CRC-32C of it all.
const (
	logHeader    = 20
	logInTxn     = 1 << 6
	logEndsTxn   = 1 << 7
	logMaxKey    = 1 << 16
	versionBytes = 8
)

// logEnd is where the last whole transaction of a log ends, where Badger would cut it.
func logEnd(log io.ReaderAt) (int64, error) {
	end, at := int64(logHeader), int64(logHeader)
	r := &summed{r: bufio.NewReader(io.NewSectionReader(log, logHeader, 1<<32))}
	var version []byte // of the transaction at hand
	for {
		meta, key, value, err := r.entry()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, errLogEnds) {
			return end, nil
		}
		if err != nil {
			return 0, err
		}
		at += r.n
		of := bytes.Clone(key[len(key)-versionBytes:])
		switch {
		case meta&logInTxn != 0:
			if version == nil {
				version = of
			}
			if !bytes.Equal(version, of) {
				return end, nil
			}
		case meta&logEndsTxn != 0:
			number := ^binary.BigEndian.Uint64(of) // versions are stored from above
			if version == nil || !bytes.Equal(version, of) || string(value) != strconv.FormatUint(number, 10) {
				return end, nil
			}
			version, end = nil, at
		case version != nil:
			return end, nil
		default:
			end = at
		}
	}
}

// errLogEnds is returned where there is no whole entry.
var errLogEnds = errors.New("no entry")

// summed reads entries with their checksums.
type summed struct {
	r   *bufio.Reader
	sum uint32
	n   int64 // of the entry so far
}

func (s *summed) took(b ...byte) {
	s.sum = crc32.Update(s.sum, castagnoli(), b)
	s.n += int64(len(b))
}

// ReadByte implements io.ByteReader, for varints.
func (s *summed) ReadByte() (byte, error) {
	b, err := s.r.ReadByte()
	if err == nil {
		s.took(b)
	}
	return b, err
}

// entry reads the next one.
func (s *summed) entry() (meta byte, key, value []byte, err error) {
	s.sum, s.n = 0, 0
	if meta, err = s.ReadByte(); err != nil {
		return 0, nil, nil, err
	}
	if _, err = s.ReadByte(); err != nil {
		return 0, nil, nil, err
	}
	var lens [3]uint64
	for i := range lens {
		if lens[i], err = binary.ReadUvarint(s); err != nil {
			return 0, nil, nil, errLogEnds
		}
	}
	if lens[0] < versionBytes || lens[0] > logMaxKey || lens[1] > 2*maxValue {
		return 0, nil, nil, errLogEnds
	}
	body := make([]byte, lens[0]+lens[1])
	if _, err = io.ReadFull(s.r, body); err != nil {
		return 0, nil, nil, err
	}
	s.took(body...)
	want := s.sum
	var sum [4]byte
	if _, err = io.ReadFull(s.r, sum[:]); err != nil {
		return 0, nil, nil, err
	}
	s.n += int64(len(sum))
	if binary.BigEndian.Uint32(sum[:]) != want {
		return 0, nil, nil, errLogEnds
	}
	return meta, body[:lens[0]], body[lens[0]:], nil
}

// promote opens a store that is read alone for writing. What reads meanwhile goes on in
// the database that it has; compactions, which remove files, wait for it (see gate).
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
			failed = errors.Join(failed, h.Close())
			return
		}
		last, _ := readWitness(s.opts.Dir) // a damaged one is made anew
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

// writeTo makes a database the one of the store, and lets the one before go once nobody
// reads from it.
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
			s.opts.Logger.Warn("the copy that was read from is left behind", "part", "store", "error", err)
		}
	})
	return nil
}
