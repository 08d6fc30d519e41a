package connect

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/recalld/recalld/internal/fsx"
)

// Created remembers which files and folders connecting has made, so that a removal leaves
// no empty folder behind and no folder of the user's disappears.
type Created struct {
	path  string
	paths []string
}

// maxCreated bounds the list, in entries. The oldest are forgotten.
const maxCreated = 1000

// OpenCreated reads the list from a file. A missing or damaged one is empty: what it named
// then stays when it is left empty.
func OpenCreated(path string) *Created {
	c := &Created{path: path}
	if text, err := fsx.ReadFile(path, maxFile); err == nil {
		if json.Unmarshal(text, &c.paths) != nil {
			c.paths = nil
		}
	}
	return c
}

// has says whether connecting has made a file or folder.
func (c *Created) has(path string) bool { return slices.Contains(c.paths, path) }

// add notes what is about to be made.
func (c *Created) add(paths []string) error {
	for _, p := range paths {
		if !c.has(p) {
			c.paths = append(c.paths, p)
		}
	}
	return c.save()
}

// removeFolders forgets a file that was removed, and removes the folders above it that
// connecting has made and that are empty.
func (c *Created) removeFolders(file string) error {
	c.drop(file)
	for dir := filepath.Dir(file); c.has(dir); dir = filepath.Dir(dir) {
		// A folder with files is not removed, nor is a link to one.
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() || os.Remove(dir) != nil {
			break
		}
		c.drop(dir)
	}
	return c.save()
}

func (c *Created) drop(path string) {
	c.paths = slices.DeleteFunc(c.paths, func(p string) bool { return p == path })
}

func (c *Created) save() error {
	if len(c.paths) == 0 {
		if err := os.Remove(c.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove list of created files: %w", err)
		}
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(c.path), 0o700); err != nil {
		return fmt.Errorf("create data folder: %w", err)
	}
	c.paths = c.paths[max(0, len(c.paths)-maxCreated):]
	err := fsx.WriteFile(c.path, 0o600, func(w io.Writer) error { return json.NewEncoder(w).Encode(c.paths) })
	if err != nil {
		return fmt.Errorf("note created files: %w", err)
	}
	return nil
}

// makeFolders makes a folder with those above it, and returns the new ones, the outermost
// first.
func makeFolders(dir string) (made []string, err error) {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			break
		}
		made = append(made, at)
	}
	slices.Reverse(made)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("create folder %s: %w", dir, err)
	}
	return made, nil
}
