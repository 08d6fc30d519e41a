package ingest

import (
	"fmt"

	"github.com/recalld/recalld/internal/memory"
)

// sessionsOf returns the ids of the sessions that a caller may speak in, of any project: it may
// tell a lesson of another one.
func (s *Service) sessionsOf(caller memory.Caller) ([]string, error) {
	if caller.Session != "" {
		return []string{caller.Session}, nil
	}
	open, err := s.opts.Sessions.OpenSessions()
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	client := s.client(caller)
	var ids []string
	for _, x := range open {
		if x.Client == client && (x.Window == "" || x.Window == caller.Window) {
			ids = append(ids, x.ID)
		}
	}
	return ids, nil
}

// markPrivate adds the sessions with some ids, of any project, to a batch as private. A lesson
// does not know all the sessions that it was told in, and may be forgotten.
func (s *Service) markPrivate(b *memory.Batch, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	projects, err := s.opts.Sessions.Projects()
	if err != nil {
		return fmt.Errorf("list projects: %w", err)
	}
	for _, id := range unique(ids) {
		for _, p := range projects {
			x, err := s.opts.Sessions.Session(p.ID, id)
			switch {
			case memory.CodeOf(err) == memory.CodeNotFound:
			case err != nil:
				return fmt.Errorf("find session: %w", err)
			case !x.Private:
				x.Private = true
				b.Sessions = append(b.Sessions, x)
			}
		}
	}
	b.MergeSession = func(old, _ memory.Session) (memory.Session, error) { return old, nil } // the mark is kept
	return nil
}
