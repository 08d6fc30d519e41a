package store

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gofrs/flock"

	"github.com/recalld/recalld/internal/memory"
)

// Damage returns what the store has lost, nil if nothing is known to be lost. Losses
// that only the counts show are known once Load has ended.
func (s *Store) Damage() *memory.StoreDamage {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.damage == nil {
		return nil
	}
	d := *s.damage
	d.Lost = maps.Clone(d.Lost)
	return &d
}

// writable refuses writes to a copy of a damaged store, where they would be lost.
func (s *Store) writable() error {
	if s.scratch == "" {
		return nil
	}
	d := s.Damage()
	return &memory.Error{Code: memory.CodeUnavailable, Message: d.Text(), Hint: memory.RepairCommand, Cause: &DamagedError{*d}}
}

// readOnly reports that nothing should be written in the background: the disk cannot be
// written, or the store is read from a copy.
func (s *Store) readOnly() bool { return s.scratch != "" || s.Trouble() != nil }

// compare compares the totals of Load with the witness. It is called with mu held, between
// two commits.
func (s *Store) compare() {
	if s.expected == nil {
		s.expected = maps.Clone(s.totals)
		s.writeWitnessLocked()
		return
	}
	lost := s.expected.minus(s.totals)
	if s.scratch == "" && lost == nil {
		s.damage = nil
		return
	}
	if s.damage == nil {
		s.damage = &memory.StoreDamage{}
	}
	s.damage.Lost = lost
	if lost != nil {
		s.opts.Logger.Error(s.damage.Text(), "part", "store")
	}
}

// writeWitness writes a checkpoint. If that fails, the witness stays behind the store, which
// does no harm.
func (s *Store) writeWitness() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writeWitnessLocked()
}

func (s *Store) writeWitnessLocked() {
	if s.witness == nil {
		return
	}
	err := errors.Join(s.witness.put(s.id, s.seq, s.expected), s.witness.noteTables())
	if err != nil && !s.witness.failed {
		s.opts.Logger.Warn("damage to the store may be noticed late", "part", "store", "error", err)
	}
	s.witness.failed = err != nil
}

// endWitness writes the last checkpoint when the store closes, or removes the copy that was
// read.
func (s *Store) endWitness() error {
	if s.scratch != "" {
		return os.RemoveAll(s.scratch)
	}
	if s.witness == nil {
		return nil
	}
	if s.opts.NoSync {
		return s.witness.file.Close()
	}
	if s.guard == nil || s.guard.there() == nil { // a folder that vanished has no tables to list
		_ = s.witness.noteTables()
	}
	return s.witness.close()
}

// examineFirst finishes an interrupted repair and examines the files, under the lock.
func examineFirst(opts *Options) (*examination, error) {
	if err := endRepair(opts.Dir); err != nil {
		return nil, err
	}
	release, err := lockFolder(opts.Dir, lockWait)
	if err != nil {
		return nil, err
	}
	defer release()
	return examine(opts.Dir)
}

// How long a store that is opened waits for its lock, and how long between two tries. Badger
// lets a lock go by closing its file, of which a program that its process was just starting
// holds a copy for a moment.
const (
	lockWait  = time.Second
	lockRetry = 10 * time.Millisecond
)

// lockFolder takes Badger's lock, which Badger has for writers only: files that another
// process is writing look damaged.
func lockFolder(dir string, wait time.Duration) (release func(), err error) {
	if runtime.GOOS == "windows" { // the lock is a file that is removed when it is closed
		if err := os.Remove(filepath.Join(dir, "LOCK")); err != nil && !os.IsNotExist(err) {
			return nil, conflict(err)
		}
		return func() {}, nil
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return func() {}, nil // no process can have it open; the caller reports what it is
	}
	l := flock.New(dir, flock.SetFlag(os.O_RDONLY))
	ok, err := l.TryLock()
	for end := time.Now().Add(wait); err == nil && !ok && time.Now().Before(end); ok, err = l.TryLock() {
		time.Sleep(lockRetry)
	}
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, conflict(nil)
	}
	return func() { _ = l.Close() }, nil
}

// readablePath is the path of the copy of a damaged store, if there is room for it.
func readablePath(dir string) string { return filepath.Clean(dir) + ".readable" }

// openDamaged opens a copy of a damaged store, or returns the damage.
func openDamaged(opts Options, x *examination) (*Store, error) {
	d := *x.damage
	if !opts.ReadDamaged {
		return nil, &DamagedError{d}
	}
	d.ReadOnly = true
	copied := opts
	copied.NoSync = true
	fill := func(to string) error {
		copied.Dir = to
		return rebuild(opts.Dir, x, copied, nil)
	}
	scratch, need := readablePath(opts.Dir), copyRoom(opts.Dir)
	err := roomFor(filepath.Dir(scratch), need)
	if err == nil {
		err = fill(scratch)
	} else {
		scratch, err = copyElsewhere(opts.Dir, need, fill)
	}
	var s *Store
	if err == nil {
		s, err = openMade(copied)
	}
	if err != nil {
		return nil, errors.Join(&DamagedError{d}, err, os.RemoveAll(scratch))
	}
	s.scratch, s.damage, s.expected = scratch, &d, x.last.Counts
	opts.Logger.Error(d.Text(), "part", "store")
	s.start()
	return s, nil
}
