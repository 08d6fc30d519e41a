package worker

import (
	"slices"
	"time"
)

// Op says what happens to a stored job.
type Op uint8

// The operations.
const (
	// PutJob writes a job that waits or runs.
	PutJob Op = iota
	// DeleteJob removes it.
	DeleteJob
	// PutDead writes a dead letter.
	PutDead
	// DeleteDead removes it.
	DeleteDead
)

// Change is one thing to be written down. Deletions need the id only.
type Change struct {
	Op  Op
	Job Job
}

// before is what an entry was when the changes not yet accepted began.
type before struct {
	entry *entry
	job   Job
	state state
	token string
	until time.Time
}

// Pending returns what has changed since it was last asked, as at most one
// final state per job, whatever happened to it in between. It must be written
// before any of it is acknowledged, together or not at all. Of several answers
// that go into one write the later holds where they differ; within one answer
// the order does not matter.
func (s *Schedule) Pending() []Change {
	var changes []Change
	for _, e := range s.dirty {
		id := Job{ID: e.job.ID}
		if e.stored.lives() && !e.state.lives() {
			changes = append(changes, Change{DeleteJob, id})
		}
		if e.stored == dead && e.state != dead {
			changes = append(changes, Change{DeleteDead, id})
		}
		if e.state.lives() {
			changes = append(changes, Change{PutJob, e.job})
		}
		if e.state == dead {
			changes = append(changes, Change{PutDead, e.job})
		}
		e.dirty, e.stored = false, e.state
	}
	clear(s.dirty)
	s.dirty = s.dirty[:0]
	return changes
}

// Accept says that all that Pending gave is written down.
func (s *Schedule) Accept() {
	for _, kind := range s.dropped {
		s.counts(kind).Dropped++
	}
	s.closeJournal()
	s.ready.forget()
}

// Revert takes back everything since the last Accept or Revert, because it
// could not be written. What callers were told of it no longer holds. Two
// things stay: an extended lease, and the turn of a group that was served.
func (s *Schedule) Revert() {
	for _, b := range s.journal {
		s.unlink(b.entry)
		b.entry.state = absent
	}
	for _, b := range s.journal {
		e := b.entry
		e.job, e.state, e.token, e.until = b.job, b.state, b.token, b.until
		e.stored, e.dirty = b.state, false
		s.link(e)
	}
	s.dirty = slices.DeleteFunc(s.dirty, func(e *entry) bool { return !e.dirty })
	s.closeJournal()
}

func (s *Schedule) closeJournal() {
	for _, b := range s.journal {
		b.entry.journaled = false
	}
	clear(s.journal)
	s.journal, s.dropped = s.journal[:0], s.dropped[:0]
}

// remember notes what an entry is before it changes.
func (s *Schedule) remember(e *entry) {
	if !e.journaled {
		e.journaled = true
		s.journal = append(s.journal, before{e, e.job, e.state, e.token, e.until})
	}
	if !e.dirty {
		e.dirty = true
		s.dirty = append(s.dirty, e)
	}
}
