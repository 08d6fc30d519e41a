package store

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"runtime"

	"github.com/gofrs/flock"

	"github.com/recalld/recalld/internal/memory"
)

// Damage returns what the store has lost, or nil when nothing is known to be. What is
// missing by counts is known once Load has ended.
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

// writable refuses a write to a store that is read from a copy: it would be lost.
func (s *Store) writable() error {
	if s.scratch == "" {
		return nil
	}
	d := s.Damage()
	return &memory.Error{Code: memory.CodeUnavailable, Message: d.Text(), Hint: memory.RepairCommand, Cause: &DamagedError{*d}}
}

// readOnly says that nothing is to be written that nobody asked for: it could not be,
// or the store is read from a copy, on a disk that may fill.
func (s *Store) readOnly() bool { return s.scratch != "" || s.Trouble() != nil }

// compare holds what Load has counted against the witness. It is called with mu held,
// between two commits.
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

// writeWitness writes into the witness what was committed. A witness that cannot be written
// stays as it was, which is behind the store, and refuses nothing.
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

// endWitness brings the witness of a closed store up to date, or removes the copy that
// was read.
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
	if s.guard == nil || s.guard.there() == nil { // a folder that has vanished has no list
		_ = s.witness.noteTables()
	}
	return s.witness.close()
}

// examineFirst ends a repair that was cut off and examines the files, while nobody has
// them open.
func examineFirst(opts *Options) (*examination, error) {
	if err := endRepair(opts.Dir); err != nil {
		return nil, err
	}
	release, err := lockFolder(opts.Dir)
	if err != nil {
		return nil, err
	}
	defer release()
	return examine(opts.Dir)
}

// lockFolder takes the lock of Badger, who has none for those who only read: files that
// another process writes look damaged.
func lockFolder(dir string) (release func(), err error) {
	if runtime.GOOS == "windows" { // there a file that is removed when it is closed
		if err := os.Remove(filepath.Join(dir, "LOCK")); err != nil && !os.IsNotExist(err) {
			return nil, conflict(err)
		}
		return func() {}, nil
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return func() {}, nil // nobody can have it open; what it is is said elsewhere
	}
	l := flock.New(dir, flock.SetFlag(os.O_RDONLY))
	ok, err := l.TryLock()
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, conflict(nil)
	}
	return func() { _ = l.Close() }, nil
}

// readablePath is where the copy of a damaged store is made if there is room beside it.
func readablePath(dir string) string { return filepath.Clean(dir) + ".readable" }

// openDamaged opens a copy of what can be read of a damaged store, or returns what is
// damaged.
func openDamaged(opts Options, x *examination) (*Store, error) {
	d := *x.damage
	if !opts.ReadDamaged {
		return nil, &DamagedError{d}
	}
	d.ReadOnly = true
	copied := opts
	copied.NoSync = true
	make := func(to string) error {
		copied.Dir = to
		return rebuild(opts.Dir, x, copied)
	}
	scratch, need := readablePath(opts.Dir), copyRoom(opts.Dir)
	err := roomForCopy(filepath.Dir(scratch), need)
	if err == nil {
		err = make(scratch)
	} else {
		scratch, err = copyElsewhere(opts.Dir, need, make)
	}
	if err != nil {
		return nil, errors.Join(&DamagedError{d}, err, os.RemoveAll(scratch))
	}
	db, err := openBadger(badgerOptions(copied))
	if err != nil {
		return nil, errors.Join(&DamagedError{d}, err, os.RemoveAll(scratch))
	}
	s, err := newStore(copied, &handle{DB: db})
	if err != nil {
		return nil, errors.Join(&DamagedError{d}, err, os.RemoveAll(scratch))
	}
	s.scratch, s.damage, s.expected = scratch, &d, x.last.Counts
	opts.Logger.Error(d.Text(), "part", "store")
	s.start()
	return s, nil
}
