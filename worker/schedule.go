package worker

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
)

// Defaults of ScheduleOptions.
const (
	// DefaultDepth keeps the whole queue within some tens of megabytes.
	DefaultDepth = 10_000
	// DefaultMaxAttempts spans about a quarter of an hour with the pauses of
	// DefaultBackoff: longer than a restart of what a job depends on.
	DefaultMaxAttempts = 10
)

// ScheduleOptions are the limits of a Schedule.
type ScheduleOptions struct {
	// Depth is how many jobs may wait before Enqueue drops or refuses one; 0 is
	// DefaultDepth. Jobs that come back from a lease, or from the dead letters,
	// are always taken.
	Depth int
	// MaxAttempts is given to jobs that name none; 0 is DefaultMaxAttempts.
	MaxAttempts int
	// Merge joins the payloads of two jobs of a kind that coalesce, where the
	// newer one does not say all that the older one does. It must be quick and
	// depend on nothing else. Nil keeps the newer one.
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
// What a method changes is in force at once but provisional: the wrapper writes
// Pending down and then calls Accept, or Revert when that failed, before it
// answers its caller and before anyone else looks. Several calls may share one
// write. A method that fails may still have changed something, because
// every method first lets leases run out; so Pending is asked after each.
//
// Leases are not written down. After a restart every job waits again; a job
// that was leased comes back with that attempt counted.
type Schedule struct {
	opts ScheduleOptions
	// instance sets the tokens of this schedule apart from those of another
	// process's over the same jobs.
	instance string
	place    uint64 // of the newest job
	leases   uint64 // given so far

	jobs         map[string]*entry // those that wait or run, by id
	dead         map[string]*entry
	tokens       map[string]*entry
	waitingByKey map[coalesced]*entry
	runningByKey map[coalesced]*entry
	deadByKey    map[coalesced]*entry

	// A waiting job is in ready, or in delays, or, while another of its kind
	// and key runs, in neither.
	ready  ready
	delays heap[*entry]

	expiry    heap[*entry] // running jobs by the end of their lease
	droppable heap[*entry] // waiting jobs that may give way
	order     order        // of all waiting jobs
	kinds     map[string]*KindStats

	journal []before // what changed since the last Accept, as it was
	dirty   []*entry // what changed since the last Pending
	dropped []string // kinds of the jobs dropped since the last Accept
	news    bool
}

// coalesced is what at most one waiting job has, one running job and one dead
// letter. Of these the waiting job is the newest and the dead letter the oldest.
type coalesced struct{ kind, key string }

// NewSchedule returns an empty schedule.
func NewSchedule(opts ScheduleOptions) (*Schedule, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	return &Schedule{
		opts:         opts,
		instance:     rand.Text(),
		jobs:         map[string]*entry{},
		dead:         map[string]*entry{},
		tokens:       map[string]*entry{},
		waitingByKey: map[coalesced]*entry{},
		runningByKey: map[coalesced]*entry{},
		deadByKey:    map[coalesced]*entry{},
		ready:        newReady(),
		delays:       newEntryHeap(byDue),
		expiry:       newEntryHeap(byUntil),
		droppable:    heap[*entry]{before: byWorth, at: entryDropAt},
		kinds:        map[string]*KindStats{},
	}, nil
}

// Enqueue adds a job and names it: ID, EnqueuedAt, Attempt and LastError are
// the schedule's to set. A job that coalesces changes the waiting one as merge
// says. ErrQueueFull, or an error that says what is wrong with the job.
func (s *Schedule) Enqueue(now time.Time, job Job) (Enqueued, error) {
	s.advance(now)
	if job.Kind == "" {
		return Enqueued{}, errors.New("worker: the job has no kind")
	}
	if len(job.Payload) > 0 && !json.Valid(job.Payload) {
		return Enqueued{}, fmt.Errorf("worker: the payload of the %s job is not JSON", job.Kind)
	}
	job.Payload = bytes.Clone(job.Payload)
	job.EnqueuedAt, job.Attempt, job.LastError = now, 0, ""
	if job.MaxAttempts <= 0 {
		job.MaxAttempts = s.opts.MaxAttempts
	}

	if prior := s.waitingByKey[coalesced{job.Kind, job.Key}]; prior != nil {
		s.update(prior, func() { prior.job = s.merge(prior.job, job) })
		return Enqueued{ID: prior.job.ID, Position: s.order.ahead(prior.job.Priority, prior.place), Coalesced: true}, nil
	}
	gone, err := s.makeRoom(job.Priority)
	if err != nil {
		return Enqueued{}, err
	}
	// Places follow the clock, so that a restarted queue that has forgotten its
	// finished jobs does not give their ids again.
	s.place = max(s.place+1, uint64(max(0, now.UnixMicro())))
	job.ID = spell(s.place)
	e := &entry{job: job, place: s.place}
	s.update(e, func() { e.state = waiting })
	return Enqueued{ID: job.ID, Position: s.order.ahead(job.Priority, e.place), Dropped: gone}, nil
}

// merge is the older job with what both payloads say and the higher of the
// priorities. A pause after a failure stays, for what has just failed is likely
// to fail again; otherwise the earlier time holds. It may be dropped only if
// both may.
func (s *Schedule) merge(older, newer Job) Job {
	older.Payload = s.opts.Merge(older.Kind, older.Payload, newer.Payload)
	older.Priority = max(older.Priority, newer.Priority)
	older.Droppable = older.Droppable && newer.Droppable
	if older.Attempt == 0 && newer.NotBefore.Before(older.NotBefore) {
		older.NotBefore = newer.NotBefore
	}
	return older
}

// makeRoom drops a waiting job if the queue is full: of those that may be
// dropped, the oldest of the lowest priority, but never one of a higher
// priority than the job that comes.
func (s *Schedule) makeRoom(priority int) (*Job, error) {
	if s.waitingCount() < s.opts.Depth {
		return nil, nil
	}
	if s.droppable.len() == 0 || s.droppable.peek().job.Priority > priority {
		return nil, ErrQueueFull
	}
	e := s.droppable.peek()
	gone := e.job
	s.update(e, func() { e.state = absent })
	s.dropped = append(s.dropped, gone.Kind)
	return &gone, nil
}

func (s *Schedule) waitingCount() int { return len(s.jobs) - s.expiry.len() }

// Lease hands out the next job of the kinds: of the highest priority, of the
// group served longest ago, the oldest. The attempt is counted. ErrNoJob.
func (s *Schedule) Lease(now time.Time, kinds []string, ttl time.Duration) (Lease, error) {
	s.advance(now)
	e := s.ready.first(kinds)
	if e == nil {
		return Lease{}, ErrNoJob
	}
	s.ready.serve(e.lane.group)
	s.leases++
	s.update(e, func() {
		e.state = running
		e.job.Attempt++
		e.job.NotBefore = time.Time{}
		e.token = s.instance + "-" + strconv.FormatUint(s.leases, 36)
		e.until = now.Add(ttl)
	})
	return Lease{Job: e.job, Token: e.token, Until: e.until}, nil
}

// Extend lets a lease end ttl from now. It leaves nothing to be written.
// ErrLeaseLost.
func (s *Schedule) Extend(now time.Time, token string, ttl time.Duration) error {
	s.advance(now)
	e := s.tokens[token]
	if e == nil {
		return ErrLeaseLost
	}
	e.until = now.Add(ttl)
	s.expiry.fix(e)
	return nil
}

// Settle ends a lease. A retry after the last attempt makes a dead letter.
// ErrLeaseLost.
func (s *Schedule) Settle(now time.Time, token string, end Settlement) error {
	s.advance(now)
	e := s.tokens[token]
	if e == nil {
		return ErrLeaseLost
	}
	job := e.job
	switch end.Outcome {
	case Done:
		s.update(e, func() { e.state = absent })
	case Retry:
		job.LastError, job.NotBefore = clip(end.Error), end.NotBefore
		s.back(e, job)
	case Dead:
		job.LastError = clip(end.Error)
		s.bury(e, job)
	case Release:
		job.Attempt--
		s.back(e, job)
	default:
		return fmt.Errorf("worker: settle job %s: unknown outcome %d", job.ID, end.Outcome)
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

// back lets a running job wait again as the job given, or buries it after its
// last attempt. One of its kind and key that has come to wait meanwhile is
// merged into it, as if it had come only now.
func (s *Schedule) back(e *entry, job Job) {
	if job.LastAttempt() {
		s.bury(e, job)
		return
	}
	if newer := s.waitingByKey[coalesced{job.Kind, job.Key}]; newer != nil {
		job = s.merge(job, newer.job)
		s.update(newer, func() { newer.state = absent })
	}
	s.update(e, func() { e.state, e.job = waiting, job })
}

// bury makes a dead letter, in place of an older one of the same kind and key.
func (s *Schedule) bury(e *entry, job Job) {
	if older := s.deadByKey[coalesced{job.Kind, job.Key}]; older != nil {
		s.update(older, func() { older.state = absent })
	}
	s.update(e, func() { e.state, e.job = dead, job })
}

// Requeue gives a dead letter all its attempts again, at its old place. If a
// job of its kind and key waits or runs, that one, being newer, stands for both.
// ErrUnknownJob.
func (s *Schedule) Requeue(now time.Time, id string) error {
	s.advance(now)
	e := s.dead[id]
	if e == nil {
		return ErrUnknownJob
	}
	key := coalesced{e.job.Kind, e.job.Key}
	if s.waitingByKey[key] != nil || s.runningByKey[key] != nil {
		s.update(e, func() { e.state = absent })
		return nil
	}
	s.update(e, func() { e.state, e.job.Attempt, e.job.NotBefore = waiting, 0, time.Time{} })
	return nil
}

// Dead returns the dead letters, oldest first.
func (s *Schedule) Dead() []Job {
	letters := slices.SortedFunc(maps.Values(s.dead), func(a, b *entry) int { return cmp.Compare(a.place, b.place) })
	jobs := make([]Job, len(letters))
	for i, e := range letters {
		jobs[i] = e.job
	}
	return jobs
}

// NextDue returns the time at which a job next becomes available by itself,
// because its pause or its lease ends; zero when none will. It may be past.
func (s *Schedule) NextDue() time.Time {
	var due time.Time
	if s.delays.len() > 0 {
		due = s.delays.peek().job.NotBefore
	}
	if s.expiry.len() > 0 {
		if until := s.expiry.peek().until; due.IsZero() || until.Before(due) {
			due = until
		}
	}
	return due
}

// News says, once, that a job came or became available again since it was last
// asked. A wrapper passes it on through Queue.Changed after Accept; to tell of
// every call would have a pool that found nothing look again at once.
func (s *Schedule) News() bool {
	news := s.news
	s.news = false
	return news
}

// errExpired is the failure of an attempt whose lease ran out.
const errExpired = "the lease ran out"

// advance does what the time brings: leases run out, pauses end.
func (s *Schedule) advance(now time.Time) {
	for s.expiry.len() > 0 && !s.expiry.peek().until.After(now) {
		e := s.expiry.peek()
		job := e.job
		job.LastError = errExpired
		s.back(e, job)
	}
	for s.delays.len() > 0 && !s.delays.peek().job.NotBefore.After(now) {
		e := s.delays.peek()
		s.delays.remove(e)
		e.delayed = false
		s.ready.add(e)
	}
}
