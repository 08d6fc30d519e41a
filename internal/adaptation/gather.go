package adaptation

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/recalld/recalld/internal/memory"
)

// Store lists the material to learn from.
type Store interface {
	// Sandboxes lists the indexed folders.
	Sandboxes() ([]memory.Sandbox, error)
	// FileMetadata lists the files of a sandbox, by path.
	FileMetadata(sandbox string) (map[string]memory.FileMetadata, error)
	// Lessons iterates over the lessons. A damaged one yields an error and does not end
	// the iteration.
	Lessons() iter.Seq2[memory.Record, error]
}

// Read reads a whole indexed file through the gates of code, without secrets. The error
// is a *memory.GateError; its reason is Changed if the file has another hash.
type Read func(ctx context.Context, at memory.Location, hash memory.DocID) (string, error)

// file is the text of an indexed file, and where it is: in several worktrees, often.
type file struct {
	hash memory.DocID
	at   []memory.Location
}

// gather collects the pairs of lessons and files. Files without chunks are not read:
// indexing skipped or removed them.
func (s *Service) gather(ctx context.Context) (*corpus, error) {
	files, err := s.files()
	if err != nil {
		return nil, err
	}
	c := &corpus{}
	for r, err := range s.opts.Store.Lessons() {
		if err == nil && r.Event != nil && r.Event.Withdrawn == nil {
			c.addPair(r.ID, r.Event.Context, lessonText(r.Event))
		}
	}
	for i, f := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s.report(memory.AdaptProgress{Phase: phaseReading, Done: i, Total: len(files)})
		for _, at := range f.at {
			text, err := s.opts.Read(ctx, at, f.hash)
			if err != nil {
				continue // the file has changed or is gone; another worktree may have the text
			}
			c.addFile(at.Project+"\x00"+at.Path, at.Lang, text)
			break
		}
	}
	return c, nil
}

// files lists the indexed files, each text once: worktrees share most texts.
func (s *Service) files() ([]file, error) {
	sandboxes, err := s.opts.Store.Sandboxes()
	if err != nil {
		return nil, fmt.Errorf("list sandboxes: %w", err)
	}
	var files []file
	places := map[memory.DocID]int{} // in files
	for _, b := range sandboxes {
		briefs, err := s.opts.Store.FileMetadata(b.ID)
		if err != nil {
			return nil, fmt.Errorf("list files of %s: %w", b.Root, err)
		}
		for _, path := range slices.Sorted(maps.Keys(briefs)) {
			f := briefs[path]
			if f.Chunks == 0 {
				continue
			}
			i, known := places[f.Hash]
			if !known {
				i = len(files)
				places[f.Hash] = i
				files = append(files, file{hash: f.Hash})
			}
			files[i].at = append(files[i].at, memory.Location{Project: b.Project, Sandbox: b.ID, Root: b.Root, Path: path, Lang: f.Lang})
		}
	}
	return files, nil
}

func lessonText(e *memory.Event) string {
	if e.Command == "" {
		return e.Lesson
	}
	return e.Lesson + "\n" + e.Command
}
