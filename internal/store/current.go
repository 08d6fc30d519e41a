package store

import (
	"cmp"
	"slices"

	"github.com/recalld/recalld/internal/memory"
)

// CurrentSession returns the newest session of a project and client that has
// not ended, and whether there is one; of two as new, the first by id. It is
// asked for with every step and answers from memory; what the session points to
// must not be written to.
func (s *Store) CurrentSession(project, client string) (memory.Session, bool, error) {
	of := owner{project, client}
	s.mu.Lock()
	if s.current != nil {
		defer s.mu.Unlock()
		x, ok := s.current.newest(of)
		return x, ok, nil
	}
	at := s.sessionsAt
	s.mu.Unlock()
	all, err := s.readOpen()
	if err != nil {
		return memory.Session{}, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessionsAt == at { // else they may have changed since they were read
		s.current = all
	}
	x, ok := all.newest(of)
	return x, ok, nil
}

func (s *Store) readOpen() (openSessions, error) {
	return read(s, func(v View) (openSessions, error) {
		open := openSessions{}
		for x, err := range v.Sessions("") {
			if !s.damaged(err) {
				open.put(x)
			}
		}
		return open, nil
	})
}

// settleSessions brings the open sessions up to date with committed changes. It
// is called with mu held. Reading them all again for every start of a session
// would cost a program with thousands of them more than the start itself.
func (s *Store) settleSessions(changes []memory.Change) {
	for _, c := range changes {
		if len(c.Sessions) > 0 {
			s.sessionsAt++
		}
		if s.current == nil {
			continue
		}
		for _, x := range c.Sessions {
			if x.Old != nil {
				s.current.drop(*x.Old)
			}
			if x.New != nil {
				s.current.put(*x.New)
			}
		}
	}
}

// openSessions are the sessions that have not ended by their owners, the newest
// of each first. Its owner locks.
type openSessions map[owner][]memory.Session

// owner is whose current session is asked for.
type owner struct{ project, client string }

// put takes a session in, in place of one of the same id, if it is open.
func (o openSessions) put(x memory.Session) {
	o.drop(x)
	if !x.Open() {
		return
	}
	of := owner{x.Project, x.Client}
	at, _ := slices.BinarySearchFunc(o[of], x, newerSession)
	o[of] = slices.Insert(o[of], at, x)
}

func (o openSessions) drop(x memory.Session) {
	of := owner{x.Project, x.Client}
	left := slices.DeleteFunc(o[of], func(y memory.Session) bool { return y.ID == x.ID })
	if o[of] = left; len(left) == 0 {
		delete(o, of)
	}
}

func (o openSessions) newest(of owner) (memory.Session, bool) {
	if list := o[of]; len(list) > 0 {
		return list[0], true
	}
	return memory.Session{}, false
}

// newerSession orders the newest first.
func newerSession(a, b memory.Session) int {
	return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(a.ID, b.ID))
}

// checkCurrent compares the open sessions that are kept with those stored.
func (s *Store) checkCurrent(sessions map[memory.SessionKey]memory.Session, bad func(string, ...any)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == nil {
		return
	}
	kept := 0
	for _, list := range s.current {
		kept += len(list)
		for _, x := range list {
			if stored, ok := sessions[x.Key()]; !ok || !stored.Open() || stored.Client != x.Client {
				bad("session %s: it is kept as open and is not stored so", x.ID)
			}
		}
	}
	open := 0
	for _, x := range sessions {
		open += btoi(x.Open())
	}
	if kept != open {
		bad("sessions: %d open ones are stored, %d are kept", open, kept)
	}
}
