package ingest

import (
	"sync"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// fixWindow is how long after a failed step a lesson of the same session is taken to be
// about its error.
const fixWindow = 30 * time.Minute

// maxSessions bounds the sessions of which something is kept.
const maxSessions = 1000

// failures are the last failed steps of sessions. They link a lesson that is recorded soon
// after an error to that error. They are only in memory: after a restart such a lesson is
// found by its text only.
type failures struct {
	mu sync.Mutex
	// last is by session. Guarded by mu.
	last map[memory.SessionKey]failure
}

type failure struct {
	at           time.Time
	fingerprints []string
}

// put notes a failing step, and forgets the oldest when there are too many.
func (f *failures) put(of memory.SessionKey, at time.Time, fingerprints []string) {
	if len(fingerprints) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.last == nil {
		f.last = map[memory.SessionKey]failure{}
	}
	if old, ok := f.last[of]; ok && old.at.After(at) {
		return
	}
	f.last[of] = failure{at, fingerprints}
	dropOldest(f.last, maxSessions, func(x failure) time.Time { return x.at })
}

// dropOldest forgets the oldest session if there are over most.
func dropOldest[T any](last map[memory.SessionKey]T, most int, at func(T) time.Time) {
	if len(last) <= most {
		return
	}
	var oldest memory.SessionKey
	var first time.Time
	for k, x := range last {
		if first.IsZero() || at(x).Before(first) {
			oldest, first = k, at(x)
		}
	}
	delete(last, oldest)
}

// take returns the fingerprints of a session's last failing step, if it was not
// long ago, once: the next lesson is about something else.
func (f *failures) take(of memory.SessionKey, now time.Time) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	x, ok := f.last[of]
	delete(f.last, of)
	if ok && now.Sub(x.at) <= fixWindow {
		return x.fingerprints
	}
	return nil
}
