package worker

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// disk is what Pending had written.
type disk struct{ jobs, dead map[string]Job }

func newDisk() disk        { return disk{jobs: map[string]Job{}, dead: map[string]Job{}} }
func (d disk) clone() disk { return disk{maps.Clone(d.jobs), maps.Clone(d.dead)} }
func (d disk) write(c []Change) {
	for _, c := range c {
		switch c.Op {
		case PutJob:
			d.jobs[c.Job.ID] = c.Job
		case DeleteJob:
			delete(d.jobs, c.Job.ID)
		case PutDead:
			d.dead[c.Job.ID] = c.Job
		case DeleteDead:
			delete(d.dead, c.Job.ID)
		}
	}
}

func (d disk) restore(t *testing.T, opts ScheduleOptions) *Schedule {
	t.Helper()
	s, err := NewSchedule(opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Restore(slices.Collect(maps.Values(d.jobs)), slices.Collect(maps.Values(d.dead))); err != nil {
		t.Fatalf("Restore: %v", err)
	}
	return s
}

// simulation runs random operations on a schedule, its model and its disk.
type simulation struct {
	t      *testing.T
	rand   *rand.Rand
	opts   ScheduleOptions
	now    time.Time
	s      *Schedule
	m      *model
	disk   disk
	leased []string // ids, also of leases that have ended
	n      int
}

// TestScheduleAgainstModel also proves that Revert undoes everything that could not
// be written, and that the disk always holds what a restart needs.
func TestScheduleAgainstModel(t *testing.T) {
	const steps = 500
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			opts := ScheduleOptions{Depth: 12, MaxAttempts: 3}
			sim := &simulation{
				t: t, rand: rand.New(rand.NewPCG(seed, 1)), opts: opts, disk: newDisk(), m: newModel(opts),
				now: time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC),
			}
			sim.s = sim.disk.restore(t, opts)
			for range steps {
				sim.transaction()
				if t.Failed() {
					return
				}
			}
		})
	}
}

// transaction does some operations and then writes them, or fails to.
func (sim *simulation) transaction() {
	before, disk := sim.m.clone(), sim.disk.clone()
	for range 1 + sim.rand.IntN(4) {
		sim.step()
		if sim.rand.IntN(3) == 0 {
			sim.disk.write(sim.s.Pending()) // the first part of a shared write
		}
	}
	if sim.rand.IntN(5) == 0 {
		sim.s.Revert()
		sim.m, sim.disk = before, disk
		if pending := sim.s.Pending(); len(pending) > 0 {
			sim.t.Errorf("after Revert %d changes are pending", len(pending))
		}
	} else {
		sim.disk.write(sim.s.Pending())
		sim.s.Accept()
	}
	sim.check()
	if sim.rand.IntN(100) == 0 {
		sim.s = sim.disk.restore(sim.t, sim.opts)
		sim.m.restart()
		sim.disk.write(sim.s.Pending())
		sim.s.Accept()
		sim.check()
	}
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func (sim *simulation) step() {
	r := sim.rand
	if r.IntN(3) == 0 {
		sim.now = sim.now.Add(time.Duration(r.IntN(20)) * time.Second)
	}
	leased := "none"
	if len(sim.leased) > 0 {
		leased = sim.leased[max(0, len(sim.leased)-1-r.IntN(4))]
	}
	switch r.IntN(10) {
	case 0, 1, 2, 3:
		sim.enqueue()
	case 4, 5, 6:
		kinds := pick(r, []string{"a"}, []string{"b", "a"}, []string{"b", "none"})
		got, err := sim.s.Lease(sim.now, kinds)
		want, wantErr := sim.m.lease(sim.now, kinds)
		sim.compare("Lease", err, wantErr, got, want)
		if err == nil {
			sim.leased = append(sim.leased, got.ID)
		}
	case 7, 8:
		end := Settlement{Outcome: pick(r, Done, Done, Retry, Retry, Dead, Release), Error: pick(r, "x", "y")}
		if r.IntN(2) == 0 {
			end.Pause = time.Duration(r.IntN(30)) * time.Second
		}
		sim.compare("Settle", sim.s.Settle(sim.now, leased, end), sim.m.settle(sim.now, leased, end), nil, nil)
	case 9:
		id := "none"
		if letters := sim.s.Dead(); len(letters) > 0 {
			id = pick(r, letters...).ID
		}
		sim.compare("Requeue", sim.s.Requeue(id), sim.m.requeue(id), nil, nil)
	}
}

func (sim *simulation) enqueue() {
	r := sim.rand
	sim.n++
	job := Job{
		Kind: pick(r, "a", "b"), Key: pick(r, "", "k1", "k2", "k3"), Group: pick(r, "g1", "g2", "g3"),
		Priority: r.IntN(3), Droppable: r.IntN(2) == 0, Payload: fmt.Appendf(nil, "%d", sim.n),
	}
	got, err := sim.s.Enqueue(sim.now, job)
	want, wantErr := sim.m.enqueue(sim.now, job, got.ID)
	sim.compare("Enqueue", err, wantErr, got, want)
}

func (sim *simulation) compare(what string, err, wantErr error, got, want any) {
	sim.t.Helper()
	if !sameError(err, wantErr) {
		sim.t.Fatalf("%s: %v, want %v", what, err, wantErr)
	}
	if !reflect.DeepEqual(want, got) { // cmp.Diff alone takes most of the time
		sim.t.Fatalf("%s (-want +got):\n%s", what, cmp.Diff(want, got, cmp.AllowUnexported(disk{})))
	}
}

// check compares everything that can be seen.
func (sim *simulation) check() {
	sim.t.Helper()
	sim.compare("Stats", nil, nil, sim.s.Stats(), sim.m.stats())
	want := newDisk()
	for _, j := range sim.m.jobs {
		if j.state == dead {
			want.dead[j.ID] = j.Job
		} else {
			want.jobs[j.ID] = j.Job
		}
	}
	sim.compare("the disk", nil, nil, sim.disk, want)
	if due, want := sim.s.nextDue(), sim.m.nextDue(sim.s.looked); !due.Equal(want) {
		sim.t.Fatalf("nextDue = %v, want %v", due, want)
	}
}

// TestRestoreOutlivesARevert: what Restore changed stays pending until it is written, also if
// a write with it fails.
func TestRestoreOutlivesARevert(t *testing.T) {
	for name, pendingFirst := range map[string]bool{"changed, then pending": false, "pending, then changed": true} {
		t.Run(name, func(t *testing.T) {
			d := newDisk()
			d.write([]Change{
				{PutJob, Job{ID: spell(1), Kind: "work", Key: "k", Attempt: 1}}, // ran
				{PutJob, Job{ID: spell(2), Kind: "work", Key: "k"}},             // waited for it
				{PutJob, Job{ID: spell(3), Kind: "work", Key: "poison", Attempt: 3}},
			})
			s := d.restore(t, ScheduleOptions{MaxAttempts: 3})
			if pendingFirst {
				s.Pending()
			}
			if _, err := s.Lease(time.Unix(1, 0), []string{"work"}); err != nil {
				t.Fatalf("Lease: %v", err)
			}
			if err := s.Requeue(spell(3)); err != nil {
				t.Fatalf("Requeue: %v", err)
			}
			s.Pending() // cannot be written
			s.Revert()
			d.write(s.Pending())
			s.Accept()
			if len(d.jobs) != 1 || len(d.dead) != 1 {
				t.Errorf("the disk has the jobs %v and the dead letters %v, want the first job and a letter", d.jobs, d.dead)
			}
			s.Revert()
			if pending := s.Pending(); len(pending) > 0 {
				t.Errorf("%d changes are pending after they were written", len(pending))
			}
		})
	}
}

func TestRestoreRefuses(t *testing.T) {
	job := Job{ID: spell(1), Kind: "work"}
	for name, jobs := range map[string][]Job{
		"a foreign id": {{ID: "17", Kind: "work"}},
		"no id":        {{Kind: "work"}},
		"one id twice": {job, job},
	} {
		s, err := NewSchedule(ScheduleOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Restore(jobs, nil); err == nil {
			t.Errorf("%s: Restore took the jobs", name)
		}
	}
	s, _ := NewSchedule(ScheduleOptions{})
	if err := errors.Join(s.Restore([]Job{job}, nil)); err != nil {
		t.Fatalf("Restore: %v", err)
	}
	if err := s.Restore(nil, nil); err == nil {
		t.Error("Restore filled a schedule that was not empty")
	}
}

func TestGroupsAreForgotten(t *testing.T) {
	s, err := NewSchedule(ScheduleOptions{})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1, 0)
	for i := range 2 * maxGroups {
		if _, err := s.Enqueue(now, Job{Kind: "work", Group: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
		lease, err := s.Lease(now, []string{"work"})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Settle(now, lease.ID, Settlement{}); err != nil {
			t.Fatal(err)
		}
		s.Pending()
		s.Accept()
	}
	if n := len(s.served); n > maxGroups {
		t.Errorf("%d groups are remembered, want at most %d", n, maxGroups)
	}
}

func TestNewScheduleRefuses(t *testing.T) {
	for _, opts := range []ScheduleOptions{{Depth: -1}, {MaxAttempts: -1}} {
		if _, err := NewSchedule(opts); err == nil {
			t.Errorf("NewSchedule(%+v) made one", opts)
		}
	}
}
