package indexer

import (
	"cmp"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/recalld/recalld/internal/memory"
)

// sessionIndex holds the sessions with their steps and lessons. The caller locks.
type sessionIndex struct {
	owners   *owners // of the steps and lessons
	sessions map[memory.SessionKey]*indexedSession
	// listed has the sessions of each project that are stored or have a step, oldest
	// first: new ones are added at the end. It is derived from sessions by change.
	listed map[string][]*indexedSession
	// loading is set while Load runs: the lists are not sorted yet.
	loading bool
	// docs is one more than the highest document number added.
	docs uint32
}

// indexedSession is one session. It exists as long as it is stored or a record names it.
type indexedSession struct {
	// session has no Build, Launch and Extra: no filter uses them. It is bare and
	// without a time where only its name is known.
	session memory.Session
	stored  bool
	// steps and lessons are ordered by time, then id.
	steps, lessons []sessionItem
	// screens counts the steps of each screen; there are few.
	screens []screenSteps
}

// sessionItem is a step or a lesson in its session.
type sessionItem struct {
	created    int64 // milliseconds since 1970
	owner, doc uint32
}

type screenSteps struct {
	screen name
	steps  int
}

func newSessionIndex(e *owners) sessionIndex {
	return sessionIndex{
		owners: e, sessions: map[memory.SessionKey]*indexedSession{}, listed: map[string][]*indexedSession{}, loading: true,
	}
}

// put adds a session or replaces the one of its key.
func (s *sessionIndex) put(x *memory.Session) {
	s.change(x.Key(), func(to *indexedSession) {
		to.session, to.stored = *x, true
		to.session.Build, to.session.Launch, to.session.Extra = nil, nil, nil
	})
}

// drop removes the metadata of a session; its steps stay.
func (s *sessionIndex) drop(k memory.SessionKey) {
	s.change(k, func(x *indexedSession) { x.session, x.stored = unknownSession(k), false })
}

// addItem adds a step or lesson to its session.
func (s *sessionIndex) addItem(n, doc uint32) {
	s.each(n, func(x *indexedSession, list *[]sessionItem) {
		p := sessionItem{created: s.owners.all[n].created, owner: n, doc: doc}
		s.docs = max(s.docs, doc+1)
		at := len(*list)
		if !s.loading {
			at, _ = slices.BinarySearchFunc(*list, p, s.older)
		}
		*list = slices.Insert(*list, at, p)
		if list == &x.steps {
			x.countScreen(s.owners.all[n].screen, 1)
		}
	})
}

// removeItem removes a step or lesson from its session; the owner must still exist.
func (s *sessionIndex) removeItem(n uint32) {
	s.each(n, func(x *indexedSession, list *[]sessionItem) {
		at := s.find(*list, n)
		if at < 0 {
			return
		}
		*list = slices.Delete(*list, at, at+1)
		if list == &x.steps {
			x.countScreen(s.owners.all[n].screen, -1)
		}
	})
}

// find returns the index of an owner in a list, or -1. It is not called while Load runs.
func (s *sessionIndex) find(list []sessionItem, n uint32) int {
	at, found := slices.BinarySearchFunc(list, sessionItem{created: s.owners.all[n].created, owner: n}, s.older)
	if !found {
		return -1
	}
	return at
}

// each calls fn with the session of an owner and the list for it, if there is one.
func (s *sessionIndex) each(n uint32, fn func(*indexedSession, *[]sessionItem)) {
	e := &s.owners.all[n]
	if e.session == unnamed {
		return
	}
	switch {
	case e.is(memory.Step):
		s.change(e.sessionKey(), func(x *indexedSession) { fn(x, &x.steps) })
	case e.is(memory.Lesson):
		s.change(e.sessionKey(), func(x *indexedSession) { fn(x, &x.lessons) })
	}
}

// change changes a session with fn, and moves it in listed if its position changed.
func (s *sessionIndex) change(k memory.SessionKey, fn func(*indexedSession)) {
	x := s.sessions[k]
	if x == nil {
		x = &indexedSession{session: unknownSession(k)}
		s.sessions[k] = x
	}
	was, created := x.isListed(), x.session.CreatedAt
	at := -1 // its old index in listed, found before fn changes it
	if was && !s.loading {
		at, _ = slices.BinarySearchFunc(s.listed[k.Project], x, olderSession)
	}
	fn(x)
	is := x.isListed()
	if was != is || !created.Equal(x.session.CreatedAt) {
		s.list(x, was, is, at)
	}
	if !is && len(x.lessons) == 0 {
		delete(s.sessions, k)
	}
}

// list moves a session in listed. at is its old index, -1 if that is not known.
func (s *sessionIndex) list(x *indexedSession, was, is bool, at int) {
	project := x.session.Project
	list := s.listed[project]
	if was {
		if at < 0 {
			at = slices.Index(list, x)
		}
		list = slices.Delete(list, at, at+1)
	}
	if is {
		at := len(list)
		if !s.loading {
			at, _ = slices.BinarySearchFunc(list, x, olderSession)
		}
		list = slices.Insert(list, at, x)
	}
	if s.listed[project] = list; len(list) == 0 {
		delete(s.listed, project)
	}
}

// finishLoad sorts what was added while loading.
func (s *sessionIndex) finishLoad() {
	for _, list := range s.listed {
		slices.SortFunc(list, olderSession)
	}
	for _, x := range s.sessions {
		slices.SortFunc(x.steps, s.older)
		slices.SortFunc(x.lessons, s.older)
	}
	s.loading = false
}

func (s *sessionIndex) older(a, b sessionItem) int {
	if c := cmp.Compare(a.created, b.created); c != 0 {
		return c
	}
	return cmp.Compare(s.owners.all[a.owner].id, s.owners.all[b.owner].id)
}

// olderSession orders sessions by time. Of two of one time, the first by id is last, so
// that it comes first in lists of the newest.
func olderSession(a, b *indexedSession) int {
	return cmp.Or(a.session.CreatedAt.Compare(b.session.CreatedAt), cmp.Compare(b.session.ID, a.session.ID))
}

func unknownSession(k memory.SessionKey) memory.Session {
	return memory.Session{ID: k.ID, Project: k.Project, Bare: true}
}

func (x *indexedSession) isListed() bool { return x.stored || len(x.steps) > 0 }

func (x *indexedSession) countScreen(screen name, n int) {
	at := slices.IndexFunc(x.screens, func(c screenSteps) bool { return c.screen == screen })
	if at < 0 {
		at, x.screens = len(x.screens), append(x.screens, screenSteps{screen: screen})
	}
	if x.screens[at].steps += n; x.screens[at].steps == 0 {
		x.screens = slices.Delete(x.screens, at, at+1)
	}
}

func (x *indexedSession) hasScreen(screen name) bool {
	return slices.ContainsFunc(x.screens, func(c screenSteps) bool { return c.screen == screen })
}

// filter is a session filter with its screen as a name.
type filter struct {
	memory.SessionFilter
	screen name
}

func filterOf(f memory.SessionFilter) *filter { return &filter{f, nameOf(f.Screen)} }

// matches reports whether a filter chooses the session. Only the zero filter chooses a
// session without metadata.
func (x *indexedSession) matches(f *filter) bool {
	if f.IsZero() {
		return true
	}
	m := &x.session
	return !m.Bare &&
		(f.FlowTag == "" || slices.Contains(m.FlowTags, f.FlowTag)) &&
		(f.Tag == "" || slices.Contains(m.Tags, f.Tag)) &&
		(f.GitBranch == "" || m.Git != nil && m.Git.Branch == f.GitBranch) &&
		(f.Since.IsZero() || !m.CreatedAt.Before(f.Since)) &&
		(f.Screen == "" || x.hasScreen(f.screen))
}

// eachMatch calls fn with the sessions of a project that a filter chooses, newest first.
// If project is empty, it searches all projects.
func (s *sessionIndex) eachMatch(project string, f *filter, fn func(*indexedSession)) {
	if project == "" {
		for project := range s.listed {
			if project != "" {
				s.eachMatch(project, f, fn)
			}
		}
		return
	}
	for _, x := range slices.Backward(s.listed[project]) {
		if x.session.CreatedAt.Before(f.Since) {
			return // and so are all that follow
		}
		if x.matches(f) {
			fn(x)
		}
	}
}

// docsOf returns the documents of the steps, or of the lessons, of the sessions that a
// filter chooses.
func (s *sessionIndex) docsOf(kind memory.Kind, project string, f *filter) *roaring.Bitmap {
	// A dense set, not one by one: a filter may choose 100,000 steps.
	set := make([]uint64, (s.docs+63)/64)
	s.eachMatch(project, f, func(x *indexedSession) {
		list := x.steps
		if kind == memory.Lesson {
			list = x.lessons
		}
		for _, p := range list {
			set[p.doc/64] |= 1 << (p.doc % 64)
		}
	})
	return roaring.FromDense(set, false)
}
