package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// copyTree copies the regular files of a tree, without git's, and returns their
// size in bytes.
func copyTree(from, to string) (int64, error) {
	var size int64
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir() && d.Name() == ".git":
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		case !d.Type().IsRegular() || d.Name() == ".git":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		size += int64(len(text))
		return os.WriteFile(filepath.Join(to, rel), text, 0o644)
	})
	if err != nil {
		return 0, fmt.Errorf("copy tree: %w", err)
	}
	return size, nil
}

// sizeOf is the size of all files below a folder, in bytes.
func sizeOf(dir string) (int64, error) {
	var size int64
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("measure index: %w", err)
	}
	return size, nil
}
