package store

import "github.com/recalld/recalld/internal/memory"

// lineRest is about what a line of a lesson log takes beside its texts: the names of
// its fields, time, agent, rate and tags; in bytes.
const lineRest = 180

// logSizes is about how many bytes the log of all lessons of a project takes, by
// project.
type logSizes map[string]int64

// add counts a record, once for 1 and back for -1.
func (l logSizes) add(r *memory.Record, times int64) {
	if r == nil || r.Event == nil {
		return
	}
	l.change(r.Project, times*int64(len(r.Repo)+len(r.Event.Context)+len(r.Event.Command)+len(r.Event.Lesson)+lineRest))
}

func (l logSizes) change(project string, bytes int64) {
	if l[project] += bytes; l[project] == 0 {
		delete(l, project)
	}
}

// LessonLogSize returns about how many bytes an agent would read that reads the log of
// all lessons of a project instead of asking.
func (s *Store) LessonLogSize(project string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.logSizes[project]
}
