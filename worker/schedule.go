package worker

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Defaults of ScheduleOptions.
const (
	// DefaultDepth is more than a machine has repositories.
	DefaultDepth = 1_000
	// DefaultMaxAttempts spans about a quarter of an hour with the pauses of
	// DefaultBackoff: longer than a restart of what a job depends on.
	DefaultMaxAttempts = 10
)

// ScheduleOptions are the limits of a Schedule.
type ScheduleOptions struct {
	// Depth is how many jobs may wait before Enqueue drops or refuses one; 0 is
	// DefaultDepth. Jobs that come back from a lease, or from the dead letters,
	// are always accepted.
	Depth int
	// MaxAttempts is how often a job is tried; 0 is DefaultMaxAttempts.
	MaxAttempts int
	// Merge joins the payloads of two jobs of a kind that coalesce. It must be
	// quick and a pure function. Nil keeps the newer payload.
	Merge func(kind string, older, newer json.RawMessage) json.RawMessage
}

func (o *ScheduleOptions) validate() error {
	if o.Depth < 0 || o.MaxAttempts < 0 {
		return fmt.Errorf("worker: schedule options: depth %d and max attempts %d must not be negative", o.Depth, o.MaxAttempts)
	}
	o.Depth = cmp.Or(o.Depth, DefaultDepth)
	o.MaxAttempts = cmp.Or(o.MaxAttempts, DefaultMaxAttempts)
	if o.Merge == nil {
		o.Merge = func(_ string, _, newer json.RawMessage) json.RawMessage { return newer }
	}
	return nil
}

// Schedule holds the rules of a queue and nothing else: no lock, no clock, no
// disk. A Queue wraps it with all three. Its methods are not safe for
// concurrent use.
//
// It is a list in order of age that every method scans: a queue is short, and a
// write to disk takes a hundred times longer than a scan of a thousand jobs.
//
// A change is in force at once but provisional: the wrapper writes Pending to
// disk and then calls Accept, or Revert if the write failed, before it answers
// its caller. Several calls may share one write.
//
// Leases are not written. After a restart every job waits again; a job that was
// leased comes back with that attempt counted.
type Schedule struct {
	opts ScheduleOptions
	last uint64   // the number that the newest id spells
	jobs []*entry // oldest first

	turn   uint64            // leases given so far
	served map[string]uint64 // by group: the turn of its latest lease
	looked time.Time         // when Lease was last asked

	dropped map[string]int // by kind, since the schedule was made
	news    bool

	// before is what entries were at the last Accept, of those that have changed;
	// drops are the kinds of the jobs dropped since then.
	before map[*entry]entry
	drops  []string
	dirty  []*entry // changed since the last Pending
	// restored has the entries that Restore changed, each with its state on disk, until that
	// change is written.
	restored map[*entry]state
}

// entry is a job and its state. Of one kind and key there is at most one entry
// in each state; the waiting one is the newest and the dead one the oldest.
type entry struct {
	job    Job
	state  state
	stored state // the state on disk, once all that Pending returned is written
	dirty  bool
}

type state uint8

const (
	absent state = iota // removed at the next Accept or Revert
	waiting
	running
	dead
)

// lives reports whether the job is still to be done.
func (st state) lives() bool { return st == waiting || st == running }

// NewSchedule returns an empty schedule.
func NewSchedule(opts ScheduleOptions) (*Schedule, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	return &Schedule{opts: opts, served: map[string]uint64{}, dropped: map[string]int{}, before: map[*entry]entry{}, restored: map[*entry]state{}}, nil
}

// set changes an entry; every change goes through it.
func (s *Schedule) set(e *entry, st state, job Job) {
	if _, noted := s.before[e]; !noted {
		s.before[e] = *e
	}
	if !e.dirty {
		e.dirty = true
		s.dirty = append(s.dirty, e)
	}
	e.state, e.job = st, job
	s.news = s.news || st != running
}

func (s *Schedule) remove(e *entry) { s.set(e, absent, e.job) }

// byID returns the entry in the state with the id, or nil.
func (s *Schedule) byID(st state, id string) *entry {
	return s.find(func(e *entry) bool { return e.state == st && e.job.ID == id })
}

// twin returns the entry in the state with the kind and key of the job, or nil.
func (s *Schedule) twin(st state, job Job) *entry {
	return s.find(func(e *entry) bool { return e.state == st && same(e.job, job) })
}

func (s *Schedule) find(match func(*entry) bool) *entry {
	if i := slices.IndexFunc(s.jobs, match); i >= 0 {
		return s.jobs[i]
	}
	return nil
}

// same reports whether two jobs coalesce.
func same(a, b Job) bool { return a.Key != "" && a.Key == b.Key && a.Kind == b.Kind }

// Enqueue adds a job or coalesces it into a waiting one. ErrQueueFull, or an
// error that says what is wrong with the job.
func (s *Schedule) Enqueue(now time.Time, job Job) (Enqueued, error) {
	if job.Kind == "" {
		return Enqueued{}, errors.New("worker: the job has no kind")
	}
	if len(job.Payload) > 0 && !json.Valid(job.Payload) {
		return Enqueued{}, fmt.Errorf("worker: the payload of the %s job is not JSON", job.Kind)
	}
	job.Payload = bytes.Clone(job.Payload)
	job.EnqueuedAt, job.NotBefore = now, time.Time{}
	job.Attempt, job.MaxAttempts, job.LastError = 0, s.opts.MaxAttempts, ""
	if older := s.twin(waiting, job); older != nil {
		s.set(older, waiting, s.merge(older.job, job))
		return Enqueued{ID: older.job.ID, Position: s.position(older), Coalesced: true}, nil
	}
	gone, err := s.makeRoom(job.Priority)
	if err != nil {
		return Enqueued{}, err
	}
	// Ids follow the clock, so that a restarted queue that has forgotten its
	// finished jobs does not give their ids again.
	s.last = max(s.last+1, uint64(max(0, now.UnixMicro())))
	job.ID = spell(s.last)
	e := &entry{}
	s.jobs = append(s.jobs, e)
	s.set(e, waiting, job)
	return Enqueued{ID: job.ID, Position: s.position(e), Dropped: gone}, nil
}

// merge returns the older job with both payloads and the higher priority. A
// pause after a failure stays: what has just failed is likely to fail again.
// The job may be dropped only if both may.
func (s *Schedule) merge(older, newer Job) Job {
	older.Payload = s.opts.Merge(older.Kind, older.Payload, newer.Payload)
	older.Priority = max(older.Priority, newer.Priority)
	older.Droppable = older.Droppable && newer.Droppable
	return older
}

// position counts the waiting jobs ahead of a job: jobs of a higher priority, and older jobs
// of the same priority.
func (s *Schedule) position(of *entry) int {
	n, older := 0, true
	for _, e := range s.jobs {
		if e == of {
			older = false
		} else if e.state == waiting && (e.job.Priority > of.job.Priority || older && e.job.Priority == of.job.Priority) {
			n++
		}
	}
	return n
}

// makeRoom drops a waiting job if the queue is full: among the jobs that may be dropped, the
// oldest of the lowest priority. It drops no job of a higher priority than the new one.
func (s *Schedule) makeRoom(priority int) (*Job, error) {
	n := 0
	var victim *entry
	for _, e := range s.jobs {
		if e.state != waiting {
			continue
		}
		n++
		if e.job.Droppable && e.job.Priority <= priority && (victim == nil || e.job.Priority < victim.job.Priority) {
			victim = e
		}
	}
	if n < s.opts.Depth {
		return nil, nil
	}
	if victim == nil {
		return nil, ErrQueueFull
	}
	gone := victim.job
	s.drops = append(s.drops, gone.Kind)
	s.remove(victim)
	return &gone, nil
}

// maxGroups bounds how many groups are remembered. A forgotten group is treated
// as never served.
const maxGroups = 10_000

// Lease hands out the next job of the kinds: of the highest priority, of the
// group served longest ago, the oldest. The attempt is counted. ErrNoJob.
func (s *Schedule) Lease(now time.Time, kinds []string) (Job, error) {
	s.looked = now
	var best *entry
	for e := range s.leasable {
		if !slices.Contains(kinds, e.job.Kind) || pauses(e.job, now) {
			continue
		}
		if best == nil || e.job.Priority > best.job.Priority ||
			e.job.Priority == best.job.Priority && s.served[e.job.Group] < s.served[best.job.Group] {
			best = e
		}
	}
	if best == nil {
		return Job{}, ErrNoJob
	}
	if len(s.served) >= maxGroups {
		clear(s.served)
	}
	s.turn++
	s.served[best.job.Group] = s.turn
	job := best.job
	job.Attempt++
	job.NotBefore = time.Time{}
	s.set(best, running, job)
	return job, nil
}

// maxPause is the longest pause after a failure. One that has longer to go was written before
// the clock was set back: it ends now.
const maxPause = 2 * time.Hour

// pauses reports whether a job waits for the end of a pause.
func pauses(job Job, now time.Time) bool {
	left := job.NotBefore.Sub(now)
	return left > 0 && left <= maxPause
}

// leasable yields the waiting jobs, without those whose twin runs.
func (s *Schedule) leasable(yield func(*entry) bool) {
	var busy []Job
	for _, e := range s.jobs {
		if e.state == running {
			busy = append(busy, e.job)
		}
	}
	for _, e := range s.jobs {
		if e.state != waiting || slices.ContainsFunc(busy, func(j Job) bool { return same(j, e.job) }) {
			continue
		}
		if !yield(e) {
			return
		}
	}
}

// Settle ends a lease. ErrNotLeased.
func (s *Schedule) Settle(now time.Time, id string, end Settlement) error {
	e := s.byID(running, id)
	if e == nil {
		return ErrNotLeased
	}
	job := e.job
	switch end.Outcome {
	case Done:
		s.remove(e)
	case Retry:
		job.LastError, job.NotBefore = clip(end.Error), now.Add(min(end.Pause, maxPause))
		s.giveBack(e, job)
	case Dead:
		job.LastError = clip(end.Error)
		s.bury(e, job)
	case Release:
		job.Attempt--
		s.giveBack(e, job)
	default:
		return fmt.Errorf("worker: settle job %s: unknown outcome %d", id, end.Outcome)
	}
	return nil
}

// maxErrorText bounds Job.LastError, in code points: a message and its causes,
// not a transcript.
const maxErrorText = 1000

func clip(text string) string {
	n := 0
	for i := range text {
		if n == maxErrorText {
			return text[:i]
		}
		n++
	}
	return text
}

// giveBack lets a running job wait again, or buries it after its last attempt.
// Its waiting twin, which came later, is merged into it.
func (s *Schedule) giveBack(e *entry, job Job) {
	if job.LastAttempt() {
		s.bury(e, job)
		return
	}
	if newer := s.twin(waiting, job); newer != nil {
		job = s.merge(job, newer.job)
		s.remove(newer)
	}
	s.set(e, waiting, job)
}

// bury makes a dead letter, in place of an older one of the same kind and key.
func (s *Schedule) bury(e *entry, job Job) {
	if older := s.twin(dead, job); older != nil {
		s.remove(older)
	}
	s.set(e, dead, job)
}

// Requeue lets a dead letter wait again, at its old place, with all its
// attempts. If its twin waits or runs, the letter is removed. ErrUnknownJob.
func (s *Schedule) Requeue(id string) error {
	e := s.byID(dead, id)
	if e == nil {
		return ErrUnknownJob
	}
	if s.twin(waiting, e.job) != nil || s.twin(running, e.job) != nil {
		s.remove(e)
		return nil
	}
	job := e.job
	job.Attempt, job.NotBefore = 0, time.Time{}
	s.set(e, waiting, job)
	return nil
}

// Dead returns the dead letters, oldest first.
func (s *Schedule) Dead() []Job {
	var letters []Job
	for _, e := range s.jobs {
		if e.state == dead {
			letters = append(letters, e.job)
		}
	}
	return letters
}

// nextDue returns the end of the first pause that ends after the last Lease, or
// the zero time. It may be past.
func (s *Schedule) nextDue() time.Time {
	var due time.Time
	for e := range s.leasable {
		t := e.job.NotBefore
		if t.After(s.looked) && (s.looked.IsZero() || pauses(e.job, s.looked)) && (due.IsZero() || t.Before(due)) {
			due = t
		}
	}
	return due
}

// Wait returns the time until the next pause ends, negative if no job pauses: what
// Queue.Changed returns.
func (s *Schedule) Wait(now time.Time) time.Duration {
	due := s.nextDue()
	if due.IsZero() {
		return never
	}
	return max(0, due.Sub(now))
}

// News reports, once, whether a job was added or became available again since it
// was last asked. A wrapper passes it on through Queue.Changed after Accept. If
// every call were news, a pool that found nothing would look again at once.
func (s *Schedule) News() bool {
	news := s.news
	s.news = false
	return news
}

// Stats counts the jobs.
func (s *Schedule) Stats() Stats {
	all := Stats{ByKind: map[string]KindStats{}}
	add := func(kind string, n KindStats) {
		k := all.ByKind[kind]
		for _, sum := range []*KindStats{&k, &all.KindStats} {
			sum.Waiting += n.Waiting
			sum.Running += n.Running
			sum.Dead += n.Dead
			sum.Dropped += n.Dropped
		}
		all.ByKind[kind] = k
	}
	for _, e := range s.jobs {
		switch e.state {
		case waiting:
			add(e.job.Kind, KindStats{Waiting: 1})
		case running:
			add(e.job.Kind, KindStats{Running: 1})
		case dead:
			add(e.job.Kind, KindStats{Dead: 1})
		}
	}
	for kind, n := range s.dropped {
		add(kind, KindStats{Dropped: n})
	}
	return all
}

// spell writes a number as a job's id, so that ids sort in the order in which
// the jobs came.
func spell(n uint64) string { return fmt.Sprintf("%016x", n) }

// parseID reads an id written by spell.
func parseID(id string) (uint64, error) {
	n, err := strconv.ParseUint(id, 16, 64)
	if err != nil || spell(n) != id {
		return 0, fmt.Errorf("worker: %q is not the id of a job", id)
	}
	return n, nil
}
