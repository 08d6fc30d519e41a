package indexer

import (
	"cmp"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/recalld/recalld/internal/memory"
)

// shelf holds the sessions with what was said in them. Its owner locks.
type shelf struct {
	entries  *entries // whose numbers are placed
	sessions map[memory.SessionKey]*shelved
	// listed are the sessions of each project that are known or have a step,
	// oldest first: the newest, which come and go, are at the end.
	listed map[string][]*shelved
	// loading leaves all lists unordered until settle orders them at once.
	loading bool
	// docs is one more than the highest document that was placed.
	docs uint32
}

// shelved is one session. It is kept as long as it is stored or a record names
// it.
type shelved struct {
	// session lacks Build, Launch and Extra, which nothing is chosen by. Bare
	// and without a time where no more than a name is known.
	session memory.Session
	stored  bool
	// steps and lessons are ordered by time, then id.
	steps, lessons []placed
	// screens counts the steps of each; they are few.
	screens []screenSteps
}

// placed is a step or a lesson in its session.
type placed struct {
	created    int64 // milliseconds since 1970
	entry, doc uint32
}

type screenSteps struct {
	screen name
	steps  int
}

func newShelf(e *entries) shelf {
	return shelf{
		entries: e, sessions: map[memory.SessionKey]*shelved{}, listed: map[string][]*shelved{}, loading: true,
	}
}

// put takes a session in, in place of the one of its key.
func (s *shelf) put(x *memory.Session) {
	s.change(x.Key(), func(to *shelved) {
		to.session, to.stored = *x, true
		to.session.Build, to.session.Launch, to.session.Extra = nil, nil, nil
	})
}

// drop forgets a session; its steps, if any are left, keep their places.
func (s *shelf) drop(k memory.SessionKey) {
	s.change(k, func(x *shelved) { x.session, x.stored = unknown(k), false })
}

// place puts a step or lesson that names a session into it.
func (s *shelf) place(entry, doc uint32) {
	s.each(entry, func(x *shelved, list *[]placed) {
		p := placed{created: s.entries.all[entry].created, entry: entry, doc: doc}
		s.docs = max(s.docs, doc+1)
		at := len(*list)
		if !s.loading {
			at, _ = slices.BinarySearchFunc(*list, p, s.older)
		}
		*list = slices.Insert(*list, at, p)
		if list == &x.steps {
			x.countScreen(s.entries.all[entry].screen, 1)
		}
	})
}

// remove takes out what place put in; the entry must still be there.
func (s *shelf) remove(entry uint32) {
	s.each(entry, func(x *shelved, list *[]placed) {
		at := s.find(*list, entry)
		if at < 0 {
			return
		}
		*list = slices.Delete(*list, at, at+1)
		if list == &x.steps {
			x.countScreen(s.entries.all[entry].screen, -1)
		}
	})
}

// find returns where an entry is in a list, -1 if it is not.
func (s *shelf) find(list []placed, entry uint32) int {
	if s.loading {
		return slices.IndexFunc(list, func(p placed) bool { return p.entry == entry })
	}
	at, found := slices.BinarySearchFunc(list, placed{created: s.entries.all[entry].created, entry: entry}, s.older)
	if !found {
		return -1
	}
	return at
}

// each calls fn with the session that an entry names and the list that the entry
// belongs to, if there is one.
func (s *shelf) each(entry uint32, fn func(*shelved, *[]placed)) {
	e := &s.entries.all[entry]
	if e.session == unnamed {
		return
	}
	switch {
	case e.is(memory.Step):
		s.change(e.sessionKey(), func(x *shelved) { fn(x, &x.steps) })
	case e.is(memory.Lesson):
		s.change(e.sessionKey(), func(x *shelved) { fn(x, &x.lessons) })
	}
}

// change has fn change a session, and lists it where it belongs afterwards.
func (s *shelf) change(k memory.SessionKey, fn func(*shelved)) {
	x := s.sessions[k]
	if x == nil {
		x = &shelved{session: unknown(k)}
		s.sessions[k] = x
	}
	was, created := x.isListed(), x.session.CreatedAt
	at := -1 // where it is listed, which is found by what it was
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

// list puts a session where it belongs. It was listed at a place, -1 if that is to be
// looked for.
func (s *shelf) list(x *shelved, was, is bool, at int) {
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

// settle orders what came in any order while loading.
func (s *shelf) settle() {
	for _, list := range s.listed {
		slices.SortFunc(list, olderSession)
	}
	for _, x := range s.sessions {
		slices.SortFunc(x.steps, s.older)
		slices.SortFunc(x.lessons, s.older)
	}
	s.loading = false
}

func (s *shelf) older(a, b placed) int {
	if c := cmp.Compare(a.created, b.created); c != 0 {
		return c
	}
	return cmp.Compare(s.entries.all[a.entry].id, s.entries.all[b.entry].id)
}

// olderSession puts, of two as old, the first by id last, so that it comes first
// where the newest do.
func olderSession(a, b *shelved) int {
	return cmp.Or(a.session.CreatedAt.Compare(b.session.CreatedAt), cmp.Compare(b.session.ID, a.session.ID))
}

func unknown(k memory.SessionKey) memory.Session {
	return memory.Session{ID: k.ID, Project: k.Project, Bare: true}
}

func (x *shelved) isListed() bool { return x.stored || len(x.steps) > 0 }

func (x *shelved) countScreen(screen name, n int) {
	at := slices.IndexFunc(x.screens, func(c screenSteps) bool { return c.screen == screen })
	if at < 0 {
		at, x.screens = len(x.screens), append(x.screens, screenSteps{screen: screen})
	}
	if x.screens[at].steps += n; x.screens[at].steps == 0 {
		x.screens = slices.Delete(x.screens, at, at+1)
	}
}

func (x *shelved) hasScreen(screen name) bool {
	return slices.ContainsFunc(x.screens, func(c screenSteps) bool { return c.screen == screen })
}

// filter is a filter of sessions with its screen as entries have it.
type filter struct {
	memory.SessionFilter
	screen name
}

func filterOf(f memory.SessionFilter) *filter { return &filter{f, nameOf(f.Screen)} }

// passes says whether a filter chooses the session. One of which only steps are
// known is chosen by none but the zero filter.
func (x *shelved) passes(f *filter) bool {
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

// chosen calls fn with the sessions of a project that a filter chooses, newest
// first; without a project, with those of all.
func (s *shelf) chosen(project string, f *filter, fn func(*shelved)) {
	if project == "" {
		for project := range s.listed {
			if project != "" {
				s.chosen(project, f, fn)
			}
		}
		return
	}
	for _, x := range slices.Backward(s.listed[project]) {
		if x.session.CreatedAt.Before(f.Since) {
			return // as are all that follow
		}
		if x.passes(f) {
			fn(x)
		}
	}
}

// docsOf returns the documents of the steps, or of the lessons, of the sessions
// that a filter chooses.
func (s *shelf) docsOf(kind memory.Kind, project string, f *filter) *roaring.Bitmap {
	// As words, not one by one: a filter may choose 100,000 steps.
	set := make([]uint64, (s.docs+63)/64)
	s.chosen(project, f, func(x *shelved) {
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
