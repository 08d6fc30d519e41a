package store

import "github.com/recalld/recalld/internal/memory"

// settle brings the counts up to date with a committed group.
func (s *Store) settle(g *group) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq = g.seq
	for doc, n := range g.refs {
		s.addRef(doc, n)
	}
	for _, c := range g.changes {
		s.count(c)
	}
	if g.projects {
		s.projects = nil
		s.projectsAt++
	}
	s.settleSessions(g.changes)
}

// addRef is called with mu held. While loading a count may be negative for a
// moment, when a reference was dropped before Load came across it, and one of
// zero is kept: Load sweeps those at its end.
func (s *Store) addRef(doc memory.DocID, n int32) {
	if s.refs[doc] += n; s.refs[doc] == 0 && s.loaded {
		delete(s.refs, doc)
	}
}

// count is called with mu held.
func (s *Store) count(c memory.Change) {
	for _, r := range c.Records {
		if r.Old != nil {
			s.counts[r.Old.Kind]--
		}
		if r.New != nil {
			s.counts[r.New.Kind]++
		}
	}
	for _, f := range c.Files {
		if f.Old != nil {
			s.counts[memory.Chunk] -= len(f.Old.Chunks)
		}
		if f.New != nil {
			s.counts[memory.Chunk] += len(f.New.Chunks)
		}
		s.boxes.change(f)
		s.settleUsed(f)
	}
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
