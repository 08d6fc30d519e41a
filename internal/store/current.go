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
	s.keepOpen(all, at)
	x, ok := all.newest(of)
	return x, ok, nil
}

// keepOpen keeps open sessions that were read when sessionsAt was at, unless
// some have changed since. It is called with mu held.
func (s *Store) keepOpen(all openSessions, at uint64) {
	all.sort()
	if s.sessionsAt == at {
		s.current = all
	}
}

func (s *Store) readOpen() (openSessions, error) {
	return read(s, func(v View) (openSessions, error) {
		open := openSessions{}
		for x, err := range v.Sessions("") {
			if !s.damaged(err) {
				open.add(&x)
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
				s.current.drop(x.Old)
			}
			if x.New != nil {
				s.current.put(x.New)
			}
		}
	}
}

// openSessions are the sessions that have not ended by their owners, oldest
// first: the newest, which come and go, are at the end. Its owner locks.
type openSessions map[owner][]*memory.Session

// owner is whose current session is asked for.
type owner struct{ project, client string }

// add takes a session in if it is open; sort puts all that were added in order.
func (o openSessions) add(x *memory.Session) {
	if x.Open() {
		of := owner{x.Project, x.Client}
		o[of] = append(o[of], x)
	}
}

func (o openSessions) sort() {
	for _, list := range o {
		slices.SortFunc(list, olderSession)
	}
}

// put takes a session in, in its place, if it is open.
func (o openSessions) put(x *memory.Session) {
	if !x.Open() {
		return
	}
	of := owner{x.Project, x.Client}
	at, found := slices.BinarySearchFunc(o[of], x, olderSession)
	if found { // read after the commit that is being settled
		o[of][at] = x
		return
	}
	o[of] = slices.Insert(o[of], at, x)
}

// drop takes out a session as it was put in.
func (o openSessions) drop(x *memory.Session) {
	of := owner{x.Project, x.Client}
	at, found := slices.BinarySearchFunc(o[of], x, olderSession)
	if !found {
		return
	}
	if o[of] = slices.Delete(o[of], at, at+1); len(o[of]) == 0 {
		delete(o, of)
	}
}

func (o openSessions) newest(of owner) (memory.Session, bool) {
	list := o[of]
	if len(list) == 0 {
		return memory.Session{}, false
	}
	return *list[len(list)-1], true
}

// olderSession puts, of two as old, the first by id last.
func olderSession(a, b *memory.Session) int {
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(b.ID, a.ID))
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
