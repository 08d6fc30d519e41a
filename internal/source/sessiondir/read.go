package sessiondir

import (
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/fsx"
)

// IsSession reports whether a folder is a session's: it has a session file or steps.
func IsSession(folder string) bool {
	if info, err := os.Lstat(filepath.Join(folder, sessionFile)); err == nil && info.Mode().IsRegular() {
		return true
	}
	entries, _ := os.ReadDir(filepath.Join(folder, stepsFolder)) // none if it cannot be read
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return strings.HasSuffix(e.Name(), fileSuffix) && e.Type().IsRegular() })
}

// IsTree reports whether a folder holds at least one session's folder.
func IsTree(dir string) bool {
	entries, _ := os.ReadDir(dir) // none if it cannot be read
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.IsDir() && IsSession(filepath.Join(dir, e.Name())) })
}

// ReadSession yields one session's folder in batches. It ends with fs.ErrNotExist if the
// folder is missing.
func ReadSession(folder string) iter.Seq2[Batch, error] {
	return func(yield func(Batch, error) bool) {
		path, err := filepath.Abs(folder)
		if err == nil {
			path, err = filepath.EvalSymlinks(path) // a user may name a link
		}
		if err != nil {
			yield(Batch{}, fmt.Errorf("find session folder: %w", err))
			return
		}
		at, err := fsx.OpenRoot(filepath.Dir(path))
		if err != nil {
			yield(Batch{}, fmt.Errorf("open session folder: %w", err))
			return
		}
		defer at.Close() // only read
		(&folderState{}).read(at, filepath.Base(path), path, readAll(newTree()), yield)
	}
}

// ReadTree yields all sessions of a tree in batches. It ends with fs.ErrNotExist if the
// tree is missing.
func ReadTree(dir string) iter.Seq2[Batch, error] {
	return func(yield func(Batch, error) bool) {
		path, err := filepath.Abs(dir)
		if err != nil {
			yield(Batch{}, fmt.Errorf("find folder of sessions: %w", err))
			return
		}
		at, err := fsx.OpenRoot(path)
		if err != nil {
			yield(Batch{}, fmt.Errorf("open folder of sessions: %w", err))
			return
		}
		defer at.Close() // only read
		names, err := listFolders(at)
		if err != nil {
			yield(Batch{}, fmt.Errorf("list sessions: %w", err))
			return
		}
		how := readAll(newTree())
		for _, name := range names {
			if !(&folderState{}).read(at, name, filepath.Join(path, name), how, yield) {
				return
			}
		}
	}
}

// readAll is a reading without a later poll.
func readAll(t *tree) reading { return reading{tree: t, maxSteps: maxSteps, final: true} }
