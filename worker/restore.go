package worker

import (
	"fmt"
	"slices"
	"strings"
)

// errInterrupted is the failure of a last attempt that the process did not
// outlive.
const errInterrupted = "the process ended during the last attempt"

// Restore fills an empty schedule with what was written down. Jobs that were
// leased wait again; one whose last attempt it was is a dead letter now, so
// that a job that kills the process cannot do so for ever. What this changed is
// pending, and in force even if it is never written: the next Restore finds the
// same.
func (s *Schedule) Restore(jobs, letters []Job) error {
	if n := len(s.jobs) + len(s.dead); n > 0 {
		return fmt.Errorf("worker: restore schedule: it already holds %d jobs", n)
	}
	for _, job := range letters {
		e, err := s.restored(job)
		if err != nil {
			return err
		}
		e.state, e.stored = dead, dead
		s.link(e)
	}
	// In order of age, so that of two with the same key the one that was
	// running, which is the older, comes first and takes the other's payload.
	byID := func(a, b Job) int { return strings.Compare(a.ID, b.ID) }
	for _, job := range slices.SortedFunc(slices.Values(jobs), byID) {
		e, err := s.restored(job)
		if err != nil {
			return err
		}
		e.state, e.stored = waiting, waiting
		if older := s.waitingByKey[coalesced{job.Kind, job.Key}]; older != nil {
			s.remember(e)
			e.state = absent
			s.update(older, func() { older.job = s.merge(older.job, job) })
			continue
		}
		s.link(e)
		if e.job.LastAttempt() {
			job = e.job
			job.LastError = errInterrupted
			s.bury(e, job)
		}
	}
	s.closeJournal()
	return nil
}

// restored makes the entry of a stored job.
func (s *Schedule) restored(job Job) (*entry, error) {
	place, err := parsePlace(job.ID)
	if err != nil {
		return nil, fmt.Errorf("restore schedule: %w", err)
	}
	if s.jobs[job.ID] != nil || s.dead[job.ID] != nil {
		return nil, fmt.Errorf("worker: restore schedule: two jobs have the id %s", job.ID)
	}
	s.place = max(s.place, place)
	if job.MaxAttempts <= 0 {
		job.MaxAttempts = s.opts.MaxAttempts
	}
	return &entry{job: job, place: place}, nil
}
