package indexer

import (
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/internal/memory"
)

// Selection.Steps filters by session. What it allows depends on the kind:
//
//   - a step, if its session is chosen and it is on the screen;
//   - a lesson, with a flow tag, branch or screen, if its session is chosen; else
//     with a tag, if the lesson has the tag itself;
//   - anything else, with a flow tag, branch or screen, never; else as a lesson.
//
// matchSessions and inSessions implement the same rules, for sets and for one owner.

// matchSessions returns the documents that a selection with a session filter allows.
// Sessions are chosen from their metadata first.
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
			steps.Tag = "" // the tags of their session decide
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
	if !x.Loaded() {
		return roaring.New() // the sessions are not sorted yet
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.sessions.docsOf(kind, sel.Project, filterOf(sel.Steps))
}

// choosesLessons reports whether a session filter also applies to lessons.
func choosesLessons(f memory.SessionFilter) bool {
	return f.FlowTag != "" || f.GitBranch != "" || f.Screen != ""
}

// inSessions reports whether the session filter allows an owner. It is called with mu
// held.
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

// chosen reports whether the session of an owner is chosen. Sessions of other projects
// never are, though their lessons may be selected.
func (x *Indexer) chosen(e *owner, sel *memory.Selection) bool {
	if sel.Project != "" && e.project.Value() != sel.Project {
		return false
	}
	s := x.sessions.sessions[e.sessionKey()]
	return s != nil && s.matches(filterOf(sel.Steps))
}

// tagged reports whether an owner has the tag asked for. A step need not have it if its
// session is chosen by that tag.
func (x *Indexer) tagged(e *owner, sel *memory.Selection) bool {
	return sel.Tag == "" || slices.Contains(e.tags, sel.Tag) || sel.Steps.Tag != "" && e.is(memory.Step)
}
