package worker

import (
	"cmp"
	"slices"
)

// idleGroups is how many leases back a group without jobs is remembered. One
// forgotten counts as never served, which after so many leases is nearly true.
const idleGroups = 1024

// ready holds the jobs that can be leased now. A lane is the jobs of one kind,
// priority and group, oldest first; a shelf is the lanes of one kind and
// priority, that of the group served longest ago first.
type ready struct {
	shelves map[string][]*shelf // by kind; highest priority first, none empty
	groups  map[string]*group
	serves  uint64 // leases given so far
	sweepAt int    // the number of groups at which forget sweeps again
}

type shelf struct {
	kind     string
	priority int
	lanes    heap[*lane]
}

type lane struct {
	shelf *shelf
	group *group
	jobs  heap[*entry]
	at    int // in shelf.lanes
}

// group is what fairness is kept between.
type group struct {
	served uint64 // the number of the latest lease, 0: none yet
	lanes  []*lane
}

func newReady() ready {
	return ready{shelves: map[string][]*shelf{}, groups: map[string]*group{}}
}

func laneBefore(a, b *lane) bool {
	if a.group.served != b.group.served {
		return a.group.served < b.group.served
	}
	return a.jobs.peek().place < b.jobs.peek().place
}

func (r *ready) add(e *entry) {
	l := r.lane(e.job)
	e.lane = l
	l.jobs.push(e)
	if l.jobs.len() == 1 {
		l.shelf.lanes.push(l)
	} else {
		l.shelf.lanes.fix(l)
	}
}

// lane returns the job's lane, made if there is none; a new one is not yet on
// its shelf's heap, for it has no first job to be ordered by.
func (r *ready) lane(job Job) *lane {
	shelves := r.shelves[job.Kind]
	i, ok := findShelf(shelves, job.Priority)
	if !ok {
		s := &shelf{kind: job.Kind, priority: job.Priority}
		s.lanes = heap[*lane]{before: laneBefore, at: func(l *lane) *int { return &l.at }}
		shelves = slices.Insert(shelves, i, s)
		r.shelves[job.Kind] = shelves
	}
	g := r.groups[job.Group]
	if g == nil {
		g = &group{}
		r.groups[job.Group] = g
	}
	for _, l := range g.lanes {
		if l.shelf == shelves[i] {
			return l
		}
	}
	l := &lane{shelf: shelves[i], group: g, jobs: newEntryHeap(byPlace)}
	g.lanes = append(g.lanes, l)
	return l
}

func findShelf(shelves []*shelf, priority int) (int, bool) {
	return slices.BinarySearchFunc(shelves, priority, func(s *shelf, p int) int {
		return cmp.Compare(p, s.priority)
	})
}

func (r *ready) remove(e *entry) {
	l := e.lane
	e.lane = nil
	l.jobs.remove(e)
	if l.jobs.len() > 0 {
		l.shelf.lanes.fix(l)
		return
	}
	l.shelf.lanes.remove(l)
	l.group.lanes = slices.DeleteFunc(l.group.lanes, func(x *lane) bool { return x == l })
	if l.shelf.lanes.len() > 0 {
		return
	}
	kind := l.shelf.kind
	if i, ok := findShelf(r.shelves[kind], l.shelf.priority); ok {
		r.shelves[kind] = slices.Delete(r.shelves[kind], i, i+1)
	}
	if len(r.shelves[kind]) == 0 {
		delete(r.shelves, kind)
	}
}

// first returns the job of the kinds whose turn it is, or nil.
func (r *ready) first(kinds []string) *entry {
	var best *lane
	for _, kind := range kinds {
		shelves := r.shelves[kind]
		if len(shelves) == 0 {
			continue
		}
		l := shelves[0].lanes.peek()
		if best == nil || l.shelf.priority > best.shelf.priority ||
			l.shelf.priority == best.shelf.priority && laneBefore(l, best) {
			best = l
		}
	}
	if best == nil {
		return nil
	}
	return best.jobs.peek()
}

// serve notes that the group was given a lease.
func (r *ready) serve(g *group) {
	r.serves++
	g.served = r.serves
	for _, l := range g.lanes {
		l.shelf.lanes.fix(l)
	}
}

// forget drops groups that have no jobs and were not served lately. It sweeps
// only when their number has doubled, which makes it cheap per lease.
func (r *ready) forget() {
	if len(r.groups) <= max(r.sweepAt, 4*idleGroups) {
		return
	}
	for name, g := range r.groups {
		if len(g.lanes) == 0 && g.served+idleGroups <= r.serves {
			delete(r.groups, name)
		}
	}
	r.sweepAt = 2 * len(r.groups)
}
