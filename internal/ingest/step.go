package ingest

import (
	"context"

	"github.com/recalld/recalld/internal/memory"
)

// RecordStep keeps a step.
func (s *Service) RecordStep(ctx context.Context, req memory.RecordStepRequest) (*memory.StepRecorded, error) {
	return nil, memory.Errorf(memory.CodeUnavailable, "not built yet")
}
