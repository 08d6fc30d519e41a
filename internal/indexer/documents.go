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

// document is what is kept of one distinct text.
type document struct {
	// refs are its references in the order in which they came. A document with more than
	// maxRefs has them in set instead.
	refs []ref
	set  *refSet
	// paths are the paths whose words the lexical index holds, joined. The words are
	// analysed again only when they change.
	paths string
	// names is a hash of the declared names in the lexical index, see namesOf.
	names uint64
	// newest is when the newest owner that may be recalled was created. For a text
	// with one owner, a filter by time needs nothing else.
	newest int64
	// indexed is set if the lexical index holds the text.
	indexed bool
	// declares and test are those of memory.Document.
	declares, test bool
}

// A document with more paths than maxPaths has the path everywhere instead: a text in ten
// thousand files would otherwise have ten thousand attributes.
const (
	maxPaths   = 32
	everywhere = "\x00"
)

// The attributes that filters use.
const (
	attrKind    = "kind"
	attrProject = "project"
	attrRepo    = "repo"
	attrLang    = "lang"
	attrTag     = "tag"
	attrPath    = "path"
	attrScreen  = "screen"
	attrError   = "error" // a fingerprint
	// attrFollowed marks records followed from a repository's file. attrShared marks the
	// other lessons, which other projects may see.
	attrFollowed = "followed"
	attrShared   = "shared"
)

// The functions below are called with mu held.

func (x *Indexer) addRecord(r *memory.Record) uint32 {
	e := recordOwner(r)
	e.doc, _ = x.numbers.Number(r.Doc)
	x.called.put(x.addOwner(e), e.doc, r)
	return e.doc
}

// addOwner adds a record that is searched, and returns its number.
func (x *Indexer) addOwner(e owner) uint32 {
	n := x.owners.add(e)
	x.linkRecord(n)
	return n
}

// linkRecord links a record with its document and session.
func (x *Indexer) linkRecord(n uint32) {
	doc := x.owners.all[n].doc
	x.reference(doc, ref{owner: n})
	x.sessions.addItem(n, doc)
}

func (x *Indexer) dropRecord(r *memory.Record, touched map[uint32]memory.DocID) {
	n, ok := x.owners.record(r.ID)
	if !ok {
		return
	}
	if num, ok := x.numbers.Lookup(r.Doc); ok {
		x.dereference(num, n)
		touched[num] = r.Doc
	}
	x.sessions.removeItem(n)
	x.called.drop(n, x.owners.all[n].doc)
	x.owners.drop(n)
}

// addFile returns the numbers of the chunks' documents.
func (x *Indexer) addFile(f *memory.File) []uint32 {
	n := x.owners.add(fileOwner(f))
	x.fileNames.put(n, &x.owners.all[n], f.Head)
	nums := make([]uint32, len(f.Chunks))
	for i, c := range f.Chunks {
		nums[i], _ = x.numbers.Number(c.Doc)
		x.reference(nums[i], ref{owner: n, ord: uint32(i)})
	}
	return nums
}

func (x *Indexer) dropFile(f *memory.File, touched map[uint32]memory.DocID) {
	n, ok := x.owners.file(memory.FileKey{Sandbox: f.Sandbox, Path: f.Path})
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

func (x *Indexer) reference(num uint32, r ref) {
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
}

// dereference removes the references from a document to an owner, which must still
// exist.
func (x *Indexer) dereference(num, n uint32) {
	d, ok := x.docs.Get(num)
	if !ok {
		return
	}
	e := &x.owners.all[n]
	newest := int64(0)
	if d.set != nil {
		d.set.remove(n, e)
		newest = d.set.newest()
	} else {
		d.refs = slices.DeleteFunc(d.refs, func(r ref) bool { return r.owner == n })
		for _, r := range d.refs {
			newest = max(newest, x.owners.all[r.owner].recalledAt())
		}
	}
	x.setNewest(num, &d, newest)
	x.docs.Set(num, d)
}

// setNewest sets when the newest owner of a document was created.
func (x *Indexer) setNewest(num uint32, d *document, newest int64) {
	if d.newest == newest {
		return
	}
	if !x.sessions.loading { // else fillRecency does it
		if d.newest != 0 {
			x.recency.Remove(num, d.newest)
		}
		if newest != 0 {
			x.recency.Add(num, newest)
		}
	}
	d.newest = newest
}

// fillRecency fills recency after Load has all records and files, which takes a tenth of the
// time of adding documents one by one. It is called without mu.
func (x *Indexer) fillRecency() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.recency.Fill(func(yield func(uint32, int64) bool) {
		for num := range x.numbers.Limit() {
			if d, _ := x.docs.Get(num); d.newest != 0 && !yield(num, d.newest) {
				return
			}
		}
	})
}

// recalledAt returns when an owner was created, or 0 if it must not be recalled.
func (e *owner) recalledAt() int64 {
	if e.withdrawn {
		return 0
	}
	return max(e.created, 0)
}

// drop removes a document. It is called without mu.
func (x *Indexer) drop(num uint32) {
	for _, w := range x.words {
		w.Delete(num)
	}
	x.dropParts(num)
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
	x.selections.changed()
}

// lexicalFields are the fields of a document in the lexical index.
type lexicalFields struct {
	doc         uint32
	text, paths index.Terms
}

// refresh updates a document's attributes and words from its references. encoded are its
// terms; nil if they may be indexed already. It is called without mu.
func (x *Indexer) refresh(num uint32, id memory.DocID, encoded []byte) {
	if w, changed := x.describe(num, id, encoded); changed {
		x.index(w)
	}
}

// index puts the words of a document into the indexes over words.
func (x *Indexer) index(f lexicalFields) {
	for _, w := range x.words {
		w.UpsertFields(f.doc, f.text, f.paths)
	}
}

// describe updates a document's attributes and returns its words if the lexical index
// lacks them. It is called without mu: there is no other writer, and readers wait only
// while the attributes are copied, not while terms are read.
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
	d.readMarks(terms)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.docs.Set(num, d)
	return w, true
}

// setAttributes updates the attributes of a document and returns the paths whose words
// are searched.
func (x *Indexer) setAttributes(num uint32, d *document) string {
	x.mu.Lock()
	defer x.mu.Unlock()
	defer x.selections.changed()
	if d.set != nil {
		d.set.setAttributes(num, &x.attrs)
		x.several.Add(num)
		x.mixed.Add(num) // nearly always true
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

// Analyze turns a document into the encoded terms that the store keeps: the names that
// it declares, the words of its text, and the words of the names once more. The name of
// a piece of code describes it better than its lines do: docs/quality.md has the
// figures.
func Analyze(d memory.Document) []byte {
	text := d.Text
	if len(d.Defines) > 0 {
		text += "\n" + strings.Join(d.Defines, "\n")
	}
	return lexical.EncodeTerms(lexical.WithNames(lexical.Analyze(text), marked(d)))
}

// What is stored of a document beside its names, as if it were names. None is one.
const (
	markDeclares = "(declares)"
	markTest     = "(test)"
)

// marked returns the names of a document with its marks.
func marked(d memory.Document) []string {
	names := slices.Clip(d.Defines)
	if d.Declares {
		names = append(names, markDeclares)
	}
	if d.Test {
		names = append(names, markTest)
	}
	return names
}

// readMarks reads the marks of a document from its terms.
func (d *document) readMarks(terms index.Terms) {
	names, _ := lexical.SplitNames(terms)
	d.declares, d.test = slices.Contains(names, markDeclares), slices.Contains(names, markTest)
}

// namesOf returns a hash of the declared names among terms, 0 if there are none. The
// words follow from the document's id; the names may change with the chunker.
func namesOf(terms index.Terms) uint64 {
	names, _ := lexical.SplitNames(terms)
	if len(names) == 0 {
		return 0
	}
	h := fnv.New64a()
	for _, name := range names {
		h.Write([]byte(name))
		h.Write([]byte{0}) // no name contains it
	}
	return h.Sum64()
}

// wordedPaths is how many paths of a document are searched by their words: the ten
// thousand paths of a license header are no help.
const wordedPaths = 4

// paths joins the first few paths of a document in alphabetical order, so that the
// order in which they came does not matter.
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

// attributes returns the attributes of the owners that may be recalled, none if there is
// no such owner. differ is set if these owners differ in more than path and session, or
// if their paths are left out.
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
		differ = true // its paths are left out
	}
	return attrs, differ
}

// attributes calls fn with the attributes of an owner. Its session is not among them: a
// text in many sessions would have too many; see owners.sessions.
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
	add(attrLang, e.lang().Value())
	add(attrScreen, e.screen.Value())
	add(attrPath, e.path())
	for _, fp := range e.fingerprints {
		add(attrError, fp)
	}
	for _, tag := range e.tags {
		add(attrTag, tag)
	}
}
