package fsx

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// locate returns the folder to open and the path below it.
func locate(root, dir string) (base, below string, err error) {
	switch {
	case dir == "":
		return "", "", memory.Invalid("dir", "", "no folder is named")
	case filepath.IsAbs(dir):
		return filepath.Clean(dir), ".", nil
	case !filepath.IsAbs(root):
		return "", "", memory.Invalid("dir", "", "%q is not an absolute folder and no root is given", dir)
	case !filepath.IsLocal(dir):
		return "", "", memory.Invalid("dir", "a folder below the repository", "%q leaves it", dir)
	}
	return filepath.Clean(root), filepath.Clean(dir), nil
}

// OpenFolder opens the folder dir below root, creates it if asked to, and returns its
// path. It returns fs.ErrNotExist if there is none, CodeForbidden if it lies in git's own
// folder, for instance by a link, and CodeInvalidInput for the field dir if dir is empty,
// leaves the root, or is relative without a root.
func OpenFolder(root, dir string, create bool) (at *os.Root, path string, err error) {
	base, below, err := locate(root, dir)
	if err != nil {
		return nil, "", err
	}
	path = filepath.Join(base, below)
	if create && below == "." {
		if err := os.MkdirAll(base, 0o777); err != nil {
			return nil, "", fmt.Errorf("create folder: %w", err)
		}
	}
	top, err := OpenRoot(base)
	if err != nil {
		return nil, "", fmt.Errorf("open folder: %w", err)
	}
	if below == "." {
		return top, path, nil
	}
	defer top.Close() // only its handle
	if InGit(base, path) {
		return nil, "", memory.Errorf(memory.CodeForbidden, "%s leads into git's own folder", path)
	}
	if create {
		if err := MkdirAll(top, below); err != nil {
			return nil, "", fmt.Errorf("create folder: %w", err)
		}
	}
	if at, err = OpenRootAt(top, below); err != nil {
		return nil, "", fmt.Errorf("open folder: %w", err)
	}
	return at, path, nil
}

// InGit reports whether a file or folder, with its links resolved, lies in a .git folder of
// base. Only the part of the path that exists counts. What is written there could be a
// reference or a hook, what is read there a password.
func InGit(base, path string) bool {
	real, err := filepath.EvalSymlinks(path)
	for errors.Is(err, fs.ErrNotExist) && len(path) > len(base) {
		path = filepath.Dir(path)
		real, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return false // opening it returns the reason
	}
	if base, err = filepath.EvalSymlinks(base); err != nil {
		return false
	}
	below, err := filepath.Rel(base, real)
	return err == nil && slices.ContainsFunc(strings.Split(below, string(filepath.Separator)), func(part string) bool { return strings.EqualFold(part, ".git") })
}

// MakeEmpty creates a folder unless it exists. It returns CodeConflict for the field
// path if the folder is not empty or is a file.
func MakeEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return fmt.Errorf("create folder of export: %w", err)
		}
		return nil
	case err == nil && len(entries) == 0:
		return nil
	}
	if info, statErr := os.Stat(dir); err != nil && (statErr != nil || info.IsDir()) {
		return fmt.Errorf("read folder of export: %w", err)
	}
	return &memory.Error{Code: memory.CodeConflict, Field: "path", Limit: "a folder that is empty or does not exist",
		Message: dir + " is not an empty folder", Hint: "name a new folder: an export never overwrites"}
}

// Names returns the names of the wanted entries of a folder, sorted, and whether there are
// more than most. Of a folder of any size, no more than these are held in memory.
func Names(folder *os.Root, most int, wanted func(fs.DirEntry) bool) (names []string, more bool, err error) {
	d, err := folder.Open(".")
	if err != nil {
		return nil, false, err
	}
	defer d.Close() // only read
	for !more && !errors.Is(err, io.EOF) {
		var entries []fs.DirEntry
		if entries, err = d.ReadDir(1000); err != nil && !errors.Is(err, io.EOF) {
			return nil, false, err
		}
		for _, e := range entries {
			if !wanted(e) {
				continue
			}
			if more = len(names) == most; more {
				break
			}
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, more, nil
}
