package worker

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
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

// Change is one write to disk. Deletions need the id only.
type Change struct {
	Op  Op
	Job Job
}

// Pending returns what has changed since it was last asked, as at most one
// final state per job. It must be written before any of it is acknowledged,
// together or not at all. If one write takes several answers, the later wins
// where they differ; within one answer the order does not matter.
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
	s.dirty = nil
	return changes
}

// Accept confirms that all that Pending returned is written.
func (s *Schedule) Accept() {
	for _, kind := range s.drops {
		s.dropped[kind]++
	}
	maps.DeleteFunc(s.restored, func(e *entry, _ state) bool { return !e.dirty })
	s.begin()
}

// Revert undoes everything since the last Accept or Revert, because it could
// not be written. Only the turn of a group that was served stays. What Restore
// changed also stays, and is pending again.
func (s *Schedule) Revert() {
	for e, was := range s.before {
		*e = was
		e.stored, e.dirty = was.state, false
	}
	s.dirty = slices.DeleteFunc(s.dirty, func(e *entry) bool { return !e.dirty })
	for e, onDisk := range s.restored {
		e.stored = onDisk
		if !e.dirty {
			e.dirty = true
			s.dirty = append(s.dirty, e)
		}
	}
	s.news = true
	s.begin()
}

// begin forgets what Revert would need, and the entries that are absent.
func (s *Schedule) begin() {
	if len(s.before) == 0 {
		return
	}
	clear(s.before)
	s.drops = s.drops[:0]
	s.jobs = slices.DeleteFunc(s.jobs, func(e *entry) bool { return e.state == absent })
}

// errInterrupted is the failure of a last attempt that the process did not
// outlive.
const errInterrupted = "the process ended during the last attempt"

// Restore fills an empty schedule with what was stored. Jobs that were leased
// wait again. One that had its last attempt becomes a dead letter, so that a job
// that kills the process cannot do so for ever. These changes are pending, and
// in force even if they are never written: the next Restore finds the same.
func (s *Schedule) Restore(jobs, letters []Job) error {
	if len(s.jobs) > 0 {
		return fmt.Errorf("worker: restore schedule: it already holds %d jobs", len(s.jobs))
	}
	for _, list := range []struct {
		state state
		jobs  []Job
	}{{waiting, jobs}, {dead, letters}} {
		for _, job := range list.jobs {
			n, err := parseID(job.ID)
			if err != nil {
				return fmt.Errorf("restore schedule: %w", err)
			}
			s.last = max(s.last, n)
			job.MaxAttempts = cmp.Or(job.MaxAttempts, s.opts.MaxAttempts)
			s.jobs = append(s.jobs, &entry{job: job, state: list.state, stored: list.state})
		}
	}
	slices.SortFunc(s.jobs, func(a, b *entry) int { return strings.Compare(a.job.ID, b.job.ID) })
	for i, e := range s.jobs[min(1, len(s.jobs)):] {
		if e.job.ID == s.jobs[i].job.ID {
			return fmt.Errorf("worker: restore schedule: two jobs have the id %s", e.job.ID)
		}
	}
	type name struct{ kind, key string }
	seen := map[name]*entry{}
	for _, e := range s.jobs {
		if e.state != waiting {
			continue
		}
		// Of two with the same key the older one was running: it takes the payload
		// of the other.
		if older := seen[name{e.job.Kind, e.job.Key}]; older != nil {
			s.set(older, waiting, s.merge(older.job, e.job))
			s.remove(e)
		} else if job := e.job; job.LastAttempt() {
			job.LastError = errInterrupted
			s.bury(e, job)
		} else if job.Key != "" {
			seen[name{job.Kind, job.Key}] = e
		}
	}
	for e, was := range s.before {
		s.restored[e] = was.stored
	}
	s.begin()
	return nil
}
