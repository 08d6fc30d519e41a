package store

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// CurrentSession returns the open session of a project that is the caller's own,
// and whether there is one: the newest of its client and window; of two as new, the
// first by id. Without one it is the only open session of the client that belongs to
// no window, as those of scripts and of older versions do. Where there are several of
// these it is CodeInvalidInput with their ids, caused by memory.ErrSeveralSessions.
// A session that belongs to another window is never returned.
//
// It is asked for with every step and answers from memory; what the session points to
// must not be written to.
func (s *Store) CurrentSession(project string, caller memory.Caller) (memory.Session, bool, error) {
	of := owner{project, caller.Client, caller.Window}
	s.mu.Lock()
	if s.current != nil {
		defer s.mu.Unlock()
		return s.current.of(of)
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
	return all.of(of)
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

// owner is whose current session is asked for. A window that is empty is none.
type owner struct{ project, client, window string }

func ownerOf(x *memory.Session) owner { return owner{x.Project, x.Client, x.Window} }

// add takes a session in if it is open; sort puts all that were added in order.
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

// put takes a session in, in its place, if it is open.
func (o openSessions) put(x *memory.Session) {
	if !x.Open() {
		return
	}
	of := ownerOf(x)
	at, found := slices.BinarySearchFunc(o[of], x, olderSession)
	if found { // read after the commit that is being settled
		o[of][at] = x
		return
	}
	o[of] = slices.Insert(o[of], at, x)
}

// drop takes out a session as it was put in.
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

// of returns an owner's session as CurrentSession does.
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

// maxChoices is how many sessions a refusal lists.
const maxChoices = 10

// severalSessions refuses a call that could mean several sessions, with their ids,
// newest first.
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
			if stored, ok := sessions[x.Key()]; !ok || !stored.Open() || ownerOf(&stored) != ownerOf(x) {
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
