package worker

import (
	"fmt"
	"strconv"
	"time"
)

// entry is a job with its state and the places it is kept at.
type entry struct {
	job Job
	// place is the job's turn: the number that its id spells.
	place uint64
	state state
	token string    // while running
	until time.Time // while running: when the lease runs out

	lane    *lane // while waiting and due
	delayed bool  // while waiting for a time
	at      int   // in the heap of lane, delays or leases
	dropAt  int   // in the heap of droppable jobs

	journaled bool  // what it was before is in the journal
	dirty     bool  // it has changed since Pending
	stored    state // what it is on disk, once all that Pending gave is there
}

type state uint8

const (
	absent state = iota
	waiting
	running
	dead
)

// lives says that the job is yet to be done.
func (st state) lives() bool { return st == waiting || st == running }

func byPlace(a, b *entry) bool { return a.place < b.place }
func byDue(a, b *entry) bool   { return a.job.NotBefore.Before(b.job.NotBefore) }
func byUntil(a, b *entry) bool { return a.until.Before(b.until) }

// byWorth orders the jobs that may be dropped: the least priority first, the
// oldest first within one.
func byWorth(a, b *entry) bool {
	if a.job.Priority != b.job.Priority {
		return a.job.Priority < b.job.Priority
	}
	return a.place < b.place
}

func entryAt(e *entry) *int     { return &e.at }
func entryDropAt(e *entry) *int { return &e.dropAt }

func newEntryHeap(before func(a, b *entry) bool) heap[*entry] {
	return heap[*entry]{before: before, at: entryAt}
}

// spell writes a place as a job's id, so that ids sort in the order in which
// the jobs came.
func spell(place uint64) string { return fmt.Sprintf("%016x", place) }

// parsePlace reads an id written by spell.
func parsePlace(id string) (uint64, error) {
	place, err := strconv.ParseUint(id, 16, 64)
	if err != nil || spell(place) != id {
		return 0, fmt.Errorf("worker: %q is not the id of a job", id)
	}
	return place, nil
}
