package worker

import "time"

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

// before is what an entry was when the changes that are pending began.
type before struct {
	entry *entry
	job   Job
	state state
	token string
	until time.Time
}

// Pending returns what must be written before anything since the last Accept
// or Revert is acknowledged: at most one final state per job, whatever
// happened to it in between. The changes must be written together or not at
// all; their order does not matter.
func (s *Schedule) Pending() []Change {
	var changes []Change
	for _, b := range s.journal {
		id := Job{ID: b.entry.job.ID}
		stored, lives := b.state == waiting || b.state == running, b.entry.state == waiting || b.entry.state == running
		if stored && !lives {
			changes = append(changes, Change{DeleteJob, id})
		}
		if b.state == dead && b.entry.state != dead {
			changes = append(changes, Change{DeleteDead, id})
		}
		switch {
		case lives:
			changes = append(changes, Change{PutJob, b.entry.job})
		case b.entry.state == dead:
			changes = append(changes, Change{PutDead, b.entry.job})
		}
	}
	return changes
}

// Accept says that the pending changes were written.
func (s *Schedule) Accept() {
	for _, kind := range s.dropped {
		s.counts(kind).Dropped++
	}
	s.settleJournal()
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
		b.entry.job, b.entry.state, b.entry.token, b.entry.until = b.job, b.state, b.token, b.until
		s.link(b.entry)
	}
	s.settleJournal()
}

func (s *Schedule) settleJournal() {
	for _, b := range s.journal {
		b.entry.journaled = false
	}
	clear(s.journal)
	s.journal, s.dropped = s.journal[:0], s.dropped[:0]
}

// remember notes what an entry is before its first change.
func (s *Schedule) remember(e *entry) {
	if !e.journaled {
		e.journaled = true
		s.journal = append(s.journal, before{e, e.job, e.state, e.token, e.until})
	}
}
