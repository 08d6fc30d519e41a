package code

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/source/code/chunk"
)

// file brings one file up to date.
func (r *run) file(ctx context.Context, e Entry) error {
	old, known, err := r.known.Metadata(e.Path)
	if err != nil {
		return fmt.Errorf("look up %s: %w", e.Path, err)
	}
	if !known && !r.mayAdd() {
		r.skipped(e.Path, SkipMany)
		return nil
	}
	splitAsNow := known && r.splitAsNow(old)
	if splitAsNow && old.Head == !r.opts.NoHeads && isUnchanged(old, e) {
		r.kept(e.Path, old.Size, old.Chunks, kept)
		return nil
	}
	f, src, err := r.look(ctx, e, old, known)
	if err != nil || f == nil {
		return err
	}
	if splitAsNow && old.Hash == f.Hash && old.Lang == f.Lang {
		done, err := r.touch(ctx, e, *f)
		if done || err != nil {
			return err
		}
	}
	done, err := r.share(ctx, e, *f)
	if done || err != nil {
		return err
	}
	return r.split(ctx, *f, src)
}

// isUnchanged reports whether a file's size, times and inode prove that it is as it was
// indexed. git compares the same. A file stored without a change time is compared by size
// and modification time.
func isUnchanged(old memory.FileMetadata, e Entry) bool {
	if old.Size != e.Size || old.ModTime.IsZero() || !old.ModTime.Equal(e.ModTime) {
		return false
	}
	return old.ChangeTime.IsZero() || e.ChangeTime.IsZero() || old.ChangeTime.Equal(e.ChangeTime) && old.Inode == e.Inode
}

// look reads a file and returns it without its chunks, and its text. It returns nil for a
// file that is skipped.
func (r *run) look(ctx context.Context, e Entry, old memory.FileMetadata, known bool) (*memory.File, []byte, error) {
	src, at, skip := r.read(ctx, e)
	if skip != skipGone {
		r.mu.Lock()
		r.report.Read++
		r.mu.Unlock()
	}
	if skip == "" {
		skip = r.opts.skipText(src)
	}
	switch {
	case ctx.Err() != nil:
		return nil, nil, context.Cause(ctx)
	case skip == skipGone:
		return nil, nil, nil
	case skip == SkipUnreadable && known:
		// A file that cannot be read now may be unchanged; the gates check it.
		r.skipped(e.Path, skip)
		r.kept(e.Path, old.Size, old.Chunks, kept)
		return nil, nil, nil
	case skip != "":
		r.skipped(e.Path, skip)
		return nil, nil, nil
	}
	f := &memory.File{
		Project: r.sandbox.Project, Sandbox: r.sandbox.ID, Path: e.Path, Hash: hashOf(src), Size: int64(len(src)),
		ModTime: at.modTime, ChangeTime: at.changed, Inode: at.inode, Lang: e.language(src), Generation: old.Generation, Chunker: r.chunker(),
	}
	if !r.opts.NoHeads {
		f.Head = head(src)
	}
	return f, src, nil
}

// split splits a file and stores it with its chunks and documents.
func (r *run) split(ctx context.Context, f memory.File, src []byte) error {
	docs := []memory.Document{}
	if !r.opts.NoChunks {
		err := r.opts.turn(ctx, func() error {
			f.Chunks, docs = chunksOf(chunk.Split(f.Path, f.Lang, src), src)
			return nil
		})
		if err != nil {
			return err
		}
	}
	if err := r.sink.PutFile(ctx, f, docs); err != nil {
		return fmt.Errorf("put %s: %w", f.Path, err)
	}
	r.kept(f.Path, f.Size, len(f.Chunks), split)
	r.mu.Lock()
	r.report.Documents += len(docs)
	r.mu.Unlock()
	return nil
}

// chunker is the version of the chunker that files get; 0 is no chunks.
func (r *run) chunker() int {
	if r.opts.NoChunks {
		return 0
	}
	return chunk.Version
}

// splitAsNow reports whether the stored chunks of a file, if its text is the same, are
// those that it would get now.
func (r *run) splitAsNow(old memory.FileMetadata) bool {
	if old.Project != r.sandbox.Project {
		return false // the folder has become another project's
	}
	if old.Pruned {
		return !r.opts.NoChunks && !r.opts.Restore
	}
	return old.Chunker == r.chunker()
}

// chunksOf returns the stored form of the chunks of a text.
func chunksOf(parts []chunk.Chunk, src []byte) ([]memory.FileChunk, []memory.Document) {
	chunks := make([]memory.FileChunk, 0, len(parts))
	docs := make([]memory.Document, 0, len(parts))
	have := make(map[memory.DocID]bool, len(parts))
	for _, p := range parts {
		id := memory.DocumentID(p.Doc)
		chunks = append(chunks, memory.FileChunk{
			Doc: id, Hash: hashOf(src[p.Start:p.End]), Start: p.Start, End: p.End,
			StartLine: p.StartLine, EndLine: p.EndLine, Symbol: p.Symbol,
		})
		if !have[id] {
			have[id] = true
			docs = append(docs, memory.Document{ID: id, Text: p.Doc, Defines: p.Defines, Declares: p.Declares, Test: p.Test})
		}
	}
	return chunks, docs
}

// stamp has the attributes of a file as it was read. It is zero if they cannot prove that
// the file is unchanged, so that the next run reads the file again.
type stamp struct {
	modTime, changed time.Time
	inode            uint64
}

// read reads a file that the walk found.
func (r *run) read(ctx context.Context, e Entry) ([]byte, stamp, SkipReason) {
	f, before, err := fsx.OpenFile(r.root, filepath.FromSlash(e.Path))
	switch {
	case fsx.IsGone(err):
		return nil, stamp{}, skipGone
	case errors.Is(err, fsx.ErrNotRegular):
		return nil, stamp{}, SkipIrregular
	case err != nil:
		return nil, stamp{}, SkipUnreadable
	}
	defer f.Close() // only read
	now := r.opts.Now()
	if before.Size() > r.opts.MaxFileSize {
		return nil, stamp{}, SkipLarge
	}
	src, reason := readAll(ctx, f, before.Size(), r.opts.MaxFileSize)
	switch reason {
	case "":
	case memory.Changed: // it has grown
		return nil, stamp{}, SkipLarge
	default:
		return nil, stamp{}, SkipUnreadable
	}
	after, err := f.Stat()
	if err != nil {
		return nil, stamp{}, SkipUnreadable
	}
	at := stamp{modTime: after.ModTime()}
	at.changed, at.inode = fsx.ChangeOf(after)
	changed, _ := fsx.ChangeOf(before)
	if !before.ModTime().Equal(at.modTime) || !changed.Equal(at.changed) || after.Size() != int64(len(src)) ||
		now.Sub(at.modTime) < racy || now.Sub(at.changed) < racy {
		at = stamp{}
	}
	return src, at, ""
}

// outcome is how a file was brought up to date.
type outcome int

const (
	kept outcome = iota
	touched
	shared
	split
)

// kept counts a file that is indexed now.
func (r *run) kept(path string, size int64, chunks int, what outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen[path] = true
	r.report.Files++
	r.report.Chunks += chunks
	switch what {
	case touched:
		r.report.Touched++
	case shared, split:
		if what == shared {
			r.report.Shared++
		}
		r.report.Changed++
		r.progress.Changed++
		r.progress.Chunks += chunks
		r.progress.Bytes += size
	}
	r.step(1)
}

// mayAdd reports whether there is room for a new file. A full run counted its files as it
// walked.
func (r *run) mayAdd() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.report.Partial && r.opts.Indexed+r.added >= r.opts.MaxFiles {
		return false
	}
	r.added++
	return true
}

// skipped counts a file that is skipped because of its text.
func (r *run) skipped(name string, reason SkipReason) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Skipped[reason]++
	if r.opts.Skipped != nil {
		r.opts.Skipped(Skip{name, reason})
	}
	r.step(1)
}

// step counts files that are done and reports progress from time to time. Callers hold
// r.mu.
func (r *run) step(files int) {
	r.progress.FilesDone += files
	if r.opts.Progress != nil && r.opts.Now().Sub(r.told) >= r.opts.ProgressEvery {
		r.phase(r.progress.Phase)
	}
}
