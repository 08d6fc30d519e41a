package recall

import (
	"context"

	"github.com/recalld/recalld/internal/memory"
)

var _ memory.History = (*Service)(nil)

// SearchSteps implements memory.History.
func (s *Service) SearchSteps(ctx context.Context, req memory.HistoryRequest) (*memory.StepMatches, error) {
	return nil, memory.Errorf(memory.CodeUnavailable, "not built yet")
}

// LastSteps implements memory.History.
func (s *Service) LastSteps(ctx context.Context, req memory.HistoryRequest) (*memory.StepList, error) {
	return nil, memory.Errorf(memory.CodeUnavailable, "not built yet")
}

// SummarizeSession implements memory.History.
func (s *Service) SummarizeSession(ctx context.Context, req memory.HistoryRequest) (*memory.Summary, error) {
	return nil, memory.Errorf(memory.CodeUnavailable, "not built yet")
}

// Sessions implements memory.History.
func (s *Service) Sessions(ctx context.Context, req memory.HistoryRequest) (*memory.SessionList, error) {
	return nil, memory.Errorf(memory.CodeUnavailable, "not built yet")
}
