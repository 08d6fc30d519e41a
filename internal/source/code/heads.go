package code

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/source/code/chunk"
)

// headBatch is how many heads are stored in one commit. It is small enough to share a
// transaction with other writes.
const headBatch = 128

// heads stores the heads of new files without their chunks, so that the file-name index
// answers for a repository long before all of it is split. Only the first run over a
// sandbox does so, and not over a second worktree; a run that was stopped continues here.
func (r *run) heads(ctx context.Context, entries []Entry) error {
	var fresh []Entry
	for _, e := range entries {
		_, known, err := r.known.Metadata(e.Path)
		if err != nil {
			return fmt.Errorf("look up %s: %w", e.Path, err)
		}
		if !known {
			fresh = append(fresh, e)
		}
	}
	// Files with known texts are stored whole sooner than their heads would be.
	known, err := r.mostlyShared(ctx, fresh)
	if err != nil || known || len(fresh) == 0 {
		return err
	}
	r.tell("heads")
	err = each(ctx, r.opts.Workers, slices.Collect(slices.Chunk(fresh, headBatch)), r.putHeads)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.progress.FilesDone = 0
	return err
}

// putHeads stores the heads of some files. The later pass handles files that cannot be
// read or are not text.
func (r *run) putHeads(ctx context.Context, entries []Entry) error {
	files := make([]memory.File, 0, len(entries))
	for _, e := range entries {
		src := r.beginning(e)
		if src == nil || r.opts.skipText(src) != "" {
			continue
		}
		files = append(files, memory.File{
			Project: r.sandbox.Project, Sandbox: r.sandbox.ID, Path: e.Path, Size: e.Size, Lang: e.language(src), Head: head(src),
		})
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if len(files) > 0 {
		if err := r.sink.PutFiles(ctx, files); err != nil {
			return fmt.Errorf("put heads: %w", err)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range files {
		r.headed = append(r.headed, f.Path)
	}
	r.report.Heads += len(files)
	r.step(len(entries))
	return nil
}

// beginning reads as much of a file as its head needs; nil if it cannot.
func (r *run) beginning(e Entry) []byte {
	f, _, err := fsx.OpenFile(r.root, filepath.FromSlash(e.Path))
	if err != nil {
		return nil
	}
	defer f.Close() // only read
	src := make([]byte, headBytes+1)
	n, err := f.Read(src)
	if err != nil {
		return nil
	}
	return []byte(chunk.Truncate(string(src[:n]), headBytes))
}
