package ingest

import (
	"context"

	"github.com/recalld/recalld/internal/memory"
)

// StartSession opens a session.
func (s *Service) StartSession(ctx context.Context, req memory.StartSessionRequest) (*memory.SessionState, error) {
	return nil, memory.Errorf(memory.CodeUnavailable, "not built yet")
}

// EndSession ends a session.
func (s *Service) EndSession(ctx context.Context, req memory.EndSessionRequest) (*memory.SessionState, error) {
	return nil, memory.Errorf(memory.CodeUnavailable, "not built yet")
}

// ImportSession takes over a session and steps of it as files hold them.
func (s *Service) ImportSession(ctx context.Context, session memory.Session, steps []memory.Record) (added, known int, err error) {
	return 0, 0, memory.Errorf(memory.CodeUnavailable, "not built yet")
}
