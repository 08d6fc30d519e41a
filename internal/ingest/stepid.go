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
	// reserved are the ids of steps that are being written, last the time of the newest
	// step of a session that was given its time here. Both are guarded by mu.
	reserved []string
	last     map[memory.SessionKey]time.Time
}

// maxSessions bounds last.
const maxSessions = 1000

// now gives a step its time: later than that of every step of the session that was
// given one before.
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

// assignStepID finds the time of a step and the id that goes with it. Without a time it
// is now. A step of the session and tool that has that time already moves it on by
// a millisecond, as often as need be. The id is reserved until it is released.
func (s *Service) assignStepID(session memory.SessionKey, tool string, at time.Time) (string, time.Time, error) {
	if at.IsZero() {
		at = s.stepIDs.now(session, s.now())
	}
	for at = at.UTC().Truncate(time.Millisecond); ; at = at.Add(time.Millisecond) {
		id := stepID(session, at, tool)
		if !s.stepIDs.reserve(id) {
			continue
		}
		_, err := s.opts.Records.Record(id)
		if err != nil && memory.CodeOf(err) == memory.CodeNotFound {
			return id, at, nil
		}
		s.stepIDs.release(id)
		if err != nil {
			return "", at, err
		}
	}
}
