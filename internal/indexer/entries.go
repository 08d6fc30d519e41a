package indexer

import (
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// entry is a record or a file, as far as filters need it.
type entry struct {
	kind    memory.Kind
	project string
	id      string         // of a record
	file    memory.FileKey // of a file
	repo    string
	session string
	lang    string
	tags    []string
	rate    *memory.Rate
	created int64 // seconds since 1970
}

// ref leads from a document to an entry, and to one chunk of a file.
type ref struct {
	entry uint32
	ord   uint32
}

// entries numbers records and files. Its owner locks.
type entries struct {
	all     []entry
	free    []uint32
	records map[string]uint32
	files   map[memory.FileKey]uint32
}

func newEntries() entries {
	return entries{records: map[string]uint32{}, files: map[memory.FileKey]uint32{}}
}

func (e *entries) add(x entry) uint32 {
	n := uint32(len(e.all))
	if last := len(e.free) - 1; last >= 0 {
		n, e.free = e.free[last], e.free[:last]
		e.all[n] = x
	} else {
		e.all = append(e.all, x)
	}
	if x.id != "" {
		e.records[x.id] = n
	} else {
		e.files[x.file] = n
	}
	return n
}

func (e *entries) drop(n uint32) {
	x := e.all[n]
	if x.id != "" {
		delete(e.records, x.id)
	} else {
		delete(e.files, x.file)
	}
	e.all[n] = entry{}
	e.free = append(e.free, n)
}

func recordEntry(r *memory.Record) entry {
	e := entry{
		kind: r.Kind, project: r.Project, id: r.ID, repo: r.Repo, session: r.Session,
		tags: r.Tags, created: r.Created.Unix(),
	}
	if r.Event != nil {
		e.rate = r.Event.Rate
	}
	return e
}

func fileEntry(f *memory.File) entry {
	return entry{
		kind: memory.Chunk, project: f.Project, lang: f.Lang, created: f.ModTime.Unix(),
		file: memory.FileKey{Sandbox: f.Sandbox, Path: f.Path},
	}
}

func (e *entry) candidate(doc memory.DocID, ord uint32) memory.Candidate {
	return memory.Candidate{
		Doc: doc, Kind: e.kind, Project: e.project, Session: e.session, Rate: e.rate, ID: e.id, File: e.file, Ord: int(ord),
		Created: time.Unix(e.created, 0).UTC(),
	}
}
