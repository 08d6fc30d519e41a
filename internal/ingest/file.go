package ingest

import (
	"context"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// PutFile replaces a file's chunks and documents. Documents that are already stored, from a
// renamed file or another worktree, are not analysed or embedded again.
func (s *Service) PutFile(ctx context.Context, f memory.File, docs []memory.Document) error {
	_, err := s.commit(ctx, memory.Batch{Files: []memory.File{f}}, qualified(f, docs))
	return err
}

// qualified adds to the names that documents declare those under which a chunk's
// symbol has them as well: "Server.Serve" beside "Serve". The symbol is part of a
// document's text, so that they follow from the document as its words do.
func qualified(f memory.File, docs []memory.Document) []memory.Document {
	symbols := make(map[memory.DocID]string, len(f.Chunks))
	for _, c := range f.Chunks {
		symbols[c.Doc] = c.Symbol
	}
	out := slices.Clone(docs)
	for i := range out {
		d := &out[i]
		d.Defines = slices.Concat(d.Defines, inContainers(symbols[d.ID], d.Defines))
	}
	return out
}

// inContainers returns names with the nearest of what a symbol says they are
// declared in.
func inContainers(symbol string, names []string) []string {
	if symbol == "" || len(names) == 0 {
		return nil
	}
	var out []string
	symbols := strings.Split(symbol, ", ")
	for _, s := range symbols {
		dot := strings.LastIndexByte(s, '.')
		if dot < 0 {
			continue
		}
		if name := s[dot+1:]; slices.Contains(names, name) {
			out = append(out, lastPart(s[:dot])+"."+name)
		}
	}
	if len(symbols) > 1 {
		return out
	}
	// The symbol of a class, and of any part of its body, is the class itself.
	for _, name := range names {
		if container := lastPart(symbol); name != container {
			out = append(out, container+"."+name)
		}
	}
	return out
}

func lastPart(symbol string) string { return symbol[strings.LastIndexByte(symbol, '.')+1:] }

// PutFiles replaces several files that bring no documents, in one commit. It returns
// memory.ErrDocMissing if a document of their chunks is not stored.
func (s *Service) PutFiles(ctx context.Context, files []memory.File) error {
	_, err := s.opts.Committer.Commit(ctx, memory.Batch{Files: files})
	return err
}

// PruneFiles removes the chunks of files in one commit, and returns how many files had any.
func (s *Service) PruneFiles(ctx context.Context, files []memory.FileKey) (int, error) {
	done, err := s.opts.Committer.Commit(ctx, memory.Batch{PruneFiles: files})
	return done.Pruned, err
}

// DropFile removes a deleted file.
func (s *Service) DropFile(ctx context.Context, sandbox, path string) error {
	_, err := s.opts.Committer.Commit(ctx, memory.Batch{DropFiles: []memory.FileKey{{Sandbox: sandbox, Path: path}}})
	return err
}

// PutSandbox writes the state of a sandbox and its project.
func (s *Service) PutSandbox(ctx context.Context, p memory.Project, b memory.Sandbox) error {
	_, err := s.opts.Committer.Commit(ctx, memory.Batch{Projects: []memory.Project{p}, Sandboxes: []memory.Sandbox{b}})
	return err
}
