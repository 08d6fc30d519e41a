package store

import (
	"slices"
	"time"
	_ "unsafe" // for go:linkname

	"github.com/dgraph-io/badger/v4"
)

// restAfter is how long nothing was committed when Badger's compactions are looked at, and the
// time between two looks. They look for work 40 times a second, which is most of what a daemon
// at rest takes of the processor, and there is none until something is written.
const restAfter = 10 * time.Second

// Badger has no other way to stop compactions and begin them again; it uses these in
// Flatten. They must not run at the same time, so the committer alone calls them.
//
//go:linkname stopCompactions github.com/dgraph-io/badger/v4.(*DB).stopCompactions
func stopCompactions(db *badger.DB)

//go:linkname startCompactions github.com/dgraph-io/badger/v4.(*DB).startCompactions
func startCompactions(db *badger.DB)

// StopCompactions lets no compaction begin until something is written, and waits for those
// that run. After an import they take two processors.
func (s *Store) StopCompactions() error { return s.betweenCommits(s.stopCompactions) }

// stopCompactions is called by the committer.
func (s *Store) stopCompactions() {
	if s.db.readOnly {
		return
	}
	theGate.without(func() { stopCompactions(s.db.DB) })
	s.resting = true
}

// rest stops compactions if none was due twice in a row: one that runs makes its level look
// as if it were not due, and stopping would wait for it. It reports whether they are stopped,
// and is called by the committer.
func (s *Store) rest() bool {
	// A level has a score from its target on, and Badger compacts it.
	due := slices.ContainsFunc(s.levels(), func(level badger.LevelInfo) bool { return level.Score > 0 })
	calm := s.calm
	s.calm = !due
	if due || !calm {
		return false
	}
	s.stopCompactions()
	return s.resting
}

// wake begins compactions again, before something is written. It is called by the committer.
func (s *Store) wake() {
	if s.resting {
		startCompactions(s.db.DB)
	}
	s.resting, s.calm = false, false
}

// yieldUntil is how many tables level 0 may have while compactions wait; writers wait at
// stallAt. Each compaction of level 0 writes all of the next level: an import of 600,000 lessons
// writes 1.9 GB until it ends when they wait for 15 tables, 2.9 GB with 10 and 1.6 GB with 20,
// but then a question to 100,000 just imported takes a tenth longer. A lower level that is too
// full delays nobody.
const yieldUntil = compactAt * 3 / 2

// importPause is how long after a commit of an import the next one is expected.
const importPause = 2 * time.Second

// yields reports whether compactions wait: for an import, or because requests are served, for
// Go has no priorities and a compaction keeps all processors busy. Those of a database that
// promote is about to use do not wait.
func (s *Store) yields() bool {
	last := s.lastImport.Load()
	busy := last != nil && time.Since(*last) < importPause || s.opts.Asked != nil && s.opts.Asked()
	return busy && !s.reading() && s.levels()[0].NumTables < yieldUntil
}

func (s *Store) levels() []badger.LevelInfo {
	db, done := s.use()
	defer done()
	return db.Levels()
}
