package ingest

import (
	"strings"
	"sync"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

const (
	// fixWindow is how long after a step a lesson of the same session is taken to be about its
	// error and its file.
	fixWindow = 30 * time.Minute
	// maxSessions bounds the sessions of which something is kept.
	maxSessions = 1000

	maxTouchedPaths = 4   // of one session
	maxTouchedBytes = 500 // of a path
)

// recent are texts of the last steps of sessions: the errors of the last step that failed, or the
// files that steps worked on. They link a lesson to what was done just before it. They are only
// in memory: after a restart such a lesson is found by its text only.
type recent struct {
	mu sync.Mutex
	// last is by session. Guarded by mu.
	last map[memory.SessionKey]recentTexts
}

type recentTexts struct {
	at    time.Time
	texts []string
}

// put puts texts of a step with those of the session, the newest first: at most so many, but all
// of the newest step. It forgets the oldest session when there are too many.
func (r *recent) put(of memory.SessionKey, at time.Time, texts []string, most int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(texts) == 0 {
		return
	}
	now, before := recentTexts{at, texts}, r.last[of]
	if before.at.After(at) { // steps may come side by side
		now, before = before, now
	}
	if r.last == nil {
		r.last = map[memory.SessionKey]recentTexts{}
	}
	r.last[of] = recentTexts{now.at, union(now.texts, before.texts, max(most, len(now.texts)))}
	dropOldest(r.last, maxSessions, func(x recentTexts) time.Time { return x.at })
}

// by returns the texts of a session, unless they are of long ago.
func (r *recent) by(of memory.SessionKey, now time.Time) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last[of].fresh(now)
}

// take is by, once: the next lesson is about something else.
func (r *recent) take(of memory.SessionKey, now time.Time) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	x := r.last[of]
	delete(r.last, of)
	return x.fresh(now)
}

func (x recentTexts) fresh(now time.Time) []string {
	if now.Sub(x.at) > fixWindow {
		return nil
	}
	return x.texts
}

// touchedFile returns the target of a step as a list of one path, or nil if it does not look like
// a file.
func touchedFile(target string) []string {
	if len(target) > maxTouchedBytes || !strings.Contains(target, ".") || strings.ContainsAny(target, "\n\r\t <>|*\"'") || strings.Contains(target, "://") {
		return nil
	}
	return []string{target}
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
