package ingest

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/recalld/recalld/internal/fingerprint"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/steptext"
)

// Bounds of a session's open attempts.
const (
	// attemptAge is how long after a failure a success of the same step counts for the
	// lessons that were read in between.
	attemptAge       = 30 * time.Minute
	maxOpenAttempts  = 8   // of one session
	maxTriedSessions = 256 // sessions with open attempts
)

// attempt is a step that failed and has not succeeded since.
type attempt struct {
	// what identifies the step: the tool and its subject.
	what   string
	errors []string // fingerprints
	at     time.Time
	// lessons about its error that were handed out since it failed.
	lessons []string
}

// attempts are the open attempts of active sessions. They are only in memory: a restart
// loses outcomes that are still open.
type attempts struct {
	mu sync.Mutex
	// open is guarded by mu; a session's attempts are in order of time.
	open map[memory.SessionKey][]attempt
}

// step records a step and returns its outcome for the lessons that were handed out
// before: the step succeeds after it failed, or fails again with the same error.
func (a *attempts) step(session memory.SessionKey, at time.Time, c *memory.StepContent) (lessons []string, ok bool) {
	subject := steptext.Subject(c.Tool)
	if subject == "" {
		return nil, false // without a subject, a second try cannot be recognised
	}
	what := c.Tool.Name + "\x00" + subject
	a.mu.Lock()
	defer a.mu.Unlock()
	open := slices.DeleteFunc(a.open[session], func(x attempt) bool { return at.Sub(x.at) > attemptAge })
	now := attempt{what: what, errors: c.Fingerprints, at: at}
	if i := slices.IndexFunc(open, func(x attempt) bool { return x.what == what }); i >= 0 {
		before := open[i]
		open = slices.Delete(open, i, i+1)
		switch {
		case c.Outcome.OK:
			lessons, ok = before.lessons, true
		case shares(before.errors, c.Fingerprints): // else what was read may have helped with the first error
			lessons, now.errors = before.lessons, before.errors
		}
	}
	if !c.Outcome.OK {
		open = append(open, now)
		open = open[max(0, len(open)-maxOpenAttempts):]
	}
	a.put(session, open)
	return lessons, ok
}

// put keeps a session's open attempts. If there are too many sessions, it drops the one
// that was idle longest. The caller holds mu.
func (a *attempts) put(session memory.SessionKey, open []attempt) {
	if len(open) == 0 {
		delete(a.open, session)
		return
	}
	if a.open == nil {
		a.open = map[memory.SessionKey][]attempt{}
	}
	a.open[session] = open
	dropOldest(a.open, maxTriedSessions, func(list []attempt) time.Time { return list[len(list)-1].at })
}

// handOut records that lessons about some errors were handed out to a session. Its next
// steps count for or against them.
func (a *attempts) handOut(session memory.SessionKey, errors, lessons []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, x := range a.open[session] {
		if shares(x.errors, errors) {
			a.open[session][i].lessons = union(x.lessons, lessons, memory.MaxLimit)
		}
	}
}

// Answered hands out the lessons of an answer about an error that the query
// quotes: those that match the error exactly, otherwise the best one. It is a no-op for
// other queries, and without a session.
func (s *Service) Answered(req memory.RecallRequest, a *memory.RecallResponse, receiptOf func(id string) (memory.Receipt, error)) {
	errors := fingerprint.Of(req.Query)
	if len(errors) == 0 {
		return
	}
	session := memory.SessionKey{Project: a.Project, ID: req.Caller.Session}
	if session.ID == "" {
		current, ok, err := s.currentSession(a.Project, req.Caller)
		if err != nil || !ok {
			return
		}
		session = current.Key()
	}
	receipt, err := receiptOf(a.Receipt)
	if err != nil {
		return
	}
	var same, lessons []string
	for _, item := range receipt.Items {
		if item.Kind != memory.Lesson || item.Strength == memory.Maybe { // only its line was shown
			continue
		}
		lessons = append(lessons, item.ID)
		if item.RankFactors != nil && item.RankFactors.Error {
			same = append(same, item.ID)
		}
	}
	if len(same) == 0 {
		same = lessons[:min(1, len(lessons))]
	}
	s.attempts.handOut(session, errors, same)
}

// Settle counts what a step that was just recorded says of the lessons that were
// used before it; see Answered. It goes by the time of now, whatever time the step
// was given, and must not be called for a request that was repeated.
func (s *Service) Settle(ctx context.Context, step memory.Record) error {
	lessons, ok := s.attempts.step(memory.SessionKey{Project: step.Project, ID: step.Session}, s.now(), step.Step)
	if len(lessons) == 0 {
		return nil
	}
	return s.Outcome(ctx, lessons, ok)
}

func shares(a, b []string) bool {
	return slices.ContainsFunc(a, func(x string) bool { return slices.Contains(b, x) })
}
