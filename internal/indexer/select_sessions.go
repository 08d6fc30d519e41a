package indexer

import (
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/internal/memory"
)

// Selection.Steps speaks of sessions. What it lets through depends on the kind:
//
//   - a step, if its session is chosen and it is on the screen;
//   - a lesson, with a flow tag, branch or screen, if its session is chosen; else
//     with a tag, if it carries the tag itself;
//   - anything else, with a flow tag, branch or screen, never; else as a lesson.
//
// matchSessions and inSessions hold the same rules, for sets and for one entry.

// matchSessions returns the documents that a selection with a filter of sessions
// allows. Sessions are chosen from their metadata first.
func (x *Indexer) matchSessions(sel memory.Selection) *roaring.Bitmap {
	allow := roaring.New()
	kinds := sel.Kinds
	if len(kinds) == 0 {
		kinds = memory.Kinds
	}
	part := func(kinds ...memory.Kind) memory.Selection {
		part := sel
		part.Kinds = kinds
		return part
	}
	if slices.Contains(kinds, memory.Step) {
		steps := part(memory.Step)
		if sel.Steps.Tag != "" {
			steps.Tag = "" // their session's tags decide
		}
		docs := x.match(steps)
		docs.And(x.sessionDocs(memory.Step, sel))
		if sel.Steps.Screen != "" {
			docs.And(x.attrs.Match(index.Clause{Key: attrScreen, Values: []string{sel.Steps.Screen}}))
		}
		allow.Or(docs)
	}
	if choosesLessons(sel.Steps) {
		if slices.Contains(kinds, memory.Lesson) {
			docs := x.match(part(memory.Lesson))
			docs.And(x.sessionDocs(memory.Lesson, sel))
			allow.Or(docs)
		}
		return allow
	}
	others := slices.DeleteFunc(slices.Clone(kinds), func(k memory.Kind) bool { return k == memory.Step })
	if len(others) == 0 {
		return allow
	}
	docs := x.match(part(others...))
	if sel.Steps.Tag != "" {
		docs.And(x.attrs.Match(index.Clause{Key: attrTag, Values: []string{sel.Steps.Tag}}))
	}
	allow.Or(docs)
	return allow
}

// sessionDocs returns the documents of a kind in the sessions that a selection
// chooses.
func (x *Indexer) sessionDocs(kind memory.Kind, sel memory.Selection) *roaring.Bitmap {
	if !x.ready() {
		return roaring.New() // the shelf is not in order yet
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.sessions.docsOf(kind, sel.Project, filterOf(sel.Steps))
}

// choosesLessons says that a filter of sessions narrows lessons to them as well.
func choosesLessons(f memory.SessionFilter) bool {
	return f.FlowTag != "" || f.GitBranch != "" || f.Screen != ""
}

// inSessions says whether an entry is in the sessions asked for. It is called
// with mu held.
func (x *Indexer) inSessions(e *owner, sel *memory.Selection) bool {
	f := &sel.Steps
	if f.IsZero() {
		return true
	}
	switch {
	case e.is(memory.Step):
		return x.chosen(e, sel) && (f.Screen == "" || e.screen.Value() == f.Screen)
	case choosesLessons(*f):
		return e.is(memory.Lesson) && x.chosen(e, sel)
	default:
		return f.Tag == "" || slices.Contains(e.tags, f.Tag)
	}
}

// chosen says whether the session of an entry is. Those of other projects are
// never asked for, though their lessons may be.
func (x *Indexer) chosen(e *owner, sel *memory.Selection) bool {
	if sel.Project != "" && e.project.Value() != sel.Project {
		return false
	}
	s := x.sessions.sessions[e.sessionKey()]
	return s != nil && s.matches(filterOf(sel.Steps))
}

// tagged says whether an entry carries the tag asked for. A step that is asked
// for by its session's tags need not.
func (x *Indexer) tagged(e *owner, sel *memory.Selection) bool {
	return sel.Tag == "" || slices.Contains(e.tags, sel.Tag) || sel.Steps.Tag != "" && e.is(memory.Step)
}
