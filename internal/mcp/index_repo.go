package mcp

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/recalld/recalld/internal/memory"
)

func absolutePaths(_ context.Context, c call, r *memory.IndexRequest) (err error) {
	if r.Path, err = absolute("path", r.Path, c.caller.Dir); err != nil {
		return err
	}
	r.SandboxRoot, err = absolute("sandbox_root", r.SandboxRoot, c.caller.Dir)
	return err
}

func queuedText(r *memory.IndexQueued) string {
	if i := r.Indexed; i != nil {
		return fmt.Sprintf("Indexed %s (project %s): %s, %s.", inLine(r.Root), projectLabel(r.ProjectName, r.Project), memory.Count(i.Files, "file"), memory.Count(i.Chunks, "chunk"))
	}
	return fmt.Sprintf("Queued %s (project %s), %s; the status tool shows its progress.",
		inLine(r.Root), projectLabel(r.ProjectName, r.Project), r.Turn())
}

// absolute resolves a path against the caller's folder: the daemon's own
// working folder means nothing to a client.
func absolute(field, path, dir string) (string, error) {
	if path == "" || filepath.IsAbs(path) {
		return path, nil
	}
	if dir == "" {
		return "", memory.Invalid(field, "an absolute path", "%q is relative, and the caller's folder is unknown", path)
	}
	return filepath.Join(dir, path), nil
}
