package ingest

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// Bounds of what is kept of the files that steps worked on.
const (
	maxTouchedPaths = 4   // of one session
	maxTouchedBytes = 500 // of a path
)

// touched are the targets of the last steps of sessions that look like files, the newest
// first. They link a lesson to the files that were worked on just before it. They are only
// in memory, as failures are.
type touched struct {
	mu sync.Mutex
	// last is by session. Guarded by mu.
	last map[memory.SessionKey]touch
}

type touch struct {
	at    time.Time
	paths []string
}

// put notes the target of a step, and forgets the oldest session when there are too many.
func (f *touched) put(of memory.SessionKey, at time.Time, target string) {
	if len(target) > maxTouchedBytes || !strings.Contains(target, ".") || strings.ContainsAny(target, "\n\r\t <>|*\"'") || strings.Contains(target, "://") {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.last == nil {
		f.last = map[memory.SessionKey]touch{}
	}
	paths := append([]string{target}, slices.DeleteFunc(slices.Clone(f.last[of].paths), func(p string) bool { return p == target })...)
	f.last[of] = touch{at, paths[:min(len(paths), maxTouchedPaths)]}
	dropOldest(f.last, maxSessions, func(x touch) time.Time { return x.at })
}

// by returns the files of a session that were worked on not long ago, the newest first.
func (f *touched) by(of memory.SessionKey, now time.Time) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if x, ok := f.last[of]; ok && of.ID != "" && now.Sub(x.at) <= fixWindow {
		return x.paths
	}
	return nil
}
