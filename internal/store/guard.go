package store

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/recalld/recalld/internal/memory"
)

// Badger writes through mapped files: if the disk has no block for a page, the kernel
// kills the process, and no goroutine can prevent that. So no commit starts unless the
// guard has found room for it and for what Badger does next:
//
//   - The current log, and the next one, have their blocks before Badger writes to them
//     (see preallocator).
//   - lowRoom is free, plus the size of the tables up to maxTableRoom, so that the log can
//     become a table and tables can be compacted.
//   - While less is free, no compaction starts (see compactionGate), and no job.
//   - The reserve file holds room for the last tables. It is removed when they are written
//     with little room left, and created again when there is room.
//
// The guard also notices that the store's folder has vanished, was replaced, or cannot be
// written.
const (
	// lowRoom is what must be free on the disk for a write to be accepted, in bytes.
	lowRoom = 64 << 20
	// maxTableRoom bounds the room for compactions. The largest writes level 0, of up to 25
	// tables of 10 MB (see stallAt), and the level that they go to, which has as much when it
	// waited, too (see yields). Only a larger store rewrites more at once.
	maxTableRoom = 512 << 20
	// reserveSize is room for the tables of two full logs.
	reserveSize = 32 << 20
	// tight is the free room, in bytes, at which the reserve is released.
	tight = reserveSize
)

// reserveName is the reserve file in the store's folder. Badger ignores it.
const reserveName = "RESERVE"

// guard decides whether the store may be written. The committer asks before and after
// every commit, and watch while nothing is written.
type guard struct {
	dir string
	// disk examines the disk of the store; tests replace it.
	disk func(dir string) (diskState, error)
	// own identifies the store's folder as it was opened.
	own fs.FileInfo
	// yields, if set, reports whether compactions wait for requests or an import.
	yields func() bool

	mu      sync.Mutex // guards the fields below
	trouble *memory.Error
	// noticed is the last trouble since watch asked for it: a commit may find the trouble, and the
	// next one its end, before watch looks.
	noticed *memory.Error
	tables  int64 // bytes of the tables, when last measured
	reserve bool  // the reserve file exists
}

// diskState is what the guard needs to know of a disk.
type diskState struct {
	free     int64 // bytes that this process may use
	readOnly bool  // the file system, or the folder for this process
}

// newGuard makes the guard of an open store.
func newGuard(dir string) (*guard, error) {
	own, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	g := &guard{dir: dir, disk: lookAtDisk, own: own}
	g.measure()
	_, err = os.Stat(filepath.Join(dir, reserveName))
	g.reserve = err == nil
	return g, nil
}

// measure measures the tables.
func (g *guard) measure() {
	var size int64
	entries, _ := os.ReadDir(g.dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), ".sst") {
			size += info.Size()
		}
	}
	g.mu.Lock()
	g.tables = size
	g.mu.Unlock()
}

// need returns how much must be free for a write to be accepted.
func (g *guard) need() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return lowRoom + min(g.tables, maxTableRoom)
}

// check returns why the store cannot be written, nil if it can.
func (g *guard) check() *memory.Error {
	trouble := g.there()
	if trouble == nil {
		if trouble = g.room(); trouble != nil {
			trouble = cmp.Or(g.there(), trouble) // the folder may have vanished meanwhile
		}
	}
	return g.refuse(trouble)
}

// refuse keeps the result of a check.
func (g *guard) refuse(trouble *memory.Error) *memory.Error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.trouble, g.noticed = trouble, cmp.Or(trouble, g.noticed)
	return trouble
}

// news returns what was noticed since the last call.
func (g *guard) news() *memory.Error {
	g.mu.Lock()
	defer g.mu.Unlock()
	noticed := g.noticed
	g.noticed = nil
	return noticed
}

// compactable reports whether a compaction has room and a folder, and need not wait.
func (g *guard) compactable() bool {
	return (g.yields == nil || !g.yields()) && g.there() == nil && g.room() == nil
}

// last returns the result of the last check.
func (g *guard) last() *memory.Error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.trouble
}

// there returns an error if the folder, or the MANIFEST in it, was moved or removed.
func (g *guard) there() *memory.Error {
	now, err := os.Stat(g.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return g.lost("is gone")
	case err != nil:
		return g.lost("cannot be looked at: " + err.Error())
	case !os.SameFile(g.own, now):
		return g.lost("was replaced by another")
	}
	if _, err := os.Lstat(filepath.Join(g.dir, "MANIFEST")); errors.Is(err, fs.ErrNotExist) {
		return g.lost("was emptied")
	}
	return nil
}

// lost is the error of a store whose files are not in their place.
func (g *guard) lost(what string) *memory.Error {
	return &memory.Error{
		Code: memory.CodeReadOnly, Field: "data",
		Message: fmt.Sprintf("nothing can be stored: the store's folder %s %s while the daemon runs", g.dir, what),
		Hint:    "put the folder back where it was, or start again with `recalld stop`; what the daemon has in memory can still be asked for",
	}
}

// room returns an error if the disk is read-only or has too little room.
func (g *guard) room() *memory.Error {
	disk, err := g.disk(g.dir)
	if err != nil {
		return &memory.Error{Code: memory.CodeReadOnly, Field: "data", Cause: err,
			Message: fmt.Sprintf("nothing can be stored: the disk of %s cannot be looked at: %v", g.dir, err)}
	}
	if disk.readOnly {
		return &memory.Error{
			Code: memory.CodeReadOnly, Field: "data",
			Message: fmt.Sprintf("nothing can be stored: %s cannot be written", g.dir),
			Hint:    "make its disk and folder writable again, or choose another data folder with --data. Questions are answered, and writing goes on by itself",
		}
	}
	if need := g.need(); disk.free < need {
		return g.full(disk.free, need)
	}
	return nil
}

// full is the error of a disk with too little room.
func (g *guard) full(free, need int64) *memory.Error {
	return &memory.Error{
		Code: memory.CodeReadOnly, Field: "data", Limit: mebibytes(need) + " free",
		Message: fmt.Sprintf("nothing can be stored: the disk of %s has %s free, and %s are needed", g.dir, mebibytes(free), mebibytes(need)),
		Hint:    fmt.Sprintf("free %s there, or choose another data folder with --data. Questions are answered, and writing goes on by itself", mebibytes(need-free)),
	}
}

// mebibytes writes a number of bytes for people.
func mebibytes(n int64) string {
	return fmt.Sprintf("%.1f MiB", math.Ceil(float64(n)/(1<<20)*10)/10)
}

// keepReserve creates the reserve file if there is room for it besides a write, and
// removes it if the tables being written may need it.
func (g *guard) keepReserve(writing bool) {
	disk, err := g.disk(g.dir)
	if err != nil || disk.readOnly || g.there() != nil {
		return
	}
	need := g.need()
	g.mu.Lock()
	defer g.mu.Unlock()
	path := filepath.Join(g.dir, reserveName)
	switch {
	case g.reserve && writing && disk.free < tight:
		g.reserve = os.Remove(path) != nil
	case !g.reserve && !writing && disk.free >= need+reserveSize:
		g.reserve = makeReserve(path) == nil
	}
}

// giveReserve removes the reserve file.
func (g *guard) giveReserve() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.reserve {
		g.reserve = os.Remove(filepath.Join(g.dir, reserveName)) != nil
	}
}

// makeReserve creates the reserve file, or leaves none.
func makeReserve(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	err = errors.Join(allocate(f, 0, reserveSize), f.Close())
	if err != nil {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// Trouble returns why nothing can be stored, as an error of CodeReadOnly: the disk is full
// or read-only, or the store's folder is gone. It is nil while writes are accepted.
func (s *Store) Trouble() error {
	if s.guard == nil {
		return nil
	}
	if trouble := s.guard.last(); trouble != nil {
		return trouble
	}
	return nil
}

// watchEvery is how often the disk is checked while nothing is written: each commit checks it,
// too.
const watchEvery = 2 * time.Second

// watch checks the disk until the store closes. It keeps the state up to date for
// Trouble, and opens a read-only store for writing when that becomes possible. told is the
// trouble that was logged last, nil while writes are taken.
func (s *Store) watch(told *memory.Error) {
	defer close(s.watched)
	tell := func(trouble *memory.Error) {
		if told == nil || told.Message != trouble.Message && told.Limit == "" {
			s.opts.Logger.Error("writes are refused", "part", "store", "error", trouble)
		}
		told = trouble
	}
	ticks := time.NewTicker(watchEvery)
	defer ticks.Stop()
	for {
		select {
		case <-s.closing:
			return
		case <-ticks.C:
		}
		if noticed := s.guard.news(); noticed != nil && told == nil {
			tell(noticed)
		}
		now := s.guard.check()
		if now == nil && s.reading() {
			now = s.promote()
		}
		if now == nil {
			s.guard.keepReserve(false)
		}
		switch {
		case now != nil:
			tell(now)
		case told != nil:
			told = nil
			s.opts.Logger.Warn("writes are taken again", "part", "store")
			s.writeCollections()
			s.queue.wake()
		}
	}
}

// openGuard makes the guard of a store that was just opened, and allocates blocks for
// the first write.
func (s *Store) openGuard() (err error) {
	if s.opts.NoSync { // such a store may be lost
		return nil
	}
	if s.guard, err = newGuard(s.opts.Dir); err != nil {
		return fmt.Errorf("look at store: %w", err)
	}
	s.guard.yields = s.yields
	theGate.add(s.guard)
	if s.db.readOnly {
		trouble := s.guard.check()
		s.opts.Logger.Error("writes are refused", "part", "store", "error", trouble)
		return nil
	}
	if s.preallocator, err = newPreallocator(s.opts.Dir); err != nil {
		return fmt.Errorf("look at store: %w", err)
	}
	s.guard.keepReserve(false)
	return nil
}

// mayWrite asks the guard, once for each group, whether the group may be written.
func (s *Store) mayWrite(g *group) error {
	if err := s.Broken(); err != nil {
		return err
	}
	if s.guard == nil || g.checked {
		return nil
	}
	if trouble := s.guard.check(); trouble != nil {
		return trouble
	}
	if s.db.readOnly {
		return s.guard.refuse(&memory.Error{
			Code: memory.CodeReadOnly, Field: "data", Message: "nothing can be stored yet: the store is being opened for writing", Hint: "try again in a moment",
		})
	}
	g.checked = true
	return nil
}

// makeRoom allocates blocks of the log for a commit.
func (s *Store) makeRoom(size batchSize) error {
	if s.guard == nil {
		return nil
	}
	if s.preallocator == nil { // sweeping waits
		return s.Trouble()
	}
	err := s.preallocator.prepare(size.bytes + size.entries*entryBytes)
	if err == nil {
		return nil
	}
	if trouble := s.guard.check(); trouble != nil {
		return trouble
	}
	return s.guard.refuse(&memory.Error{
		Code: memory.CodeReadOnly, Field: "data", Cause: err,
		Message: fmt.Sprintf("nothing can be stored: the log in %s has no room: %v", s.opts.Dir, err),
		Hint:    "make room on its disk. Questions are answered, and writing goes on by itself",
	})
}

// checkFiles returns an error if the last commit is not where the next start reads it.
func (s *Store) checkFiles() error {
	if s.guard == nil {
		return nil
	}
	trouble := s.guard.there()
	if trouble == nil && !s.preallocator.there() {
		trouble = s.guard.lost("has lost its log")
	}
	if trouble != nil {
		return s.guard.refuse(trouble)
	}
	if s.preallocator.turned() {
		s.guard.measure()
		s.awaitTable(s.preallocator.live.Name())
	}
	return nil
}

// awaitTable waits, if room is short, until a full log was written as a table, with the
// reserve released. The next commit then sees how much room is left.
func (s *Store) awaitTable(log string) {
	for range 1000 {
		disk, err := s.guard.disk(s.opts.Dir)
		if err != nil || disk.free > s.guard.need()+lowRoom {
			return
		}
		s.guard.keepReserve(true)
		if _, err := os.Lstat(log); err != nil {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// closeDB closes the database. Without room for the last table, or without a folder, it
// does not: every commit is in the log, and the next start reads it from there.
func (s *Store) closeDB() error {
	s.retired.Wait()
	db := s.db
	if s.guard == nil {
		return closeBadger(db.DB)
	}
	defer theGate.remove(s.guard)
	if db.readOnly {
		return db.close()
	}
	if s.preallocator == nil { // Open has failed
		return closeBadger(db.DB)
	}
	s.preallocator.close()
	trouble := s.guard.there()
	if trouble == nil {
		if disk, err := s.guard.disk(s.opts.Dir); err == nil && disk.free < reserveSize {
			s.guard.giveReserve()
		}
		if disk, err := s.guard.disk(s.opts.Dir); err != nil || disk.readOnly || disk.free < closeRoom {
			trouble = s.guard.room()
		}
	}
	if trouble != nil {
		s.opts.Logger.Warn("the store is left as it is: the next start reads its log", "part", "store", "error", trouble)
		s.stopCompactions()
		return nil
	}
	return closeBadger(db.DB)
}

// closeBadger closes a database. Compactions that wait at the gate end.
func closeBadger(db *badger.DB) (err error) {
	theGate.without(func() { err = db.Close() })
	return err
}

// closeRoom is what must be free for the current log to be written as a table, in bytes.
const closeRoom = 24 << 20
