package code

import (
	"context"
	"errors"
	"fmt"

	"github.com/recalld/recalld/internal/memory"
)

// waiting is a file without new documents that is stored with the next batch.
type waiting struct {
	entry Entry
	file  memory.File
	what  outcome
}

// putBatch is the size of such a batch: one commit instead of many, and small enough that
// the files of a run become known as it goes.
const putBatch = 64

// touch stores a file with its old chunks, because its text is unchanged, if another
// attribute changed. It returns false if the stored file was replaced meanwhile.
func (r *run) touch(ctx context.Context, e Entry, f memory.File) (bool, error) {
	old, known, err := r.known.File(f.Path)
	if err != nil {
		return false, fmt.Errorf("look up %s: %w", f.Path, err)
	}
	if !known || old.Hash != f.Hash || !r.splitAsNow(old.Brief()) {
		return false, nil
	}
	f.Chunks, f.Pruned, f.Chunker = old.Chunks, old.Pruned, old.Chunker
	// A time that proves nothing does not justify a write.
	if old.Head == f.Head && (f.ModTime.IsZero() || isUnchanged(old.Brief(), Entry{Size: f.Size, ModTime: f.ModTime, ChangeTime: f.ChangeTime, Inode: f.Inode})) {
		r.kept(f.Path, f.Size, len(f.Chunks), kept)
		return true, nil
	}
	return true, r.putSoon(ctx, waiting{e, f, touched})
}

// share stores a file with the chunks of another file of the same text, in another
// worktree or under another name. It returns false if there is none.
func (r *run) share(ctx context.Context, e Entry, f memory.File) (bool, error) {
	if r.opts.NoChunks {
		return false, nil
	}
	chunks, known, err := r.known.Chunks(f.Hash, f.Lang)
	if err != nil {
		return false, fmt.Errorf("look up the text of %s: %w", f.Path, err)
	}
	if !known {
		return false, nil
	}
	f.Chunks = chunks
	return true, r.putSoon(ctx, waiting{e, f, shared})
}

// putSoon adds a file to the batch and stores the batch when it is full.
func (r *run) putSoon(ctx context.Context, w waiting) error {
	r.mu.Lock()
	r.waiting = append(r.waiting, w)
	var batch []waiting
	if len(r.waiting) >= putBatch {
		batch, r.waiting = r.waiting, nil
	}
	r.mu.Unlock()
	return r.putKnown(ctx, batch)
}

// putRest stores the last batch. No other goroutine may add to it.
func (r *run) putRest(ctx context.Context) error {
	batch := r.waiting
	r.waiting = nil
	return r.putKnown(ctx, batch)
}

// putKnown stores a batch. A file whose documents were swept since they were looked up is
// split after all, and the others are stored without it.
func (r *run) putKnown(ctx context.Context, batch []waiting) error {
	if len(batch) == 0 {
		return nil
	}
	files := make([]memory.File, len(batch))
	for i, w := range batch {
		files[i] = w.file
	}
	err := r.sink.PutFiles(ctx, files)
	switch half := len(batch) / 2; {
	case err == nil:
		for _, w := range batch {
			r.kept(w.file.Path, w.file.Size, len(w.file.Chunks), w.what)
		}
		return nil
	case !errors.Is(err, memory.ErrDocMissing):
		return fmt.Errorf("put %s and %d other files: %w", batch[0].file.Path, len(batch)-1, err)
	case half > 0:
		if err := r.putKnown(ctx, batch[:half]); err != nil {
			return err
		}
		return r.putKnown(ctx, batch[half:])
	}
	return r.splitAfterAll(ctx, batch[0])
}

// splitAfterAll splits a file whose chunks are not stored any more.
func (r *run) splitAfterAll(ctx context.Context, w waiting) error {
	old, known, err := r.known.Metadata(w.entry.Path)
	if err != nil {
		return fmt.Errorf("look up %s: %w", w.entry.Path, err)
	}
	f, src, err := r.look(ctx, w.entry, old, known)
	if err != nil || f == nil {
		return err
	}
	return r.split(ctx, *f, src)
}

// sampleFiles is the sample of mostlyShared.
const sampleFiles = 32

// mostlyShared reports whether most files of a sample have texts that are stored already,
// as in a second worktree.
func (r *run) mostlyShared(ctx context.Context, files []Entry) (bool, error) {
	if r.opts.NoChunks || len(files) == 0 {
		return false, nil
	}
	n := min(len(files), sampleFiles)
	same := 0
	for i := range n {
		if same+n-i <= n/2 {
			return false, nil // most have not
		}
		e := files[i*len(files)/n]
		src, _, skip := r.read(ctx, e)
		if skip != "" {
			continue
		}
		_, known, err := r.known.Chunks(hashOf(src), e.language(src))
		if err != nil {
			return false, fmt.Errorf("look up the text of %s: %w", e.Path, err)
		}
		if known {
			same++
		}
	}
	return same > n/2, nil
}
