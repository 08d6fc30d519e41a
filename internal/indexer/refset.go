package indexer

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/internal/memory"
)

// maxRefs is how many references make a document crowded: what is needed of fewer
// is found by looking at each. A text that an agent reads in every session has
// thousands.
//
// Counting for every document would cost memory for the many that have one reference;
// looking at each reference took 263 ms a write for a step of 3,000 sessions.
const maxRefs = 32

// maxCandidates is how many places of one text an answer is given, the newest of them: the
// most that any answer shows is 100 steps.
const maxCandidates = 100

// refSet holds the references to a crowded document, ordered and counted, so that one
// more or less costs the same however many there are.
type refSet struct {
	len int
	// byProject are the references by project, newest first; those that must not be
	// recalled are the last.
	byProject map[name]*index.Sorted[datedRef]
	// counts are the references that carry an attribute, of those that may be recalled.
	counts map[index.Attr]int
	paths  *index.Sorted[string]
	// changed are the attributes but for paths that came or went since they were
	// handed to the attributes.
	changed map[index.Attr]struct{}
	// setPaths are the paths that the attributes have, or everywhere; nil before they
	// were given any of the document's.
	setPaths []string
}

// datedRef is a reference with the time of its entry, see recalledAt.
type datedRef struct {
	at int64
	ref
}

func newerRef(a, b datedRef) int {
	return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(a.owner, b.owner), cmp.Compare(a.ord, b.ord))
}

func newRefSet() *refSet {
	return &refSet{
		byProject: map[name]*index.Sorted[datedRef]{}, counts: map[index.Attr]int{}, paths: index.NewSorted(cmp.Compare[string]),
		changed: map[index.Attr]struct{}{},
	}
}

func (c *refSet) add(r ref, e *owner) {
	list := c.byProject[e.project]
	if list == nil {
		list = index.NewSorted(newerRef)
		c.byProject[e.project] = list
	}
	if list.Insert(datedRef{e.recalledAt(), r}) {
		c.len++
		c.count(e, 1)
	}
}

// remove takes out the references to an entry.
func (c *refSet) remove(entry uint32, e *owner) {
	list := c.byProject[e.project]
	if list == nil {
		return
	}
	var gone []datedRef
	for r := range list.From(datedRef{e.recalledAt(), ref{owner: entry}}) {
		if r.owner != entry {
			break
		}
		gone = append(gone, r)
	}
	for _, r := range gone {
		list.Delete(r)
		c.len--
		c.count(e, -1)
	}
	if list.Len() == 0 {
		delete(c.byProject, e.project)
	}
}

func (c *refSet) count(e *owner, by int) {
	if e.withdrawn {
		return
	}
	e.attributes(func(a index.Attr) {
		was := c.counts[a]
		if c.counts[a] = was + by; was+by == 0 {
			delete(c.counts, a)
		}
		switch {
		case was != 0 && was+by != 0:
		case a.Key != attrPath:
			c.changed[a] = struct{}{}
		case by > 0:
			c.paths.Insert(a.Value)
		default:
			c.paths.Delete(a.Value)
		}
	})
}

// newest is when the newest entry that may be recalled was created, 0 for none.
func (c *refSet) newest() (at int64) {
	for _, list := range c.byProject {
		for r := range list.All() {
			at = max(at, r.at)
			break
		}
	}
	return at
}

// first returns the first n paths.
func (c *refSet) first(n int) []string {
	first := make([]string, 0, n)
	for p := range c.paths.All() {
		if len(first) == n {
			break
		}
		first = append(first, p)
	}
	return first
}

// setAttributes brings the attributes of a document up to date with its references.
func (c *refSet) setAttributes(num uint32, attrs *index.Attributes) {
	paths := []string{everywhere}
	if c.paths.Len() < maxPaths {
		paths = c.first(maxPaths)
	}
	of := func(values []string, but []string) (out []index.Attr) {
		for _, v := range values {
			if !slices.Contains(but, v) {
				out = append(out, index.Attr{Key: attrPath, Value: v})
			}
		}
		return out
	}
	if c.setPaths == nil {
		all := of(paths, nil)
		for a := range maps.Keys(c.counts) {
			if a.Key != attrPath {
				all = append(all, a)
			}
		}
		attrs.Set(num, all)
	} else {
		add, remove := of(paths, c.setPaths), of(c.setPaths, paths)
		for a := range c.changed {
			if c.counts[a] > 0 {
				add = append(add, a)
			} else {
				remove = append(remove, a)
			}
		}
		attrs.Change(num, add, remove)
	}
	c.setPaths = paths
	clear(c.changed)
}

// newest returns the references of a document that are wanted, at most n: of a crowd
// the newest of the selection's project, and if they are fewer, of the others. What is
// wanted must be within the selection. It is called with mu held.
func (x *Indexer) newest(num uint32, d *document, sel *memory.Selection, n int, wanted func(ref, *owner) bool) []ref {
	switch {
	case d.set == nil:
		var out []ref
		for _, r := range d.refs {
			if len(out) < n && wanted(r, &x.owners.all[r.owner]) {
				out = append(out, r)
			}
		}
		return out
	case sel.Session != "":
		return x.newestIn(num, sel.Session, n, wanted)
	}
	var since int64
	if !sel.Since.IsZero() {
		since = sel.Since.UnixMilli()
	}
	var out []datedRef
	take := func(list *index.Sorted[datedRef], n int) {
		for r := range list.All() {
			e := &x.owners.all[r.owner]
			if n == 0 || e.withdrawn || e.created < since {
				return // as are all that follow
			}
			if wanted(r.ref, e) {
				out = append(out, r)
				n--
			}
		}
	}
	own := nameOf(sel.Project)
	if list := d.set.byProject[own]; list != nil {
		take(list, n)
	}
	if left := n - len(out); left > 0 {
		first := len(out)
		for project, list := range d.set.byProject {
			if project != own && (sel.Project == "" || sel.AllLessons || project.Value() == sel.Also) {
				take(list, left)
			}
		}
		slices.SortFunc(out[first:], newerRef)
	}
	return refsOf(out, n)
}

// newestIn is newest for a selection of one session, which may hold few of many.
func (x *Indexer) newestIn(num uint32, session string, n int, wanted func(ref, *owner) bool) []ref {
	var out []datedRef
	for at := range x.owners.ofSession(session) {
		r, e := ref{owner: at}, &x.owners.all[at]
		if e.doc == num && wanted(r, e) {
			out = append(out, datedRef{e.recalledAt(), r})
		}
	}
	slices.SortFunc(out, newerRef)
	return refsOf(out, n)
}

// refsOf returns the first n references.
func refsOf(crowded []datedRef, n int) []ref {
	refs := make([]ref, 0, min(len(crowded), n))
	for _, r := range crowded[:min(len(crowded), n)] {
		refs = append(refs, r.ref)
	}
	return refs
}

// all yields the references to a document.
func (d *document) all() iter.Seq[ref] {
	if d.set == nil {
		return slices.Values(d.refs)
	}
	return func(yield func(ref) bool) {
		for _, list := range d.set.byProject {
			for r := range list.All() {
				if !yield(r.ref) {
					return
				}
			}
		}
	}
}
