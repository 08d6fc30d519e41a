package indexer

import (
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// Activity counts the records of a project, or of all, by the day on which they were made,
// for the days from a first one on, and together for what is older. A day is 24 hours of UTC.
// Withdrawn lessons count: they were made.
func (x *Indexer) Activity(project string, first time.Time, days int) (counts []map[memory.Kind]int, before map[memory.Kind]int) {
	counts, before = make([]map[memory.Kind]int, days), map[memory.Kind]int{}
	from, day := first.UnixMilli(), (24 * time.Hour).Milliseconds()
	x.mu.RLock()
	defer x.mu.RUnlock()
	for n := range x.owners.allRecords() {
		e := &x.owners.all[n]
		if project != "" && e.project.Value() != project {
			continue
		}
		kind := memory.Kind(e.kind.Value())
		if e.created < from {
			before[kind]++
			continue
		}
		at := min(int((e.created-from)/day), days-1) // a clock that ran ahead counts as today
		if counts[at] == nil {
			counts[at] = map[memory.Kind]int{}
		}
		counts[at][kind]++
	}
	return counts, before
}

// MapPoint is a record with its built-in vector, which must not be written to.
type MapPoint struct {
	ID      string
	Kind    memory.Kind
	Project string
	Created time.Time
	Rate    *memory.Rate
	Vector  []float32
}

// MapPoints returns the records that are recalled and have a built-in vector. The same
// commits give them the same order.
func (x *Indexer) MapPoints() []MapPoint {
	all := x.collections.list()
	if len(all) == 0 {
		return nil
	}
	vectors := all[0].vectors // the built-in one is opened first
	x.mu.RLock()
	defer x.mu.RUnlock()
	points := make([]MapPoint, 0, x.owners.records.Len())
	for n := range x.owners.allRecords() {
		e := &x.owners.all[n]
		if e.withdrawn {
			continue
		}
		if v := vectors.Vector(e.doc); v != nil {
			points = append(points, MapPoint{e.id, memory.Kind(e.kind.Value()), e.project.Value(), time.UnixMilli(e.created).UTC(), e.rate, v})
		}
	}
	return points
}
