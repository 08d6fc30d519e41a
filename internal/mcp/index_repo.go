package mcp

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// indexInput is what index_repo takes: a path, or the request of contract 4.
type indexInput struct {
	Path         string   `json:"path"`
	ProjectID    string   `json:"project_id"`
	SandboxRoot  string   `json:"sandbox_root"`
	ChangedFiles []string `json:"changed_files"`
	RequestedAt  *string  `json:"requested_at"`
}

func (s *Server) indexRepo(ctx context.Context, c call, in indexInput) (string, any, error) {
	request := memory.IndexRequest{
		ProjectID: in.ProjectID, ChangedFiles: in.ChangedFiles, Caller: c.caller,
	}
	var err error
	if request.Path, err = absolute("path", in.Path, c.caller.Dir); err != nil {
		return "", nil, err
	}
	if request.SandboxRoot, err = absolute("sandbox_root", in.SandboxRoot, c.caller.Dir); err != nil {
		return "", nil, err
	}
	if in.RequestedAt != nil {
		if request.RequestedAt, err = time.Parse(time.RFC3339, *in.RequestedAt); err != nil {
			return "", nil, memory.Invalid("requested_at", "RFC 3339: 2026-01-31T15:04:05Z", "%q is not a time", *in.RequestedAt)
		}
	}
	queued, err := service.IndexRepo.Do(ctx, s.svc, request)
	if err != nil {
		return "", nil, err
	}
	text := fmt.Sprintf("Queued %s (project %s), %s; the status tool shows its progress.",
		queued.Root, memory.ProjectLabel(queued.ProjectName, queued.Project), queued.Turn())
	return text, queued, nil
}

// absolute resolves a path against the caller's folder: the daemon's own
// working folder means nothing to a client.
func absolute(field, path, dir string) (string, error) {
	if path == "" || filepath.IsAbs(path) {
		return path, nil
	}
	if dir == "" {
		return "", memory.Invalid(field, "an absolute path", "%q is relative, and the caller's folder is not known", path)
	}
	return filepath.Join(dir, path), nil
}
