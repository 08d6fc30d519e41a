package code

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/project"
)

// Skipped lists the files of a repository that a run would skip, and why. It is a run
// that stores nothing: files that are indexed as they are on disk are not read again.
func (s *Sandboxes) Skipped(ctx context.Context, req memory.SkippedRequest) (*memory.SkippedList, error) {
	if err := memory.Text("path", req.Path, 0, memory.MaxPathText); err != nil {
		return nil, err
	}
	_, id, err := located(req.Path, req.Caller)
	if err != nil {
		return nil, err
	}
	box, indexed, err := s.sandbox(project.SandboxID(id.Root))
	if err != nil {
		return nil, err
	}
	if !indexed {
		box = memory.Sandbox{ID: project.SandboxID(id.Root), Root: id.Root}
	}
	known, err := knownOf(s.opts.Store, box.ID, true)
	if err != nil {
		return nil, err
	}
	list := &memory.SkippedList{Root: id.Root, Files: []memory.SkippedFile{}, Reasons: map[string]int{}}
	opts := s.opts.Run
	opts.Progress = nil
	opts.Skipped = func(skip Skip) {
		list.Total++
		list.Reasons[string(skip.Reason)]++
		if len(list.Files) < memory.MaxSkipped {
			list.Files = append(list.Files, memory.SkippedFile{Path: skip.Path, Reason: string(skip.Reason)})
		}
	}
	if _, err := Index(ctx, box, known, nil, nowhere{}, opts); err != nil {
		return nil, err
	}
	slices.SortFunc(list.Files, func(a, b memory.SkippedFile) int { return cmp.Compare(a.Path, b.Path) })
	return list, nil
}

// nowhere is a Sink that stores nothing.
type nowhere struct{}

var _ Sink = nowhere{}

// PutFile implements Sink.
func (nowhere) PutFile(context.Context, memory.File, []memory.Document) error { return nil }

// PutFiles implements Sink.
func (nowhere) PutFiles(context.Context, []memory.File) error { return nil }

// DropFile implements Sink.
func (nowhere) DropFile(context.Context, string, string) error { return nil }

// located returns the folder that a request names, relative to its caller's folder, and the
// repository that contains it.
func located(path string, caller memory.Caller) (dir string, id project.Identity, err error) {
	switch {
	case filepath.IsAbs(path):
		dir = path
	case caller.Dir == "":
		return "", id, &memory.Error{Code: memory.CodeInvalidInput, Field: "path", Limit: "an absolute path",
			Message: "the path is relative and the caller's folder is unknown", Hint: "name the whole path"}
	default:
		dir = filepath.Join(caller.Dir, path)
	}
	id, err = project.Identify(dir)
	return dir, id, err
}
