package memory

import (
	"testing"
	"time"
)

// TestIndexWait: the end of a run counts if the run began after it was asked for, whatever
// times the runs before it have.
func TestIndexWait(t *testing.T) {
	asked := time.Now()
	before, after, ahead := asked.Add(-time.Minute), asked.Add(time.Millisecond), asked.Add(48*time.Hour)
	for name, x := range map[string]struct {
		first, then time.Time
		want        bool
	}{
		"indexed before":                          {before, before, false},
		"a run that was under way has ended":      {before, before.Add(time.Second), false},
		"the run has ended":                       {before, after, true},
		"it is the first":                         {time.Time{}, after, true},
		"before the clock was set back":           {ahead, ahead, false},
		"the run has ended, before it was ahead":  {ahead, after, true},
		"it has ended before the first look":      {asked, asked, true},
		"never indexed":                           {time.Time{}, time.Time{}, false},
		"the stored time is a part of it shorter": {before, asked.Truncate(time.Millisecond), true},
	} {
		var r SandboxState
		r.IndexedAt, r.LastErrorAt = x.first, before
		w := NewIndexWait(asked, &r)
		r.IndexedAt = x.then
		if got := w.Indexed(&r); got != x.want || w.Failed(&r) {
			t.Errorf("%s: indexed %v, want %v; failed %v", name, got, x.want, w.Failed(&r))
		}
		r.IndexedAt, r.LastErrorAt = before, x.first
		w = NewIndexWait(asked, &r)
		r.LastErrorAt = x.then
		if got := w.Failed(&r); got != x.want || w.Indexed(&r) {
			t.Errorf("%s: failed %v, want %v; indexed %v", name, got, x.want, w.Indexed(&r))
		}
	}
}
