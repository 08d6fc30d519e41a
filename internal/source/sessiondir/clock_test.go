package sessiondir

import "time"

// SetClock and SetBounds are for the tests outside of the package.
func (f *Follower) SetClock(now func() time.Time) { f.now = now }

func (f *Follower) SetBounds(sessions, steps int) { f.maxSessions, f.maxSteps = sessions, steps }
