package code

import (
	"fmt"
	"iter"
	"slices"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/source/code/chunk"
)

// Known is what was indexed of a sandbox before. It is asked while the Sink is
// given changes; that it answers as before the run is enough. Its methods must be
// safe for concurrent use.
type Known interface {
	// Metadata returns how a file was indexed, and whether it was.
	Metadata(path string) (memory.FileMetadata, bool, error)
	// File returns the whole of it: what is stored now.
	File(path string) (memory.File, bool, error)
	// Chunks returns the chunks of any indexed file, of this sandbox or another one,
	// that has a text, by the hash of its bytes, in a language, and was cut as
	// files are cut now. They must not be written to.
	Chunks(text memory.DocID, lang string) ([]memory.FileChunk, bool, error)
	// Paths lists, in any order, the files that are among sorted paths or lie below
	// one; nil lists all. A path may come twice.
	Paths(only []string) iter.Seq2[string, error]
}

// KnownFiles is Known from a map by path, which nobody may change meanwhile.
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
func (k KnownFiles) Paths(only []string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for path := range k {
			if (only == nil || covered(only, path)) && !yield(path, nil) {
				return
			}
		}
	}
}

// stored is Known from the store. A run over everything holds a brief of every
// file; one over some paths looks up what it comes across, so that a saved file
// costs the same in a small repository and a large one.
type stored struct {
	store   Store
	sandbox string
	// briefs are of all files, nil for a run over some.
	briefs map[string]memory.FileMetadata
}

var _ Known = (*stored)(nil)

// knownOf returns what is stored of a sandbox, for a run over everything or not.
func knownOf(store Store, sandbox string, everything bool) (*stored, error) {
	k := &stored{store: store, sandbox: sandbox}
	if !everything {
		return k, nil
	}
	var err error
	if k.briefs, err = store.FileMetadata(sandbox); err != nil {
		return nil, fmt.Errorf("list known files: %w", err)
	}
	return k, nil
}

// Metadata implements Known.
func (k *stored) Metadata(path string) (memory.FileMetadata, bool, error) {
	if k.briefs != nil {
		b, ok := k.briefs[path]
		return b, ok, nil
	}
	f, ok, err := k.File(path)
	return f.Brief(), ok, err
}

// File implements Known. A file that is damaged is one that is not known.
func (k *stored) File(path string) (memory.File, bool, error) {
	f, err := k.store.File(k.sandbox, path)
	known, err := readable(err)
	return f, known, err
}

// readable reports whether something was found. What is damaged is as good as missing.
func readable(err error) (bool, error) {
	switch {
	case err == nil:
		return true, nil
	case slices.Contains([]memory.Code{memory.CodeNotFound, memory.CodeCorrupt}, memory.CodeOf(err)):
		return false, nil
	}
	return false, err
}

// Chunks implements Known.
func (k *stored) Chunks(text memory.DocID, lang string) ([]memory.FileChunk, bool, error) {
	chunks, err := k.store.Cut(text, lang, chunk.Version)
	known, err := readable(err)
	return chunks, known, err
}

// Paths implements Known.
func (k *stored) Paths(only []string) iter.Seq2[string, error] {
	if only == nil {
		return func(yield func(string, error) bool) {
			for path := range k.briefs {
				if !yield(path, nil) {
					return
				}
			}
		}
	}
	return func(yield func(string, error) bool) {
		paths, err := k.store.PathsBelow(k.sandbox, only)
		if err != nil {
			yield("", err)
			return
		}
		for _, path := range paths {
			if !yield(path, nil) {
				return
			}
		}
	}
}
