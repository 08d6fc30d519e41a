package indexer

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/internal/memory"
)

// The methods that list sessions and their steps return nothing until Load has ended; see
// Loaded.

// Sessions returns the sessions of a project that a filter chooses, newest first by
// CreatedAt, then by id. They have no Build, Launch and Extra, and the caller must not
// change what they point to. The zero filter also chooses bare sessions.
func (x *Indexer) Sessions(project string, f memory.SessionFilter) []memory.Session {
	if project == "" || !x.Loaded() {
		return nil
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	var found []*indexedSession
	x.sessions.eachMatch(project, filterOf(f), func(s *indexedSession) { found = append(found, s) })
	out := make([]memory.Session, len(found)) // sessions are large: copied once
	for i, s := range found {
		out[i] = s.session
	}
	return out
}

// Session returns a session as Sessions does, the number of its steps, and whether it
// exists.
func (x *Indexer) Session(project, id string) (memory.Session, int, bool) {
	if !x.Loaded() {
		return memory.Session{}, 0, false
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	s := x.sessions.sessions[memory.SessionKey{Project: project, ID: id}]
	if s == nil || !s.isListed() {
		return memory.Session{}, 0, false
	}
	return s.session, len(s.steps), true
}

// SessionSteps returns the ids of a session's steps, oldest first, then by id.
func (x *Indexer) SessionSteps(project, id string) []string {
	if !x.Loaded() {
		return nil
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	s := x.sessions.sessions[memory.SessionKey{Project: project, ID: id}]
	if s == nil {
		return nil
	}
	return x.sessions.ids(s.steps)
}

// LastSteps returns the ids of the newest n steps of sessions, newest first. Steps of one
// millisecond are ordered by id, the last first. Nil sessions means all of the project, an
// empty screen means any.
func (x *Indexer) LastSteps(project string, sessions []string, screen string, n int) []string {
	if n <= 0 || project == "" || !x.Loaded() {
		return nil
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	// A heap of the sessions by their newest step: the cost grows with the number of
	// sessions and with n, not with the number of steps.
	latest := latest{sessions: &x.sessions, screen: nameOf(screen)}
	if sessions == nil {
		latest.cursors = make([]cursor, 0, len(x.sessions.listed[project]))
		for _, s := range x.sessions.listed[project] {
			latest.add(s)
		}
	} else {
		for _, id := range slices.Compact(slices.Sorted(slices.Values(sessions))) {
			if s := x.sessions.sessions[memory.SessionKey{Project: project, ID: id}]; s != nil {
				latest.add(s)
			}
		}
	}
	heap.Init(&latest)
	var ids []string
	for len(ids) < n && len(latest.cursors) > 0 {
		c := &latest.cursors[0]
		if e := &x.owners.all[c.step.owner]; latest.screen == unnamed || latest.screen == e.screen {
			ids = append(ids, e.id)
		}
		if c.back() {
			heap.Fix(&latest, 0)
		} else {
			heap.Pop(&latest)
		}
	}
	return ids
}

// latest is a heap of sessions; the one with the newest step is on top.
type latest struct {
	sessions *sessionIndex
	screen   name // of the wanted steps; unnamed means any
	cursors  []cursor
}

// cursor is a position in the steps of a session, moving from the newest to the oldest.
type cursor struct {
	step  sessionItem
	steps []sessionItem // before it, oldest first
}

func (l *latest) add(s *indexedSession) {
	if l.screen != unnamed && !s.hasScreen(l.screen) {
		return
	}
	if c := (cursor{steps: s.steps}); c.back() {
		l.cursors = append(l.cursors, c)
	}
}

// back moves a cursor to the step before it, on any screen: the screen is checked when
// the cursor comes to the top. It reports whether there is such a step.
func (c *cursor) back() bool {
	if len(c.steps) == 0 {
		return false
	}
	last := len(c.steps) - 1
	c.step, c.steps = c.steps[last], c.steps[:last]
	return true
}

func (l *latest) Len() int { return len(l.cursors) }
func (l *latest) Less(i, j int) bool {
	return l.sessions.older(l.cursors[i].step, l.cursors[j].step) > 0
}
func (l *latest) Swap(i, j int) { l.cursors[i], l.cursors[j] = l.cursors[j], l.cursors[i] }
func (l *latest) Push(c any)    { l.cursors = append(l.cursors, c.(cursor)) }

func (l *latest) Pop() any {
	last := len(l.cursors) - 1
	c := l.cursors[last]
	l.cursors = l.cursors[:last]
	return c
}

// maxFingerprinted bounds the lessons, and the steps, found for one error: twice what an
// answer can hold, since some may be dropped later.
const maxFingerprinted = 100

// Fingerprinted returns the lessons and steps within a selection that are about one of
// these errors: lessons before steps, in the order of the fingerprints, the newest first,
// and at most 100 of either.
func (x *Indexer) Fingerprinted(fingerprints []string, sel memory.Selection) []memory.Candidate {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var lessons, steps []memory.Candidate
	seen := map[uint32]bool{} // owners
	for _, fp := range fingerprints {
		l, s := len(lessons), len(steps)
		docs := x.attrs.Match(index.Clause{Key: attrError, Values: []string{fp}})
		for num := range roaring.Values(docs) {
			d, _ := x.docs.Get(num)
			id, _ := x.numbers.ID(num)
			add := func(to []memory.Candidate, lesson bool) []memory.Candidate {
				for _, r := range x.newest(num, &d, &sel, maxFingerprinted, func(r ref, e *owner) bool {
					return e.is(memory.Lesson) == lesson && !seen[r.owner] && slices.Contains(e.fingerprints, fp) && x.selected(e, &sel)
				}) {
					seen[r.owner] = true
					to = append(to, x.owners.all[r.owner].candidate(id, r.ord))
				}
				return to
			}
			lessons, steps = add(lessons, true), add(steps, false)
		}
		slices.SortFunc(lessons[l:], newerCandidate)
		slices.SortFunc(steps[s:], newerCandidate)
	}
	return append(lessons[:min(len(lessons), maxFingerprinted)], steps[:min(len(steps), maxFingerprinted)]...)
}

func newerCandidate(a, b memory.Candidate) int {
	return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(a.ID, b.ID))
}
