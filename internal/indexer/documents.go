package indexer

import (
	"hash/fnv"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/index/lexical"
	"github.com/recalld/recalld/internal/memory"
)

// document is what is known of one distinct text.
type document struct {
	// refs are the references to it in the order in which they came, or nil where
	// they are many: then they are the crowd's.
	refs []ref
	set  *refSet
	// paths are the places whose words the lexical index holds as the extra
	// field, joined; it is analysed again only when they change.
	paths string
	// names is a hash of the names that the lexical index holds of it, see namesOf.
	names uint64
	// newest is the created of the newest entry that may be recalled: of a text in
	// one place a filter by time need not look further.
	newest int64
	// indexed says that the lexical index holds the text.
	indexed bool
}

// A document at more places than this carries the path everywhere instead of
// theirs: a text that lies in ten thousand files would otherwise take as many
// attributes, made anew with every one of them.
const (
	maxPaths   = 32
	everywhere = "\x00"
)

// The attributes that a filter can ask for.
const (
	attrKind    = "kind"
	attrProject = "project"
	attrRepo    = "repo"
	attrLang    = "lang"
	attrTag     = "tag"
	attrPath    = "path"
	attrScreen  = "screen"
	attrError   = "error" // a fingerprint
	// attrFollowed is that of a record which was followed from a repository's file, and
	// attrShared that of a lesson which was not: other projects may see it.
	attrFollowed = "followed"
	attrShared   = "shared"
)

// The functions below are called with mu held.

func (x *Indexer) addRecord(r *memory.Record) uint32 {
	n := x.owners.add(recordOwner(r))
	num := x.reference(r.Doc, ref{owner: n})
	x.owners.all[n].doc = num
	x.sessions.addItem(n, num)
	return num
}

func (x *Indexer) dropRecord(r *memory.Record, touched map[uint32]memory.DocID) {
	n, ok := x.owners.records[r.ID]
	if !ok {
		return
	}
	if num, ok := x.numbers.Lookup(r.Doc); ok {
		x.dereference(num, n)
		touched[num] = r.Doc
	}
	x.sessions.removeItem(n)
	x.owners.drop(n)
}

// addFile returns the numbers of the chunks' documents.
func (x *Indexer) addFile(f *memory.File) []uint32 {
	n := x.owners.add(fileOwner(f))
	x.fileNames.put(n, &x.owners.all[n], f.Head)
	nums := make([]uint32, len(f.Chunks))
	for i, c := range f.Chunks {
		nums[i] = x.reference(c.Doc, ref{owner: n, ord: uint32(i)})
	}
	return nums
}

func (x *Indexer) dropFile(f *memory.File, touched map[uint32]memory.DocID) {
	n, ok := x.owners.files[memory.FileKey{Sandbox: f.Sandbox, Path: f.Path}]
	if !ok {
		return
	}
	for _, c := range f.Chunks {
		if num, ok := x.numbers.Lookup(c.Doc); ok {
			x.dereference(num, n)
			touched[num] = c.Doc
		}
	}
	x.fileNames.drop(n, &x.owners.all[n])
	x.owners.drop(n)
}

func (x *Indexer) reference(id memory.DocID, r ref) uint32 {
	num, _ := x.numbers.Number(id)
	d, _ := x.docs.Get(num)
	e := &x.owners.all[r.owner]
	if d.set == nil && len(d.refs) == maxRefs {
		d.set = newRefSet()
		for _, r := range d.refs {
			d.set.add(r, &x.owners.all[r.owner])
		}
		d.refs = nil
	}
	if d.set != nil {
		d.set.add(r, e)
	} else {
		d.refs = append(d.refs, r)
	}
	x.setNewest(num, &d, max(d.newest, e.recalledAt()))
	x.docs.Set(num, d)
	return num
}

// dereference removes the references from a document to an entry, which must still
// be there.
func (x *Indexer) dereference(num, entry uint32) {
	d, ok := x.docs.Get(num)
	if !ok {
		return
	}
	e := &x.owners.all[entry]
	newest := int64(0)
	if d.set != nil {
		d.set.remove(entry, e)
		newest = d.set.newest()
	} else {
		d.refs = slices.DeleteFunc(d.refs, func(r ref) bool { return r.owner == entry })
		for _, r := range d.refs {
			newest = max(newest, x.owners.all[r.owner].recalledAt())
		}
	}
	x.setNewest(num, &d, newest)
	x.docs.Set(num, d)
}

// setNewest sets when the newest entry of a document was created.
func (x *Indexer) setNewest(num uint32, d *document, newest int64) {
	if d.newest == newest {
		return
	}
	if d.newest != 0 {
		x.recency.Remove(num, d.newest)
	}
	if newest != 0 {
		x.recency.Add(num, newest)
	}
	d.newest = newest
}

// recalledAt is when an entry was created, or 0 if it must not be recalled.
func (e *owner) recalledAt() int64 {
	if e.withdrawn {
		return 0
	}
	return max(e.created, 0)
}

// drop forgets a document. It is called without mu.
func (x *Indexer) drop(num uint32) {
	x.lexical.Delete(num)
	x.attrs.Delete(num) // before its vectors, see apply
	x.collections.drop(num)
	x.mu.Lock()
	defer x.mu.Unlock()
	if d, ok := x.docs.Get(num); ok {
		x.setNewest(num, &d, 0)
	}
	x.several.Remove(num)
	x.mixed.Remove(num)
	x.docs.Delete(num)
	x.numbers.Free(num)
}

// lexicalFields are what the lexical index is to hold of a document.
type lexicalFields struct {
	doc         uint32
	text, paths index.Terms
}

// refresh brings a document's attributes and words up to date with its
// references. encoded are its terms; nil when it may be indexed already. It is called
// without mu.
func (x *Indexer) refresh(num uint32, id memory.DocID, encoded []byte) {
	if w, changed := x.describe(num, id, encoded); changed {
		x.lexical.UpsertFields(num, w.text, w.paths)
	}
}

// describe brings a document's attributes up to date and returns its words if
// the lexical index does not hold them. It is called without mu: nobody else writes,
// and readers wait for what is copied only, not for words to be read.
func (x *Indexer) describe(num uint32, id memory.DocID, encoded []byte) (w lexicalFields, changed bool) {
	d, ok := x.docs.Get(num)
	if !ok {
		return w, false
	}
	paths := x.setAttributes(num, &d)
	if d.indexed && paths == d.paths && encoded == nil {
		return w, false
	}
	if encoded == nil {
		var err error
		if encoded, err = x.store.Terms(id); err != nil {
			x.opts.Logger.Error("terms are missing", "part", "indexer", "document", id, "error", err)
			return w, false
		}
	}
	terms, err := lexical.DecodeTerms(encoded)
	if err != nil {
		x.opts.Logger.Error("terms are damaged", "part", "indexer", "document", id, "error", err)
		return w, false
	}
	names := namesOf(terms)
	if d.indexed && paths == d.paths && names == d.names {
		return w, false
	}
	w = lexicalFields{doc: num, text: terms}
	if paths != "" {
		w.paths = lexical.Analyze(paths)
	}
	d.paths, d.names, d.indexed = paths, names, true
	x.mu.Lock()
	defer x.mu.Unlock()
	x.docs.Set(num, d)
	return w, true
}

// setAttributes brings the attributes of a document up to date and returns the paths whose
// lexicalFields are searched.
func (x *Indexer) setAttributes(num uint32, d *document) string {
	x.mu.Lock()
	defer x.mu.Unlock()
	if d.set != nil {
		d.set.setAttributes(num, &x.attrs)
		x.several.Add(num)
		x.mixed.Add(num) // or nearly always
		return strings.Join(d.set.first(wordedPaths), "\n")
	}
	attrs, differ := x.attributes(d.refs)
	x.attrs.Set(num, attrs)
	mark(x.several, num, len(d.refs) > 1)
	mark(x.mixed, num, differ)
	return x.paths(d.refs)
}

func mark(set *roaring.Bitmap, num uint32, in bool) {
	if in {
		set.Add(num)
	} else {
		set.Remove(num)
	}
}

// namesOf is a hash of the names among terms, 0 for none: the words of a document
// follow from its id, what is known of its names may change with how it was cut.
func namesOf(terms index.Terms) uint64 {
	names, _ := lexical.SplitNames(terms)
	if len(names) == 0 {
		return 0
	}
	h := fnv.New64a()
	for _, name := range names {
		h.Write([]byte(name))
		h.Write([]byte{0}) // which no name has
	}
	return h.Sum64()
}

// wordedPaths is at how many places of a document the words of their paths are
// searched: those of a license header's ten thousand places say nothing.
const wordedPaths = 4

// paths joins the places of a document, at most a few. Which ones is a matter of the
// places alone, not of the order in which they came.
func (x *Indexer) paths(refs []ref) string {
	first := make([]string, 0, wordedPaths+1)
	for _, r := range refs {
		p := x.owners.all[r.owner].path()
		if p == "" {
			continue
		}
		if i, found := slices.BinarySearch(first, p); !found && i < wordedPaths {
			first = slices.Insert(first, i, p)
			first = first[:min(len(first), wordedPaths)]
		}
	}
	return strings.Join(first, "\n")
}

// attributes are those of the entries that may be recalled. A document that only
// has others is known and carries none. differ says that not all of them carry the
// same, paths and sessions aside, or that the paths are not among them.
func (x *Indexer) attributes(refs []ref) (attrs []index.Attr, differ bool) {
	paths, shared := 0, 0
	var first *owner
	for _, r := range refs {
		e := &x.owners.all[r.owner]
		if e.withdrawn {
			continue
		}
		if first == nil {
			first = e
		}
		carried := 0
		e.attributes(func(a index.Attr) {
			isPath := a.Key == attrPath
			if !isPath {
				carried++
			}
			if slices.Contains(attrs, a) || isPath && paths == maxPaths {
				return
			}
			attrs = append(attrs, a)
			if isPath {
				paths++
			} else if e != first {
				differ = true
			}
		})
		if e == first {
			shared = carried
		}
		differ = differ || carried != shared
	}
	if paths == maxPaths {
		attrs = slices.DeleteFunc(attrs, func(a index.Attr) bool { return a.Key == attrPath })
		attrs = append(attrs, index.Attr{Key: attrPath, Value: everywhere})
		differ = true // attributes do not say where it is
	}
	return attrs, differ
}

// attributes calls fn with those of an entry. Its session is none of them: a text
// that many sessions share would carry as many; see entries.ofSession.
func (e *owner) attributes(fn func(index.Attr)) {
	add := func(key, value string) {
		if value != "" {
			fn(index.Attr{Key: key, Value: value})
		}
	}
	add(attrKind, e.kind.Value())
	switch {
	case e.followed:
		add(attrFollowed, everywhere)
	case e.is(memory.Lesson):
		add(attrShared, everywhere)
	}
	add(attrProject, e.project.Value())
	add(attrRepo, e.repo.Value())
	add(attrLang, e.lang.Value())
	add(attrScreen, e.screen.Value())
	add(attrPath, e.path())
	for _, fp := range e.fingerprints {
		add(attrError, fp)
	}
	for _, tag := range e.tags {
		add(attrTag, tag)
	}
}
