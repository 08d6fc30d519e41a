package store

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// CurrentSession returns the caller's open session in a project, and whether there is one.
// It is the newest session of the caller's client and window; if two are equally new, the
// one with the smaller id. If the window has none, it is the client's only open session
// without a window; scripts and older versions start such sessions. If the client has
// several of them, the error is CodeInvalidInput with their ids, caused by
// memory.ErrSeveralSessions. A session of another window is never returned.
//
// Every step calls it, so it reads from memory. Callers must not change what the session
// points to.
func (s *Store) CurrentSession(project string, caller memory.Caller) (memory.Session, bool, error) {
	open, err := s.keptOpen()
	if err != nil {
		return memory.Session{}, false, err
	}
	defer s.mu.Unlock()
	return open.of(owner{project, caller.Client, caller.Window})
}

// OpenSessions returns the sessions that have not ended. Callers must not change what they
// point to.
func (s *Store) OpenSessions() ([]memory.Session, error) {
	open, err := s.keptOpen()
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var all []memory.Session
	for _, list := range open {
		for _, x := range list {
			all = append(all, *x)
		}
	}
	return all, nil
}

// keptOpen returns the open sessions with mu held, or an error with mu released. It reads
// them unless they are cached.
func (s *Store) keptOpen() (openSessions, error) {
	s.mu.Lock()
	if s.current != nil {
		return s.current, nil
	}
	at := s.sessionsAt
	s.mu.Unlock()
	open, err := read(s, func(v View) (openSessions, error) {
		open := openSessions{}
		for x := range sound(s, v.Sessions("")) {
			open.add(&x)
		}
		return open, nil
	})
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.keepOpen(open, at)
	return open, nil
}

// keepOpen caches open sessions that were read when sessionsAt was at, unless sessions
// have changed since. It is called with mu held.
func (s *Store) keepOpen(all openSessions, at uint64) {
	all.sort()
	if s.sessionsAt == at {
		s.current = all
	}
}

// settleSessions applies committed changes to the cache of open sessions. It is called
// with mu held. With thousands of open sessions, reading all of them again would cost more
// than the start of a session.
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

// openSessions are the sessions that have not ended, by owner, oldest first, because
// sessions are mostly added and removed at the end. Callers lock.
type openSessions map[owner][]*memory.Session

// owner is a client with its window in a project. An empty window is none.
type owner struct{ project, client, window string }

func ownerOf(x *memory.Session) owner { return owner{x.Project, x.Client, x.Window} }

// add adds a session if it is open, without order: call sort afterwards.
func (o openSessions) add(x *memory.Session) {
	if x.Open() {
		o[ownerOf(x)] = append(o[ownerOf(x)], x)
	}
}

func (o openSessions) sort() {
	for _, list := range o {
		slices.SortFunc(list, olderSession)
	}
}

// put inserts a session in order if it is open.
func (o openSessions) put(x *memory.Session) {
	if !x.Open() {
		return
	}
	of := ownerOf(x)
	at, found := slices.BinarySearchFunc(o[of], x, olderSession)
	if found { // it was read after the commit that is being applied
		o[of][at] = x
		return
	}
	o[of] = slices.Insert(o[of], at, x)
}

// drop removes a session.
func (o openSessions) drop(x *memory.Session) {
	of := ownerOf(x)
	at, found := slices.BinarySearchFunc(o[of], x, olderSession)
	if !found {
		return
	}
	if o[of] = slices.Delete(o[of], at, at+1); len(o[of]) == 0 {
		delete(o, of)
	}
}

// of returns an owner's session by the rules of CurrentSession.
func (o openSessions) of(of owner) (memory.Session, bool, error) {
	if own := o[of]; len(own) > 0 && of.window != "" {
		return *own[len(own)-1], true, nil
	}
	of.window = ""
	switch free := o[of]; len(free) {
	case 0:
		return memory.Session{}, false, nil
	case 1:
		return *free[0], true, nil
	default:
		return memory.Session{}, false, severalSessions(free)
	}
}

// maxChoices is how many sessions an error lists.
const maxChoices = 10

// severalSessions is the error of a call that could mean several sessions. It lists their
// ids, newest first.
func severalSessions(open []*memory.Session) error {
	var ids []string
	for _, x := range slices.Backward(open[max(0, len(open)-maxChoices):]) {
		ids = append(ids, x.ID)
	}
	list := strings.Join(ids, ", ")
	if more := len(open) - len(ids); more > 0 {
		list += fmt.Sprintf(" and %d older", more)
	}
	e := memory.Invalid("sessionId", list, "%d sessions are open and the call names none", len(open))
	e.Hint, e.Cause = "name the one that is yours, or end those that are over", memory.ErrSeveralSessions
	return e
}

// olderSession orders sessions by age; of two equally old ones, the smaller id is last.
func olderSession(a, b *memory.Session) int {
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(b.ID, a.ID))
}

// checkCurrent compares the cached open sessions with the stored ones.
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
			if stored, ok := sessions[x.Key()]; !ok || !stored.Open() || ownerOf(&stored) != ownerOf(x) {
				bad("session %s: it is cached as open, but not stored as open", x.ID)
			}
		}
	}
	open := 0
	for _, x := range sessions {
		open += btoi(x.Open())
	}
	if kept != open {
		bad("sessions: %d open ones are stored, %d are cached", open, kept)
	}
}
