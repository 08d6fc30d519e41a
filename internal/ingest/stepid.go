package ingest

import (
	"slices"
	"sync"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// stepIDs gives steps their times and ids, in the order in which they are recorded.
type stepIDs struct {
	mu sync.Mutex
	// reserved are the ids of steps that are being written, last the newest time given to
	// a step of each session. Both are guarded by mu.
	reserved []string
	last     map[memory.SessionKey]time.Time
}

// now returns a step's time: later than every time given to a step of the session before.
func (p *stepIDs) now(session memory.SessionKey, now time.Time) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if last := p.last[session]; !now.After(last) {
		now = last.Add(time.Millisecond)
	}
	if p.last == nil || len(p.last) >= maxSessions {
		p.last = map[memory.SessionKey]time.Time{} // it only matters for a millisecond
	}
	p.last[session] = now
	return now
}

func (p *stepIDs) reserve(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if slices.Contains(p.reserved, id) {
		return false
	}
	p.reserved = append(p.reserved, id)
	return true
}

func (p *stepIDs) release(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reserved = slices.DeleteFunc(p.reserved, func(x string) bool { return x == id })
}

// assignStepID returns a step's id and time. A zero time means now. While another step of
// the session and tool has the time, it is moved on by a millisecond. The id stays reserved
// until it is released.
func (s *Service) assignStepID(session memory.SessionKey, tool string, at time.Time) (string, time.Time, error) {
	if at.IsZero() {
		at = s.stepIDs.now(session, s.now())
	}
	for at = at.UTC().Truncate(time.Millisecond); ; at = at.Add(time.Millisecond) {
		id := stepID(session, at, tool)
		if !s.stepIDs.reserve(id) {
			continue
		}
		_, known, err := find(s.opts.Records, id)
		if err == nil && !known {
			return id, at, nil
		}
		s.stepIDs.release(id)
		if err != nil {
			return "", at, err
		}
	}
}
