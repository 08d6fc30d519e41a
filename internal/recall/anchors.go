package recall

import (
	"context"
	"math"
	"slices"

	"github.com/recalld/recalld/internal/memory"
)

// Bounds of looks at the code of lessons.
const (
	// maxAnchorReads bounds the files that are read for the lessons of one answer.
	maxAnchorReads = 32
	// maxAnchorRoots is how many folders of a project are read where the caller is in
	// none of them.
	maxAnchorRoots = 4
	// maxAnchorPlaces is how many other files are read for one anchor.
	maxAnchorPlaces = 3
	// mostlyThere is the share of changed lines up to which a symbol in another file is
	// taken for the one that was there.
	mostlyThere = 0.5
)

// anchorLook compares anchors with the disk, through the gates of code.
type anchorLook struct {
	s     *Service
	ctx   context.Context
	dir   string                          // the caller's
	reads int                             // how many files may still be read
	roots map[string][]string             // by project
	seen  map[string][]memory.AnchorCheck // by lesson
}

func (s *Service) lookAtAnchors(ctx context.Context, dir string, reads int) *anchorLook {
	return &anchorLook{s: s, ctx: ctx, dir: dir, reads: reads, roots: map[string][]string{}, seen: map[string][]memory.AnchorCheck{}}
}

// anchored compares the anchors of a lesson that is about to be shown. It returns the
// worst state, empty without anchors.
func (r *run) anchored(item *memory.Item, anchors []memory.Anchor) memory.AnchorState {
	if len(anchors) == 0 {
		return ""
	}
	if r.anchors == nil {
		r.anchors = r.s.lookAtAnchors(r.code, r.req.Caller.Dir, maxAnchorReads)
	}
	checks, seen := r.anchors.seen[item.ID]
	if !seen {
		checks = r.anchors.check(item.Project, anchors)
		r.anchors.seen[item.ID] = checks
	}
	item.Anchors = checks
	return memory.WorstAnchor(checks)
}

// weakened returns the strength of a candidate, one step less if its code changed or is
// gone, or if it is a lesson from history that no success confirms. What is likely stays so
// in an answer without lines: otherwise nothing of it would be shown.
func (r *run) weakened(c *candidate) memory.Strength {
	switch {
	case c.unproven && c.strength == memory.Sure:
		return memory.Likely
	case !c.factors.Anchor.Outdated():
	case c.strength == memory.Sure:
		return memory.Likely
	case c.strength == memory.Likely && r.hasLines():
		return memory.Maybe
	}
	return c.strength
}

// check compares the anchors of one lesson of a project. Of several folders the one that
// has most of an anchor counts. Nil if there is nothing to compare, or nothing to read with.
func (l *anchorLook) check(project string, anchors []memory.Anchor) []memory.AnchorCheck {
	if len(anchors) == 0 || l.s.opts.Anchors == nil {
		return nil
	}
	roots, known := l.roots[project]
	if !known {
		roots = l.s.opts.Roots(project, l.dir)
		roots = roots[:min(len(roots), maxAnchorRoots)]
		l.roots[project] = roots
	}
	out := make([]memory.AnchorCheck, len(anchors))
	for i, a := range anchors {
		out[i] = memory.AnchorCheck{Path: a.Path, Symbol: a.Symbol, State: memory.AnchorUnknown}
	}
	for n, root := range roots {
		for i, check := range l.at(root, project, anchors) {
			if n == 0 || out[i].State == memory.AnchorUnknown || better(check, out[i]) {
				out[i] = check
			}
		}
		if memory.WorstAnchor(out) == memory.AnchorUnchanged {
			break
		}
	}
	for i := range out {
		c := &out[i]
		c.Path, c.Symbol, c.MovedTo = l.s.clean(c.Path), l.s.clean(c.Symbol), l.s.clean(c.MovedTo)
		c.Changed = math.Round(c.Changed*100) / 100
	}
	return out
}

// better says that a folder has more of an anchor than another one.
func better(a, b memory.AnchorCheck) bool {
	if a.State == b.State {
		return a.Changed < b.Changed
	}
	return a.State != memory.AnchorUnknown && memory.WorstAnchor([]memory.AnchorCheck{a, b}) == b.State
}

// at compares anchors with one folder.
func (l *anchorLook) at(root, project string, anchors []memory.Anchor) []memory.AnchorCheck {
	out := make([]memory.AnchorCheck, len(anchors))
	for i, a := range anchors {
		if out[i].State != "" {
			continue // read with an earlier one of its file
		}
		var which []int
		var same []memory.Anchor
		for i, b := range anchors {
			if b.Path == a.Path {
				which, same = append(which, i), append(same, b)
			}
		}
		found, reason := l.compare(root, a.Path, same)
		for n, i := range which {
			out[i] = memory.AnchorCheck{Path: a.Path, Symbol: anchors[i].Symbol}
			switch {
			case reason == "":
				out[i].State, out[i].Changed = stateOf(anchors[i], found[n])
			case reason == memory.Gone || reason == memory.Outside:
				out[i].State = memory.AnchorGone
			default:
				out[i].State = memory.AnchorUnknown
			}
			if out[i].State.Outdated() {
				l.elsewhere(&out[i], root, project, anchors[i])
			}
		}
	}
	return out
}

// wholeChanged is the share of its lines from which a whole file counts as changed. A
// lesson about a file is about no line of it in particular.
const wholeChanged = 0.25

// stateOf turns what a file has of an anchor into a state.
func stateOf(a memory.Anchor, f memory.AnchorFound) (memory.AnchorState, float64) {
	switch {
	case f.Same:
		return memory.AnchorUnchanged, 0
	case f.Gone:
		return memory.AnchorGone, 0
	case a.Whole && f.Changed < wholeChanged:
		return memory.AnchorUnchanged, f.Changed
	}
	return memory.AnchorChanged, f.Changed
}

// compare reads one file. The reason says why it could not.
func (l *anchorLook) compare(root, path string, anchors []memory.Anchor) ([]memory.AnchorFound, memory.Reason) {
	if l.reads == 0 {
		return nil, memory.TooSlow
	}
	l.reads--
	found, err := look(l.ctx, l.s.gates, memory.Location{Root: root, Path: path}, func(ctx context.Context, at memory.Location) ([]memory.AnchorFound, error) {
		return l.s.opts.Anchors.Compare(ctx, at, anchors)
	})
	return found, gateReason(l.ctx, err)
}

// elsewhere looks for an anchor in the other files of a folder that have its text, or
// declare its symbol, according to the index.
func (l *anchorLook) elsewhere(check *memory.AnchorCheck, root, project string, a memory.Anchor) {
	sel := memory.Selection{Project: project, Kinds: []memory.Kind{memory.Chunk}}
	places := l.s.opts.Corpus.Places(a.Code.Doc, sel)
	if name, ok := symbolName(a.Symbol); ok {
		for _, d := range l.s.opts.Corpus.Definitions(name, sel) {
			if d.Exact && d.Within {
				places = append(places, d.Places...)
			}
		}
	}
	var tried []string
	for _, place := range places {
		if len(tried) == maxAnchorPlaces || place.File.Path == a.Path || slices.Contains(tried, place.File.Path) {
			continue
		}
		at, err := l.s.opts.Corpus.Location(place)
		if err != nil || at.Root != root {
			continue
		}
		tried = append(tried, place.File.Path)
		found, reason := l.compare(root, at.Path, []memory.Anchor{a})
		switch {
		case reason != "":
		case found[0].Same:
			check.State, check.Changed, check.MovedTo = memory.AnchorMoved, 0, found[0].MovedTo(at.Path)
			return
		case found[0].Changed <= mostlyThere && (check.State == memory.AnchorGone || found[0].Changed < check.Changed):
			check.State, check.Changed, check.MovedTo = memory.AnchorChanged, found[0].Changed, at.Path
		}
	}
}
