package indexer

import (
	"hash/maphash"
	"iter"
	"path"
	"strings"
	"time"
	"unique"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/internal/memory"
)

// owner is a record or a file, reduced to what filters need. There is one for every
// step of every session, so it is small: strings that many owners share are names,
// and what few have is in details.
type owner struct {
	id   string     // if it is a record
	file *ownedFile // if it is a file

	kind, project, repo, session, screen name
	*details
	created  int64  // milliseconds since 1970; orders the steps of a session
	doc      uint32 // of a record: the number of its document
	logBytes uint32 // the approximate size of its line in a lesson log
	// withdrawn is set for a lesson that is kept but not recalled.
	withdrawn bool
	// pinned is set for a pinned lesson.
	pinned bool
	// followed is set for a record read from a file of the repository.
	followed bool
	// chunked is set for a file with chunks, pruned for one that lost them to the size
	// limit.
	chunked, pruned bool
}

// ownedFile is what files alone have.
type ownedFile struct {
	memory.FileKey
	lang name
	// symbols are what its chunks declare, in their order, with symbolSeparator between them: every
	// question about code asks for those of a hundred chunks.
	symbols string
	// next and former are files with the same last component of their path, in a circle.
	next, former uint32
}

// symbolSeparator is in no symbol: a file with a NUL is not indexed, because it is no text.
const symbolSeparator = "\x00"

func joinSymbols(chunks []memory.FileChunk) string {
	symbols := make([]string, len(chunks))
	for i, c := range chunks {
		symbols[i] = c.Symbol
	}
	return strings.Join(symbols, symbolSeparator)
}

// symbol is what a chunk declares, empty if there is no such chunk.
func (f *ownedFile) symbol(ord int) string {
	rest := f.symbols
	for ; ord > 0; ord-- {
		_, rest, _ = strings.Cut(rest, symbolSeparator)
	}
	symbol, _, _ := strings.Cut(rest, symbolSeparator)
	return symbol
}

// base is the last component of the path.
func (f *ownedFile) base() string { return path.Base(f.Path) }

// details are what few owners have.
type details struct {
	turn         turn
	tags         []string
	fingerprints []string
	rate         *memory.Rate
}

// name is a string that many owners share, stored once and in half the size.
type name = unique.Handle[string]

// Shared by all owners without a name, and without details.
var (
	unnamed = unique.Make("")
	plain   = &details{}
)

func nameOf(s string) name {
	if s == "" {
		return unnamed
	}
	return unique.Make(s)
}

// ref leads from a document to an owner, and to one chunk of a file.
type ref struct {
	owner uint32
	ord   uint32
}

// owners numbers records and files. What is below all is an index over them: add and drop
// change them together. The caller locks.
type owners struct {
	all     []owner
	free    []uint32
	records index.Finder // by id, see record
	seed    maphash.Seed
	files   index.Finder // by key, see file
	// latest has, of the files with the same last component of their path, the latest one.
	latest index.Finder
	// sessions has the records of each session, of all projects.
	sessions ownerSets
	projects ownerSets // records and files
}

// ownerSets are sets of owners by a name that they share, such as their session.
type ownerSets map[name]*roaring.Bitmap

func (s ownerSets) add(of name, n uint32) {
	if of == unnamed {
		return
	}
	if s[of] == nil {
		s[of] = roaring.New()
	}
	s[of].Add(n)
}

func (s ownerSets) drop(of name, n uint32) {
	if set := s[of]; set != nil {
		if set.Remove(n); set.IsEmpty() {
			delete(s, of)
		}
	}
}

func (s ownerSets) of(id string) iter.Seq[uint32] {
	if set := s[nameOf(id)]; set != nil {
		return roaring.Values(set)
	}
	return func(func(uint32) bool) {}
}

func newOwners() owners {
	return owners{
		seed: maphash.MakeSeed(), sessions: ownerSets{}, projects: ownerSets{},
	}
}

func (e *owners) add(x owner) uint32 {
	n := uint32(len(e.all))
	if last := len(e.free) - 1; last >= 0 {
		n, e.free = e.free[last], e.free[:last]
		e.all[n] = x
	} else {
		e.all = append(e.all, x)
	}
	if x.file == nil {
		if before, held := e.record(x.id); held && before != n {
			e.records.Remove(before, e.hashOf)
		}
		e.records.Add(n, e.hashOf)
	} else {
		e.files.Add(n, e.hashOfFile)
		x.file.next, x.file.former = n, n
		if latest, ok := e.latestNamed(x.file.base()); ok {
			x.file.next, x.file.former = e.all[latest].file.next, latest
			e.all[latest].file.next, e.all[x.file.next].file.former = n, n
			e.latest.Remove(latest, e.hashOfBase)
		}
		e.latest.Add(n, e.hashOfBase)
	}
	e.group(n)
	return n
}

// group adds an owner to its session and project.
func (e *owners) group(n uint32) {
	e.sessions.add(e.all[n].session, n)
	e.projects.add(e.all[n].project, n)
}

func (e *owners) drop(n uint32) {
	x := e.all[n]
	if x.file == nil {
		e.records.Remove(n, e.hashOf)
	} else {
		e.files.Remove(n, e.hashOfFile)
		e.leave(n)
	}
	e.sessions.drop(x.session, n)
	e.projects.drop(x.project, n)
	e.all[n] = owner{}
	e.free = append(e.free, n)
}

// record returns the number of a record, and whether there is one with the id.
func (e *owners) record(id string) (n uint32, held bool) {
	return e.records.Find(maphash.String(e.seed, id), func(n uint32) bool { return e.all[n].id == id })
}

func (e *owners) hashOf(n uint32) uint64 { return maphash.String(e.seed, e.all[n].id) }

// allRecords yields the numbers of all records.
func (e *owners) allRecords() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for n := range e.all {
			if e.all[n].id != "" && !yield(uint32(n)) {
				return
			}
		}
	}
}

// file returns the number of a file, and whether there is one with the key.
func (e *owners) file(key memory.FileKey) (n uint32, held bool) {
	return e.files.Find(maphash.Comparable(e.seed, key), func(n uint32) bool { return e.all[n].file.FileKey == key })
}

func (e *owners) hashOfFile(n uint32) uint64 {
	return maphash.Comparable(e.seed, e.all[n].file.FileKey)
}

// allFiles yields the numbers of all files.
func (e *owners) allFiles() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for n := range e.all {
			if e.all[n].file != nil && !yield(uint32(n)) {
				return
			}
		}
	}
}

// latestNamed returns the latest of the files with that last component of their path.
func (e *owners) latestNamed(base string) (n uint32, held bool) {
	return e.latest.Find(maphash.String(e.seed, base), func(n uint32) bool { return e.all[n].file.base() == base })
}

func (e *owners) hashOfBase(n uint32) uint64 { return maphash.String(e.seed, e.all[n].file.base()) }

// named yields the files with that last component of their path, the latest one last.
func (e *owners) named(base string) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		latest, ok := e.latestNamed(base)
		for n := latest; ok; ok = n != latest {
			if n = e.all[n].file.next; !yield(n) {
				return
			}
		}
	}
}

// leave takes a file out of the circle of its name.
func (e *owners) leave(n uint32) {
	f := e.all[n].file
	e.all[f.former].file.next, e.all[f.next].file.former = f.next, f.former
	if latest, _ := e.latestNamed(f.base()); latest == n {
		e.latest.Remove(n, e.hashOfBase)
		if f.former != n {
			e.latest.Add(f.former, e.hashOfBase)
		}
	}
}

func recordOwner(r *memory.Record) owner {
	e := owner{
		id: r.ID, kind: nameOf(string(r.Kind)), project: nameOf(r.Project), repo: nameOf(r.Repo),
		session: nameOf(r.Session), screen: unnamed, created: r.Created.UnixMilli(),
		logBytes: r.Outline().LogBytes, followed: r.Provenance.Followed(),
	}
	more := details{tags: r.Tags}
	if r.Event != nil {
		more.rate, more.fingerprints = r.Event.Proven(), r.Event.Fingerprints
		e.withdrawn, e.pinned = r.Event.Withdrawn != nil, r.Event.Pinned
	} else if r.Verdicts != nil {
		more.rate = verdictRate(*r.Verdicts)
	}
	if r.Step != nil {
		e.screen, more.fingerprints = nameOf(r.Step.Screen), r.Step.Fingerprints
	}
	if r.Reference != nil {
		more.turn = turnOf(r.Reference.Name, r.Text)
	}
	if e.details = plain; len(more.tags)+len(more.fingerprints) > 0 || more.rate != nil || more.turn.of != "" {
		e.details = &more
	}
	return e
}

// verdictRate is the rate of success among the verdicts that report success or failure,
// nil if there are none. A verdict of irrelevance says nothing about the content.
func verdictRate(v memory.VerdictCounts) *memory.Rate {
	n := v.Worked + v.Failed + v.Outdated
	if n == 0 {
		return nil
	}
	return &memory.Rate{Successes: v.Worked, Attempts: n}
}

func fileOwner(f *memory.File) owner {
	return owner{
		file: &ownedFile{FileKey: memory.FileKey{Sandbox: f.Sandbox, Path: f.Path}, lang: nameOf(f.Lang), symbols: joinSymbols(f.Chunks)},
		kind: nameOf(string(memory.Chunk)), project: nameOf(f.Project), repo: unnamed,
		session: unnamed, screen: unnamed,
		details: plain, created: f.ModTime.UnixMilli(),
		chunked: len(f.Chunks) > 0, pruned: f.Pruned && len(f.Chunks) == 0,
	}
}

// is reports whether the owner is of a kind.
func (e *owner) is(kind memory.Kind) bool { return e.kind.Value() == string(kind) }

// path returns a file's path, or "" for a record.
func (e *owner) path() string {
	if e.file == nil {
		return ""
	}
	return e.file.Path
}

// lang returns a file's language, unnamed for a record.
func (e *owner) lang() name {
	if e.file == nil {
		return unnamed
	}
	return e.file.lang
}

// sessionKey names the session that a record belongs to.
func (e *owner) sessionKey() memory.SessionKey {
	return memory.SessionKey{Project: e.project.Value(), ID: e.session.Value()}
}

func (e *owner) candidate(doc memory.DocID, ord uint32) memory.Candidate {
	c := memory.Candidate{
		Doc: doc, Kind: memory.Kind(e.kind.Value()), Project: e.project.Value(), Repo: e.repo.Value(), Session: e.session.Value(),
		Rate: e.rate, ID: e.id, Ord: int(ord), Created: time.UnixMilli(e.created).UTC(),
		Followed: e.followed,
	}
	if e.file != nil {
		c.File = e.file.FileKey
	}
	return c
}
