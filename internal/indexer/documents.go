package indexer

import (
	"hash/fnv"
	"slices"
	"strings"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/index/lexical"
	"github.com/recalld/recalld/internal/memory"
)

// document is what is known of one distinct text.
type document struct {
	refs []ref
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
	attrSession = "session"
	attrLang    = "lang"
	attrTag     = "tag"
	attrPath    = "path"
	attrScreen  = "screen"
	attrError   = "error" // a fingerprint
)

// The functions below are called with mu held.

func (x *Indexer) addRecord(r *memory.Record) uint32 {
	n := x.entries.add(recordEntry(r))
	num := x.reference(r.Doc, ref{entry: n})
	x.shelf.place(n, num)
	return num
}

func (x *Indexer) dropRecord(r *memory.Record, touched map[uint32]memory.DocID) {
	n, ok := x.entries.records[r.ID]
	if !ok {
		return
	}
	if num, ok := x.numbers.Lookup(r.Doc); ok {
		x.dereference(num, n)
		touched[num] = r.Doc
	}
	x.shelf.remove(n)
	x.entries.drop(n)
}

// addFile returns the numbers of the chunks' documents.
func (x *Indexer) addFile(f *memory.File) []uint32 {
	n := x.entries.add(fileEntry(f))
	x.heads.put(n, &x.entries.all[n], f.Head)
	nums := make([]uint32, len(f.Chunks))
	for i, c := range f.Chunks {
		nums[i] = x.reference(c.Doc, ref{entry: n, ord: uint32(i)})
	}
	return nums
}

func (x *Indexer) dropFile(f *memory.File, touched map[uint32]memory.DocID) {
	n, ok := x.entries.files[memory.FileKey{Sandbox: f.Sandbox, Path: f.Path}]
	if !ok {
		return
	}
	for _, c := range f.Chunks {
		if num, ok := x.numbers.Lookup(c.Doc); ok {
			x.dereference(num, n)
			touched[num] = c.Doc
		}
	}
	x.heads.drop(n, &x.entries.all[n])
	x.entries.drop(n)
}

func (x *Indexer) reference(id memory.DocID, r ref) uint32 {
	num, _ := x.numbers.Number(id)
	d, _ := x.docs.Get(num)
	d.refs = append(d.refs, r)
	d.newest = max(d.newest, x.recalledAt(r))
	x.docs.Set(num, d)
	return num
}

// dereference removes the references from a document to an entry.
func (x *Indexer) dereference(num, entry uint32) {
	d, ok := x.docs.Get(num)
	if !ok {
		return
	}
	d.refs = slices.DeleteFunc(d.refs, func(r ref) bool { return r.entry == entry })
	d.newest = 0
	for _, r := range d.refs {
		d.newest = max(d.newest, x.recalledAt(r))
	}
	x.docs.Set(num, d)
}

// recalledAt is when an entry was created, or 0 if it must not be recalled.
func (x *Indexer) recalledAt(r ref) int64 {
	if e := &x.entries.all[r.entry]; !e.aside {
		return e.created
	}
	return 0
}

// drop forgets a document.
func (x *Indexer) drop(num uint32) {
	x.lexical.Delete(num)
	x.attrs.Delete(num) // before its vectors, see apply
	x.spaces.drop(num)
	x.docs.Delete(num)
	x.numbers.Free(num)
}

// words are what the lexical index is to hold of a document.
type words struct {
	doc         uint32
	text, paths index.Terms
}

// refresh brings a document's attributes and words up to date with its
// references. encoded are its terms; nil when it may be indexed already.
func (x *Indexer) refresh(num uint32, id memory.DocID, encoded []byte) {
	if w, changed := x.describe(num, id, encoded); changed {
		x.lexical.UpsertFields(num, w.text, w.paths)
	}
}

// describe brings a document's attributes up to date and returns its words if
// the lexical index does not hold them.
func (x *Indexer) describe(num uint32, id memory.DocID, encoded []byte) (w words, changed bool) {
	d, ok := x.docs.Get(num)
	if !ok {
		return w, false
	}
	x.attrs.Set(num, x.attributes(d.refs))
	paths := x.paths(d.refs)
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
	w = words{doc: num, text: terms}
	if paths != "" {
		w.paths = lexical.Analyze(paths)
	}
	d.paths, d.names, d.indexed = paths, names, true
	x.docs.Set(num, d)
	return w, true
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

// paths joins the places of a document, at most a few: the words of a license
// header's ten thousand places say nothing. Which ones is a matter of the places
// alone, not of the order in which they came.
func (x *Indexer) paths(refs []ref) string {
	const most = 4
	first := make([]string, 0, most+1)
	for _, r := range refs {
		p := x.entries.all[r.entry].path()
		if p == "" {
			continue
		}
		if i, found := slices.BinarySearch(first, p); !found && i < most {
			first = slices.Insert(first, i, p)
			first = first[:min(len(first), most)]
		}
	}
	return strings.Join(first, "\n")
}

// attributes are those of the entries that may be recalled. A document that only
// has others is known and carries none.
func (x *Indexer) attributes(refs []ref) []index.Attr {
	var attrs []index.Attr
	add := func(key, value string) bool {
		a := index.Attr{Key: key, Value: value}
		if value == "" || slices.Contains(attrs, a) {
			return false
		}
		attrs = append(attrs, a)
		return true
	}
	paths := 0
	for _, r := range refs {
		e := &x.entries.all[r.entry]
		if e.aside {
			continue
		}
		add(attrKind, e.kind.Value())
		add(attrProject, e.project.Value())
		add(attrRepo, e.repo.Value())
		add(attrSession, e.session.Value())
		add(attrLang, e.lang.Value())
		add(attrScreen, e.screen.Value())
		if paths < maxPaths && add(attrPath, e.path()) {
			paths++
		}
		for _, fp := range e.fingerprints {
			add(attrError, fp)
		}
		for _, tag := range e.tags {
			add(attrTag, tag)
		}
	}
	if paths == maxPaths {
		attrs = slices.DeleteFunc(attrs, func(a index.Attr) bool { return a.Key == attrPath })
		attrs = append(attrs, index.Attr{Key: attrPath, Value: everywhere})
	}
	return attrs
}
