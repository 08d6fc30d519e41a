package code

import (
	"fmt"
	"maps"
	"slices"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/source/code/chunk"
)

// Known is what a run knows of the files of a sandbox from earlier runs. It may be called
// while the Sink is given changes, and may answer as before the run. Its methods must be
// safe for concurrent use.
type Known interface {
	// Metadata returns the metadata of a file, and whether the file is indexed.
	Metadata(path string) (memory.FileMetadata, bool, error)
	// File returns the file as it is stored now.
	File(path string) (memory.File, bool, error)
	// Chunks returns the chunks of any indexed file, in this sandbox or another, that has
	// a text, by the hash of its bytes, in a language, and was split by this version. The
	// result must not be modified.
	Chunks(text memory.DocID, lang string) ([]memory.FileChunk, bool, error)
	// Paths returns, in any order, the files that are among sorted paths or below one of
	// them; nil returns all. A path may come twice.
	Paths(only []string) ([]string, error)
}

// KnownFiles is Known from a map by path, which must not change meanwhile.
type KnownFiles map[string]memory.File

var _ Known = KnownFiles(nil)

// Metadata implements Known.
func (k KnownFiles) Metadata(path string) (memory.FileMetadata, bool, error) {
	f, ok := k[path]
	return f.Brief(), ok, nil
}

// File implements Known.
func (k KnownFiles) File(path string) (memory.File, bool, error) {
	f, ok := k[path]
	return f, ok, nil
}

// Chunks implements Known. It looks through all files.
func (k KnownFiles) Chunks(text memory.DocID, lang string) ([]memory.FileChunk, bool, error) {
	for _, f := range k {
		if f.Hash == text && f.Lang == lang && f.Chunker == chunk.Version && len(f.Chunks) > 0 {
			return f.Chunks, true, nil
		}
	}
	return nil, false, nil
}

// Paths implements Known.
func (k KnownFiles) Paths(only []string) ([]string, error) {
	paths := slices.Collect(maps.Keys(k))
	if only != nil {
		paths = slices.DeleteFunc(paths, func(path string) bool { return !covered(only, path) })
	}
	return paths, nil
}

// stored is Known from the store. A run over everything holds the metadata of every file.
// A run over some paths looks up each file, so that a saved file costs the same in a
// small repository and a large one.
type stored struct {
	store   Store
	sandbox string
	// metadata has all files, nil for a run over some.
	metadata map[string]memory.FileMetadata
}

var _ Known = (*stored)(nil)

// knownOf returns the stored files of a sandbox.
func knownOf(store Store, sandbox string, everything bool) (*stored, error) {
	k := &stored{store: store, sandbox: sandbox}
	if !everything {
		return k, nil
	}
	var err error
	if k.metadata, err = store.FileMetadata(sandbox); err != nil {
		return nil, fmt.Errorf("list known files: %w", err)
	}
	return k, nil
}

// Metadata implements Known.
func (k *stored) Metadata(path string) (memory.FileMetadata, bool, error) {
	if k.metadata != nil {
		b, ok := k.metadata[path]
		return b, ok, nil
	}
	f, ok, err := k.File(path)
	return f.Brief(), ok, err
}

// File implements Known. A damaged file counts as missing.
func (k *stored) File(path string) (memory.File, bool, error) {
	f, err := k.store.File(k.sandbox, path)
	known, err := readable(err)
	return f, known, err
}

// readable reports whether something was found. A damaged value counts as missing.
func readable(err error) (bool, error) {
	if code := memory.CodeOf(err); err != nil && (code == memory.CodeNotFound || code == memory.CodeCorrupt) {
		return false, nil
	}
	return err == nil, err
}

// Chunks implements Known.
func (k *stored) Chunks(text memory.DocID, lang string) ([]memory.FileChunk, bool, error) {
	chunks, err := k.store.ChunksOf(text, lang, chunk.Version)
	known, err := readable(err)
	return chunks, known, err
}

// Paths implements Known.
func (k *stored) Paths(only []string) ([]string, error) {
	if only == nil {
		return slices.Collect(maps.Keys(k.metadata)), nil
	}
	return k.store.PathsBelow(k.sandbox, only)
}
