package indexer

import (
	"cmp"
	"iter"
	"slices"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/internal/memory"
)

// maxRefs is how many references are kept as a plain list, which every use scans. A text
// that an agent reads in every session has thousands.
//
// A counted set for every document would cost memory for the many that have one
// reference; scanning a step of 3,000 sessions took 263 ms a write.
const maxRefs = 32

// maxCandidates is how many references of one text an answer gets, the newest: no answer
// shows more than 100 steps.
const maxCandidates = 100

// refSet holds the references of a document that has many, ordered and counted, so that
// adding and removing one costs the same however many there are.
type refSet struct {
	len int
	// byProject has the references by project, newest first; those that must not be
	// recalled are last.
	byProject map[name]*index.Sorted[datedRef]
	// counts has the number of references with an attribute, of those that may be recalled.
	counts map[index.Attr]int
	paths  *index.Sorted[string]
	// changed are the attributes, without paths, that were added or removed since the last
	// setAttributes.
	changed map[index.Attr]struct{}
	// setPaths are the paths among the document's attributes; nil before the first
	// setAttributes.
	setPaths []string
}

// datedRef is a reference with the time of its owner, see owner.recalledAt.
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

// remove removes the references to an owner.
func (c *refSet) remove(n uint32, e *owner) {
	list := c.byProject[e.project]
	if list == nil {
		return
	}
	var gone []datedRef
	for r := range list.From(datedRef{e.recalledAt(), ref{owner: n}}) {
		if r.owner != n {
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

// newest returns when the newest owner that may be recalled was created, 0 if there is
// none.
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

// setAttributes updates the attributes of a document.
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
		for a := range c.counts {
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

// newest returns the references of a document that are wanted, at most n. For a refSet
// these are the newest of the selection's project, then the newest of other projects.
// wanted must accept only what the selection allows. It is called with mu held.
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
				return // and so are all that follow
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

// newestIn is newest for a selection of one session.
func (x *Indexer) newestIn(num uint32, session string, n int, wanted func(ref, *owner) bool) []ref {
	var out []datedRef
	for at := range x.owners.sessions.of(session) {
		r, e := ref{owner: at}, &x.owners.all[at]
		if e.doc == num && wanted(r, e) {
			out = append(out, datedRef{e.recalledAt(), r})
		}
	}
	slices.SortFunc(out, newerRef)
	return refsOf(out, n)
}

// refsOf returns the first n references.
func refsOf(dated []datedRef, n int) []ref {
	dated = dated[:min(len(dated), n)]
	refs := make([]ref, len(dated))
	for i, r := range dated {
		refs[i] = r.ref
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
