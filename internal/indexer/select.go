package indexer

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/internal/memory"
)

// Select returns the documents that a selection allows, and those whose statistics
// count: the documents of the project, of the related project (Also) and, with AllLessons,
// the lessons of all projects that were not followed from files of a repository. allow may
// have a few too many where one text has several owners, unless a path, a time or certain
// records were asked for; Candidates is always exact. The caller must not change the
// bitmaps: the next question may get the same ones.
func (x *Indexer) Select(sel memory.Selection) (allow, universe *roaring.Bitmap) {
	key, plain := selectionKeyOf(sel)
	if !plain {
		return x.selectDocs(sel)
	}
	if s, known := x.selections.find(key); known {
		return s.allow, s.universe
	}
	s := selected{change: x.selections.change.Load()} // before anything is read
	s.allow, s.universe = x.selectDocs(sel)
	x.selections.keep(key, s)
	return s.allow, s.universe
}

func (x *Indexer) selectDocs(sel memory.Selection) (allow, universe *roaring.Bitmap) {
	if sel.Steps.IsZero() {
		allow = x.match(sel)
	} else {
		allow = x.matchSessions(sel)
	}
	if sel.Path != "" || !sel.Since.IsZero() || sel.Only != nil {
		x.narrow(allow, &sel)
	}
	return allow, x.universe(sel)
}

// match returns the documents with the attributes that a selection asks for. It ignores
// the session filter.
func (x *Indexer) match(sel memory.Selection) *roaring.Bitmap {
	var clauses []index.Clause
	add := func(key string, values ...string) {
		if len(values) > 0 && values[0] != "" {
			clauses = append(clauses, index.Clause{Key: key, Values: values})
		}
	}
	add(attrKind, kindNames(sel.Kinds)...)
	add(attrRepo, sel.Repos...)
	add(attrLang, sel.Lang)
	add(attrTag, sel.Tag)
	if sel.Path != "" {
		// All code has a path, so a pattern without a fixed part selects all code.
		add(attrKind, string(memory.Chunk))
		clauses = append(clauses, index.Clause{Key: attrPath, Values: []string{everywhere}, Pattern: pathPattern(sel.Path)})
	}
	allow := x.universe(sel, clauses...)
	if sel.Session != "" {
		allow.And(x.docsOf(sel.Session))
	}
	if !sel.Followed {
		allow.AndNot(x.followedOnly())
	}
	return allow
}

// followedOnly returns the documents whose owners were all followed from files of a
// repository, or nearly all.
func (x *Indexer) followedOnly() *roaring.Bitmap {
	docs := x.attrs.Match(index.Clause{Key: attrFollowed, Values: []string{everywhere}})
	x.mu.RLock()
	defer x.mu.RUnlock()
	docs.AndNot(x.mixed)
	return docs
}

// docsOf returns the documents of a session's records that may be recalled.
func (x *Indexer) docsOf(session string) *roaring.Bitmap {
	x.mu.RLock()
	defer x.mu.RUnlock()
	docs := roaring.New()
	for n := range x.owners.sessions.of(session) {
		if e := &x.owners.all[n]; !e.withdrawn {
			docs.Add(e.doc)
		}
	}
	return docs
}

func kindNames(kinds []memory.Kind) []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = string(k)
	}
	return names
}

// universe returns the documents of a selection's projects that match all clauses. Without
// clauses these are the ones whose statistics count.
func (x *Indexer) universe(sel memory.Selection, clauses ...index.Clause) *roaring.Bitmap {
	if sel.Project == "" {
		return x.attrs.Match(clauses...)
	}
	with := func(c index.Clause) *roaring.Bitmap { return x.attrs.Match(append(slices.Clone(clauses), c)...) }
	own := index.Clause{Key: attrProject, Values: []string{sel.Project}}
	if sel.Also != "" {
		own.Values = append(own.Values, sel.Also)
	}
	docs := with(own)
	if sel.AllLessons && (len(sel.Kinds) == 0 || slices.Contains(sel.Kinds, memory.Lesson)) {
		docs.Or(with(index.Clause{Key: attrShared, Values: []string{everywhere}}))
	}
	return docs
}

// narrow removes what attributes cannot exclude: documents with an older time, another
// path, or of another record. They would displace hits of the retrievers. Only documents
// with several owners are looked at one by one; for the others the attributes, the order
// by time and the order of paths decide.
func (x *Indexer) narrow(allow *roaring.Bitmap, sel *memory.Selection) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if sel.Only != nil {
		only := roaring.New()
		for id := range sel.Only {
			if n, ok := x.owners.record(id); ok {
				only.Add(x.owners.all[n].doc)
			}
		}
		allow.And(only)
	}
	if since := sel.Since.UnixMilli(); !sel.Since.IsZero() && since > 0 {
		allow.And(x.recency.Since(since))
	}
	doubtful := x.mixed
	if sel.Only != nil || sel.Session != "" || !sel.Steps.IsZero() || sel.Path != "" && !sel.Since.IsZero() {
		doubtful = x.several // each condition may hold for another owner
	}
	out := roaring.New()
	for num := range roaring.Values(roaring.And(allow, doubtful)) {
		d, _ := x.docs.Get(num)
		if len(x.pick(num, &d, sel, 1)) == 0 {
			out.Add(num)
		}
	}
	allow.AndNot(out)
}

// Repo reports whether a record names this repository, also one that is not recalled any
// more.
func (x *Indexer) Repo(name string) bool {
	if !x.attrs.Match(index.Clause{Key: attrRepo, Values: []string{name}}).IsEmpty() {
		return true
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	for n := range x.owners.allRecords() { // withdrawn lessons have no attributes
		if e := &x.owners.all[n]; e.withdrawn && e.repo.Value() == name {
			return true
		}
	}
	return false
}

// Repos returns the names of the repositories of a selection's records. It scans all
// records.
func (x *Indexer) Repos(sel memory.Selection) []string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	names := map[string]bool{}
	for n := range x.owners.allRecords() {
		if e := &x.owners.all[n]; e.repo != unnamed && !names[e.repo.Value()] && x.selected(e, &sel) {
			names[e.repo.Value()] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// Candidates returns the owners of a document that a selection allows, at most 100: the
// newest, and first the ones in the selection's project.
func (x *Indexer) Candidates(doc uint32, sel memory.Selection) []memory.Candidate {
	return x.AppendCandidates(nil, doc, &sel)
}

// AppendCandidates appends what Candidates returns.
func (x *Indexer) AppendCandidates(to []memory.Candidate, doc uint32, sel *memory.Selection) []memory.Candidate {
	x.mu.RLock()
	defer x.mu.RUnlock()
	d, _ := x.docs.Get(doc)
	id, _ := x.numbers.ID(doc)
	add := func(r ref) {
		c := x.owners.all[r.owner].candidate(id, r.ord)
		c.Series, c.At = x.place(r.owner)
		c.Declares, c.Test = d.declares, d.test
		to = append(to, c)
	}
	if d.set != nil {
		for _, r := range x.pick(doc, &d, sel, maxCandidates) {
			add(r)
		}
		return to
	}
	for _, r := range d.refs { // at most maxRefs, fewer than maxCandidates
		if x.selected(&x.owners.all[r.owner], sel) {
			add(r)
		}
	}
	return to
}

// pick returns the references of a document that a selection allows, at most n. It is
// called with mu held.
func (x *Indexer) pick(num uint32, d *document, sel *memory.Selection, n int) []ref {
	return x.newest(num, d, sel, n, func(_ ref, e *owner) bool { return x.selected(e, sel) })
}

// allCandidates returns all owners of a document, also those that are never recalled.
func (x *Indexer) allCandidates(doc uint32) []memory.Candidate {
	x.mu.RLock()
	defer x.mu.RUnlock()
	d, _ := x.docs.Get(doc)
	id, _ := x.numbers.ID(doc)
	var out []memory.Candidate
	for r := range d.all() {
		out = append(out, x.owners.all[r.owner].candidate(id, r.ord))
	}
	return out
}

// selected is called with mu held.
func (x *Indexer) selected(e *owner, sel *memory.Selection) bool {
	is := func(want string, have name) bool { return want == "" || want == have.Value() }
	project := is(sel.Project, e.project) || sel.Also != "" && is(sel.Also, e.project) || sel.AllLessons && e.is(memory.Lesson)
	if e.followed && !(sel.Followed && sel.Project != "" && e.project.Value() == sel.Project) {
		return false
	}
	return project && e.withdrawn == sel.Withdrawn && (e.pinned || !sel.Pinned) && (len(sel.Repos) == 0 || slices.Contains(sel.Repos, e.repo.Value())) && is(sel.Session, e.session) && is(sel.Lang, e.lang()) &&
		(sel.Only == nil || sel.Only[e.id]) &&
		(len(sel.Kinds) == 0 || slices.Contains(sel.Kinds, memory.Kind(e.kind.Value()))) &&
		x.tagged(e, sel) && x.inSessions(e, sel) &&
		(sel.Path == "" || e.file != nil && pathMatches(sel.Path, e.file.Path)) &&
		(sel.Since.IsZero() || e.created >= sel.Since.UnixMilli())
}

// pathPattern turns a path filter into a pattern over attributes.
func pathPattern(pattern string) *index.Pattern {
	return &index.Pattern{Name: pattern, Prefix: fixedPart(pattern), Fits: func(p string) bool { return pathMatches(pattern, p) }}
}

// trimPattern removes what does not matter around a path. The whole repository, ".", is
// empty then.
func trimPattern(pattern string) string {
	pattern = strings.TrimSuffix(strings.TrimPrefix(pattern, "./"), "/")
	if pattern == "." {
		return ""
	}
	return pattern
}

// fixedPart returns the beginning that all matching paths have.
func fixedPart(pattern string) string {
	pattern = trimPattern(pattern)
	if i := strings.IndexAny(pattern, `*?[\`); i >= 0 {
		return pattern[:i]
	}
	return pattern
}

// pathMatches reports whether a path is the pattern, is below it, or matches it as a
// glob, in which ** matches any folders. Each part of a glob also matches the name that it
// spells: web frameworks have folders like [id].
func pathMatches(pattern, p string) bool {
	pattern = trimPattern(pattern)
	if pattern == "" || p == pattern || strings.HasPrefix(p, pattern+"/") {
		return true
	}
	return strings.ContainsAny(pattern, "*?[") && globMatches(strings.Split(pattern, "/"), strings.Split(p, "/"))
}

// globMatches keeps the positions at which a match of the pattern so far can end: the
// cost is bounded by the product of the lengths of pattern and path.
func globMatches(pattern, parts []string) bool {
	ends := make([]bool, len(parts)+1)
	ends[0] = true
	for _, want := range pattern {
		next := make([]bool, len(parts)+1)
		for at := range ends {
			if want == "**" {
				next[at] = ends[at] || at > 0 && next[at-1]
			} else if at > 0 && ends[at-1] {
				fits, _ := path.Match(want, parts[at-1])
				next[at] = fits || want == parts[at-1]
			}
		}
		ends = next
	}
	return ends[len(parts)]
}

// Record returns the record of a candidate.
func (x *Indexer) Record(id string) (memory.Record, error) { return x.store.Record(id) }

// IDs returns the ids of stored records that begin with a prefix, sorted, at most `most`.
func (x *Indexer) IDs(prefix string, most int) []string {
	ids, err := x.store.RecordIDs(prefix, most)
	if err != nil { // the store has logged it
		return nil
	}
	return ids
}

// Selected reports whether a selection allows a record.
func (x *Indexer) Selected(id string, sel memory.Selection) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	n, held := x.owners.record(id)
	return held && x.selected(&x.owners.all[n], &sel)
}

// ChunksByPrefix returns the chunks and previews of a selection whose ids begin with a
// prefix, and one chunk of each text whose memory.TextID does. Ids of code are computed, not
// stored, so all files of the selection are read.
func (x *Indexer) ChunksByPrefix(ctx context.Context, prefix string, sel memory.Selection) ([]memory.ChunkRef, error) {
	var files []memory.FileKey
	x.mu.RLock()
	for n := range x.owners.allFiles() {
		if e := &x.owners.all[n]; x.selected(e, &sel) {
			files = append(files, e.file.FileKey)
		}
	}
	x.mu.RUnlock()
	slices.SortFunc(files, compareFileKeys)
	var out []memory.ChunkRef
	for _, key := range files {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		f, err := x.store.File(key.Sandbox, key.Path)
		if err != nil {
			continue // removed meanwhile
		}
		add := func(id string, head bool, chunk memory.FileChunk) {
			byText := !head && strings.HasPrefix(memory.TextID(chunk.Doc), prefix)
			if !byText && !strings.HasPrefix(id, prefix) || slices.ContainsFunc(out, func(p memory.ChunkRef) bool {
				return p.ID == id || byText && p.Location.Chunk.Doc == chunk.Doc
			}) {
				return // a text that occurs twice is shown once
			}
			if at, err := x.location(&f); err == nil {
				at.Chunk = chunk
				out = append(out, memory.ChunkRef{ID: id, Location: at, Head: head})
			}
		}
		add(memory.ChunkID(key.Sandbox, key.Path, memory.FileChunk{}), true, memory.FileChunk{})
		for _, chunk := range f.Chunks {
			add(memory.ChunkID(key.Sandbox, key.Path, chunk), false, chunk)
		}
	}
	return out, nil
}

// Location returns where the text of a chunk, or the preview of a file, can be read.
// CodeNotFound if the chunk was replaced or the file was removed.
func (x *Indexer) Location(c memory.Candidate) (memory.Location, error) {
	f, err := x.store.File(c.File.Sandbox, c.File.Path)
	if err != nil {
		return memory.Location{}, err
	}
	if c.Head {
		return x.location(&f)
	}
	if c.Ord >= len(f.Chunks) || f.Chunks[c.Ord].Doc != c.Doc {
		return memory.Location{}, memory.Errorf(memory.CodeNotFound, "the chunk was replaced")
	}
	at, err := x.location(&f)
	at.Chunk, at.Head = f.Chunks[c.Ord], ""
	return at, err
}

// Symbols returns what each chunk declares, empty for one that was replaced meanwhile and is
// not there any more.
func (x *Indexer) Symbols(chunks []memory.Candidate) []string {
	symbols := make([]string, len(chunks))
	x.mu.RLock()
	defer x.mu.RUnlock()
	for i, c := range chunks {
		if n, held := x.owners.file(c.File); held && !c.Head {
			symbols[i] = x.owners.all[n].file.symbol(c.Ord)
		}
	}
	return symbols
}

// location returns the location of a file, with its preview.
func (x *Indexer) location(f *memory.File) (memory.Location, error) {
	box, err := x.store.Sandbox(f.Sandbox)
	if err != nil {
		return memory.Location{}, err
	}
	return memory.Location{
		Project: f.Project, Sandbox: f.Sandbox, Root: box.Root, Path: f.Path, Lang: f.Lang, Head: f.Head,
	}, nil
}
