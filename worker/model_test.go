package worker

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"time"
)

// model is the rules of a queue once more, without what makes them provisional:
// a transaction that fails is undone by a copy.
type model struct {
	opts   ScheduleOptions
	jobs   []*modelJob
	served map[string]int // by group; a revert keeps it
	serves *int
	drops  map[string]int
}

type modelJob struct {
	Job
	state state
}

func newModel(opts ScheduleOptions) *model {
	return &model{opts: opts, served: map[string]int{}, serves: new(int), drops: map[string]int{}}
}

// clone copies what a revert undoes.
func (m *model) clone() *model {
	c := *m
	c.drops = maps.Clone(m.drops)
	c.jobs = nil
	for _, j := range m.jobs {
		copied := *j
		c.jobs = append(c.jobs, &copied)
	}
	return &c
}

func (m *model) find(match func(*modelJob) bool) *modelJob {
	if i := slices.IndexFunc(m.jobs, match); i >= 0 {
		return m.jobs[i]
	}
	return nil
}

func (m *model) remove(j *modelJob) {
	m.jobs = slices.DeleteFunc(m.jobs, func(x *modelJob) bool { return x == j })
}

// twin returns the job in the state that has the kind and key of j.
func (m *model) twin(j Job, st state) *modelJob {
	return m.find(func(x *modelJob) bool {
		return j.Key != "" && x.state == st && x.Kind == j.Kind && x.Key == j.Key && x.ID != j.ID
	})
}

func (m *model) in(st state) []*modelJob {
	var in []*modelJob
	for _, j := range m.jobs {
		if j.state == st {
			in = append(in, j)
		}
	}
	slices.SortFunc(in, func(a, b *modelJob) int { return cmp.Compare(a.ID, b.ID) })
	return in
}

func (m *model) absorb(older *modelJob, newer Job) {
	older.Payload = newer.Payload
	older.Priority = max(older.Priority, newer.Priority)
	older.Droppable = older.Droppable && newer.Droppable
}

func (m *model) back(j *modelJob) {
	if j.Attempt >= j.MaxAttempts {
		m.bury(j)
		return
	}
	if newer := m.twin(j.Job, waiting); newer != nil {
		m.absorb(j, newer.Job)
		m.remove(newer)
	}
	j.state = waiting
}

func (m *model) bury(j *modelJob) {
	if older := m.twin(j.Job, dead); older != nil {
		m.remove(older)
	}
	j.state = dead
}

func (m *model) ahead(j *modelJob) int {
	n := 0
	for _, x := range m.in(waiting) {
		if x.Priority > j.Priority || x.Priority == j.Priority && x.ID < j.ID {
			n++
		}
	}
	return n
}

// enqueue takes the id that the schedule gave.
func (m *model) enqueue(now time.Time, job Job, id string) (Enqueued, error) {
	job.EnqueuedAt = now
	job.MaxAttempts = m.opts.MaxAttempts
	if prior := m.twin(job, waiting); prior != nil {
		m.absorb(prior, job)
		return Enqueued{ID: prior.ID, Position: m.ahead(prior), Coalesced: true}, nil
	}
	var gone *Job
	if all := m.in(waiting); len(all) >= m.opts.Depth {
		var victim *modelJob
		for _, x := range all {
			if x.Droppable && x.Priority <= job.Priority && (victim == nil || x.Priority < victim.Priority) {
				victim = x
			}
		}
		if victim == nil {
			return Enqueued{}, ErrQueueFull
		}
		gone = &victim.Job
		m.drops[victim.Kind]++
		m.remove(victim)
	}
	job.ID = id
	j := &modelJob{Job: job, state: waiting}
	m.jobs = append(m.jobs, j)
	return Enqueued{ID: id, Position: m.ahead(j), Dropped: gone}, nil
}

func (m *model) lease(now time.Time, kinds []string) (Job, error) {
	var best *modelJob
	for _, j := range m.in(waiting) {
		if !slices.Contains(kinds, j.Kind) || j.NotBefore.After(now) || m.twin(j.Job, running) != nil {
			continue
		}
		if best == nil || j.Priority > best.Priority ||
			j.Priority == best.Priority && m.served[j.Group] < m.served[best.Group] {
			best = j
		}
	}
	if best == nil {
		return Job{}, ErrNoJob
	}
	*m.serves++
	m.served[best.Group] = *m.serves
	best.state = running
	best.Attempt++
	best.NotBefore = time.Time{}
	return best.Job, nil
}

func (m *model) settle(now time.Time, id string, end Settlement) error {
	j := m.find(func(j *modelJob) bool { return j.state == running && j.ID == id })
	if j == nil {
		return ErrNotLeased
	}
	switch end.Outcome {
	case Done:
		m.remove(j)
	case Retry:
		j.NotBefore, j.LastError = now.Add(end.Pause), end.Error
		m.back(j)
	case Dead:
		j.LastError = end.Error
		m.bury(j)
	case Release:
		j.Attempt--
		m.back(j)
	}
	return nil
}

func (m *model) requeue(id string) error {
	j := m.find(func(j *modelJob) bool { return j.state == dead && j.ID == id })
	if j == nil {
		return ErrUnknownJob
	}
	if m.twin(j.Job, waiting) != nil || m.twin(j.Job, running) != nil {
		m.remove(j)
		return nil
	}
	j.state, j.Attempt, j.NotBefore = waiting, 0, time.Time{}
	return nil
}

// restart is what a killed process leaves behind.
func (m *model) restart() {
	for _, j := range m.in(running) {
		if j.Attempt >= j.MaxAttempts {
			j.LastError = errInterrupted
		}
		m.back(j)
	}
	m.served, m.drops = map[string]int{}, map[string]int{}
	*m.serves = 0
}

// nextDue is the first time after now at which a job becomes available.
func (m *model) nextDue(now time.Time) time.Time {
	var due time.Time
	at := func(t time.Time) {
		if t.After(now) && (due.IsZero() || t.Before(due)) {
			due = t
		}
	}
	for _, j := range m.jobs {
		if j.state == waiting && m.twin(j.Job, running) == nil {
			at(j.NotBefore)
		}
	}
	return due
}

func (m *model) stats() Stats {
	all := Stats{ByKind: map[string]KindStats{}}
	count := func(k *KindStats, st state) {
		*map[state]*int{waiting: &k.Waiting, running: &k.Running, dead: &k.Dead}[st]++
	}
	for _, j := range m.jobs {
		k := all.ByKind[j.Kind]
		count(&k, j.state)
		all.ByKind[j.Kind] = k
		count(&all.KindStats, j.state)
	}
	for kind, n := range m.drops {
		k := all.ByKind[kind]
		k.Dropped += n
		all.ByKind[kind] = k
		all.Dropped += n
	}
	return all
}

func sameError(a, b error) bool { return errors.Is(a, b) && errors.Is(b, a) }
