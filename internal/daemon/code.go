package daemon

import (
	"context"

	"github.com/recalld/recalld/internal/memory"
)

// Pause implements memory.Repositories.
func (d *Daemon) Pause(ctx context.Context, req memory.PauseRequest) (*memory.Paused, error) {
	return nil, memory.Errorf(memory.CodeUnavailable, "not composed yet")
}

// Files implements memory.Repositories.
func (d *Daemon) Files(ctx context.Context, req memory.FilesRequest) (*memory.FileList, error) {
	return nil, memory.Errorf(memory.CodeUnavailable, "not composed yet")
}
