package store

import "github.com/recalld/recalld/internal/memory"

// settle updates the counts after a group was committed.
func (s *Store) settle(g *group) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq = g.seq
	docs := fileDocs(g.changes)
	s.fileDocs -= s.referred(docs)
	for doc, n := range g.refs {
		addRefs(s.refs, doc, n, s.loaded)
	}
	s.fileDocs += s.referred(docs)
	for id, n := range g.chunkSets {
		addRefs(s.chunkSets, id, n, s.loaded)
		if s.chunkSets[id] == 0 {
			delete(s.unread, id)
		}
	}
	for _, c := range g.changes {
		for _, r := range c.Records {
			s.logSizes.add(r.Old, -1)
			s.logSizes.add(r.New, 1)
		}
		for _, f := range c.Files {
			s.sandboxSizes.change(f)
			s.settleUsed(f)
		}
		s.totals.change(c)
		if s.expected != nil {
			s.expected.change(c)
		}
	}
	if g.projects {
		s.projects = nil
		s.projectsAt++
	}
	s.settleSandboxes(g.sandboxes)
	s.settleSessions(g.changes)
}

// addRefs counts references. While Load runs, a count may be negative for a moment, if a
// reference was dropped before Load read it. A count of zero is then kept, and Load
// sweeps it at its end.
func addRefs[ID comparable](counts map[ID]int32, id ID, n int32, loaded bool) {
	if counts[id] += n; counts[id] == 0 && loaded {
		delete(counts, id)
	}
}

// fileDocs returns the documents that changed files reference, or did before.
func fileDocs(changes []memory.Change) map[memory.DocID]struct{} {
	docs := map[memory.DocID]struct{}{}
	for _, c := range changes {
		for _, f := range c.Files {
			for _, version := range []*memory.File{f.Old, f.New} {
				if version == nil {
					continue
				}
				for _, chunk := range version.Chunks {
					docs[chunk.Doc] = struct{}{}
				}
			}
		}
	}
	return docs
}

// referred counts the documents that have a reference. It is called with mu held.
func (s *Store) referred(docs map[memory.DocID]struct{}) (n int) {
	for doc := range docs {
		if s.refs[doc] > 0 {
			n++
		}
	}
	return n
}

func (s *Store) references(doc memory.DocID) int32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refs[doc]
}

func (s *Store) isLoaded() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loaded
}
