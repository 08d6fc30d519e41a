package indexer

import (
	"fmt"
	"slices"

	"github.com/recalld/recalld/index/files"
	"github.com/recalld/recalld/internal/memory"
)

// fileNames has a file-name index for each project, by the numbers of owners. What is
// rare in one project may be common in another, and a query need not scan other projects.
// The caller locks.
type fileNames struct {
	off      bool // files are counted but not indexed
	projects map[name]*projectFiles
}

type projectFiles struct {
	index  files.Index
	counts memory.CodeCounts
}

func newFileNames(off bool) fileNames { return fileNames{off: off, projects: map[name]*projectFiles{}} }

func (h *fileNames) put(n uint32, e *owner, head string) {
	p := h.projects[e.project]
	if p == nil {
		p = new(projectFiles)
		h.projects[e.project] = p
	}
	p.count(e, 1)
	if !h.off {
		p.index.Put(n, e.file.Path, head)
	}
}

func (h *fileNames) drop(n uint32, e *owner) {
	p := h.projects[e.project]
	p.count(e, -1)
	p.index.Delete(n)
	if p.counts.Files == 0 {
		delete(h.projects, e.project)
	}
}

func (p *projectFiles) count(e *owner, by int) {
	p.counts.Files += by
	if e.chunked {
		p.counts.Chunked += by
	}
	if e.pruned {
		p.counts.Pruned += by
	}
}

// of returns the files of a project, nil if it has none.
func (h *fileNames) of(project string) *projectFiles { return h.projects[nameOf(project)] }

// FilesByName returns the files of a selection's project that match a query best by path
// and preview, at most limit; see files.Index.Ask. All filters of the selection apply. It
// needs no model and reads no file, and works while the indexes are loaded.
func (x *Indexer) FilesByName(question string, sel memory.Selection, limit int) []memory.Candidate {
	return x.byName(question, sel, limit, func(*owner) bool { return true })
}

// PrunedFiles is FilesByName for the files whose chunks were removed by the size limit.
func (x *Indexer) PrunedFiles(question string, sel memory.Selection, limit int) []memory.Candidate {
	return x.byName(question, sel, limit, func(e *owner) bool { return e.pruned })
}

func (x *Indexer) byName(question string, sel memory.Selection, limit int, wanted func(*owner) bool) []memory.Candidate {
	// Files are code, whatever kinds were asked for.
	if len(sel.Kinds) > 0 && !slices.Contains(sel.Kinds, memory.Chunk) {
		return nil
	}
	sel.Kinds = nil
	x.mu.RLock()
	defer x.mu.RUnlock()
	p := x.fileNames.of(sel.Project)
	if p == nil {
		return nil
	}
	return x.fileCandidates(p.index.Ask(question, func(n uint32) bool {
		e := &x.owners.all[n]
		return wanted(e) && x.selected(e, &sel)
	}, limit))
}

// Files returns the files of a project that match a pattern, best first and at most
// limit, and the number of all matches; see files.Index.Search.
func (x *Indexer) Files(pattern, project string, limit int) (files []memory.Candidate, total int) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	p := x.fileNames.of(project)
	if p == nil {
		return nil, 0
	}
	matches, total := p.index.Search(pattern, nil, limit)
	return x.fileCandidates(matches), total
}

// Fits reports whether Files would find a file with this path and preview.
func (x *Indexer) Fits(pattern, path, head string) bool { return files.Fits(pattern, path, head) }

// CodeCounts counts the files of a project.
func (x *Indexer) CodeCounts(project string) memory.CodeCounts {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if p := x.fileNames.of(project); p != nil {
		return p.counts
	}
	return memory.CodeCounts{}
}

// fileCandidates is called with mu held.
func (x *Indexer) fileCandidates(matches []files.Match) []memory.Candidate {
	out := make([]memory.Candidate, len(matches))
	for i, m := range matches {
		out[i] = x.owners.all[m.ID].candidate(memory.DocID{}, 0)
		out[i].Head, out[i].Fit = true, m.Share
	}
	return out
}

// compareFileNames reports where the file-name indexes differ from those that were just
// loaded.
func (x *Indexer) compareFileNames(fresh *Indexer, bad func(string, ...any)) {
	if a, b := len(x.fileNames.projects), len(fresh.fileNames.projects); a != b {
		bad("files of %d projects are held, the store has %d", a, b)
	}
	for project, want := range fresh.fileNames.projects {
		have := x.fileNames.projects[project]
		if have == nil {
			bad("project %s: none of its files is held", project.Value())
			continue
		}
		if have.counts != want.counts || have.index.Len() != want.index.Len() {
			bad("project %s: %d of files %+v are found by name, should be %d of %+v", project.Value(), have.index.Len(), have.counts, want.index.Len(), want.counts)
		}
	}
	for theirs := range fresh.owners.allFiles() {
		key := fresh.owners.all[theirs].file.FileKey
		ours, ok := x.owners.file(key)
		if !ok {
			bad("file %s/%s is not held", key.Sandbox, key.Path)
			continue
		}
		if a, b := x.fileNameOf(ours), fresh.fileNameOf(theirs); a != b {
			bad("file %s/%s: it is found by %s, should be by %s", key.Sandbox, key.Path, a, b)
		}
	}
}

// fileNameOf describes a file in the file-name index.
func (x *Indexer) fileNameOf(n uint32) string {
	e := &x.owners.all[n]
	path, head, held := x.fileNames.projects[e.project].index.File(n)
	return fmt.Sprintf("%q, %q, %v", path, head, held)
}
