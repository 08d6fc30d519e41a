package indexer

import (
	"fmt"
	"slices"

	"github.com/recalld/recalld/index/files"
	"github.com/recalld/recalld/internal/memory"
)

// heads are the light indexes, one for each project, by the numbers of entries: what
// is rare in a project is not what is rare among all, and no question pays for the
// files of other projects. Its owner locks.
type heads struct {
	off      bool // files are counted and not found
	projects map[name]*projectHeads
}

type projectHeads struct {
	index files.Index
	held  memory.CodeCounts
}

func newHeads(off bool) heads { return heads{off: off, projects: map[name]*projectHeads{}} }

func (h *heads) put(n uint32, e *entry, head string) {
	p := h.projects[e.project]
	if p == nil {
		p = new(projectHeads)
		h.projects[e.project] = p
	}
	p.count(e, 1)
	if !h.off {
		p.index.Put(n, e.file.Path, head)
	}
}

func (h *heads) drop(n uint32, e *entry) {
	p := h.projects[e.project]
	p.count(e, -1)
	p.index.Delete(n)
	if p.held.Files == 0 {
		delete(h.projects, e.project)
	}
}

func (p *projectHeads) count(e *entry, by int) {
	p.held.Files += by
	if e.chunked {
		p.held.Chunked += by
	}
	if e.pruned {
		p.held.Pruned += by
	}
}

// of returns the light index of a project; none where nothing is held of it.
func (h *heads) of(project string) *projectHeads { return h.projects[nameOf(project)] }

// FilesByName returns the files of a selection's project that hold most of a question by
// their names and heads, best first and at most limit; see files.Index.Ask. The
// filters of the selection hold exactly. It takes no model and no reading, and finds
// while the indexes are being loaded what is loaded.
func (x *Indexer) FilesByName(question string, sel memory.Selection, limit int) []memory.Candidate {
	return x.light(question, sel, limit, func(*entry) bool { return true })
}

// PrunedFiles is FilesByName, of the files alone whose chunks gave way to the size limit.
func (x *Indexer) PrunedFiles(question string, sel memory.Selection, limit int) []memory.Candidate {
	return x.light(question, sel, limit, func(e *entry) bool { return e.pruned })
}

func (x *Indexer) light(question string, sel memory.Selection, limit int, wanted func(*entry) bool) []memory.Candidate {
	// What is found is code, whatever else was asked for.
	if len(sel.Kinds) > 0 && !slices.Contains(sel.Kinds, memory.Chunk) {
		return nil
	}
	sel.Kinds = nil
	x.mu.RLock()
	defer x.mu.RUnlock()
	p := x.heads.of(sel.Project)
	if p == nil {
		return nil
	}
	return x.fileCandidates(p.index.Ask(question, func(n uint32) bool {
		e := &x.entries.all[n]
		return wanted(e) && x.selected(e, &sel)
	}, limit))
}

// Files returns the files of a project that a pattern fits, best first and at most
// limit, and how many there are; see files.Index.Search.
func (x *Indexer) Files(pattern, project string, limit int) (files []memory.Candidate, total int) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	p := x.heads.of(project)
	if p == nil {
		return nil, 0
	}
	matches, total := p.index.Search(pattern, nil, limit)
	return x.fileCandidates(matches), total
}

// Fits says whether Files would find a file that has this path and head.
func (x *Indexer) Fits(pattern, path, head string) bool { return files.Fits(pattern, path, head) }

// CodeCounts counts the files of a project.
func (x *Indexer) CodeCounts(project string) memory.CodeCounts {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if p := x.heads.of(project); p != nil {
		return p.held
	}
	return memory.CodeCounts{}
}

// fileCandidates is called with mu held.
func (x *Indexer) fileCandidates(matches []files.Match) []memory.Candidate {
	out := make([]memory.Candidate, len(matches))
	for i, m := range matches {
		out[i] = x.entries.all[m.ID].candidate(memory.DocID{}, 0)
		out[i].Head, out[i].Fit = true, m.Share
	}
	return out
}

// compareHeads reports where the light indexes differ from those that were just
// loaded.
func (x *Indexer) compareHeads(fresh *Indexer, bad func(string, ...any)) {
	if a, b := len(x.heads.projects), len(fresh.heads.projects); a != b {
		bad("files of %d projects are held, the store has %d", a, b)
	}
	for project, want := range fresh.heads.projects {
		have := x.heads.projects[project]
		if have == nil {
			bad("project %s: none of its files is held", project.Value())
			continue
		}
		if have.held != want.held || have.index.Len() != want.index.Len() {
			bad("project %s: %d of files %+v are found by name, should be %d of %+v", project.Value(), have.index.Len(), have.held, want.index.Len(), want.held)
		}
	}
	for key, theirs := range fresh.entries.files {
		ours, ok := x.entries.files[key]
		if !ok {
			bad("file %s/%s is not held", key.Sandbox, key.Path)
			continue
		}
		if a, b := x.headOf(ours), fresh.headOf(theirs); a != b {
			bad("file %s/%s: it is found by %s, should be by %s", key.Sandbox, key.Path, a, b)
		}
	}
}

// headOf writes by what the file of an entry is found.
func (x *Indexer) headOf(n uint32) string {
	e := &x.entries.all[n]
	path, head, held := x.heads.projects[e.project].index.File(n)
	return fmt.Sprintf("%q, %q, %v", path, head, held)
}
