package ingest

import (
	"context"

	"github.com/recalld/recalld/internal/memory"
)

// PutFile replaces what is known of a file. Documents that are stored already,
// of a renamed file or another worktree, are neither analysed nor embedded.
func (s *Service) PutFile(ctx context.Context, f memory.File, docs []memory.Document) error {
	_, err := s.commit(ctx, memory.Batch{Files: []memory.File{f}}, docs)
	return err
}

// DropFile forgets a file that is gone.
func (s *Service) DropFile(ctx context.Context, sandbox, path string) error {
	_, err := s.opts.Committer.Commit(ctx, memory.Batch{DropFiles: []memory.FileKey{{Sandbox: sandbox, Path: path}}})
	return err
}

// PutSandbox writes the state of a sandbox, and its project with it.
func (s *Service) PutSandbox(ctx context.Context, p memory.Project, b memory.Sandbox) error {
	_, err := s.opts.Committer.Commit(ctx, memory.Batch{Projects: []memory.Project{p}, Sandboxes: []memory.Sandbox{b}})
	return err
}
