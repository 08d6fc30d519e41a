package booking

import (
	"container/heap"
	"time"
)

// waiting is one party on the list of a full sailing.
type waiting struct {
	customer string
	people   int
	since    time.Time
	loyal    bool
}

type line []waiting

func (l line) Len() int { return len(l) }

// Less puts loyal customers first, then who waits longest.
func (l line) Less(i, j int) bool {
	if l[i].loyal != l[j].loyal {
		return l[i].loyal
	}
	return l[i].since.Before(l[j].since)
}

func (l line) Swap(i, j int) { l[i], l[j] = l[j], l[i] }
func (l *line) Push(x any)   { *l = append(*l, x.(waiting)) }

func (l *line) Pop() any {
	old := *l
	last := old[len(old)-1]
	*l = old[:len(old)-1]
	return last
}

// offer hands freed seats to parties that fit; a party that is too large keeps its turn.
func offer(l *line, seats int) (invited []waiting) {
	var passed []waiting
	for l.Len() > 0 && seats > 0 {
		next := heap.Pop(l).(waiting)
		if next.people > seats {
			passed = append(passed, next)
			continue
		}
		seats -= next.people
		invited = append(invited, next)
	}
	for _, p := range passed {
		heap.Push(l, p)
	}
	return invited
}
