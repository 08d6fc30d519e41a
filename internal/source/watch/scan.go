package watch

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"github.com/recalld/recalld/internal/fsx"
)

// scanAll watches all folders that the rules want, and returns their paths.
func (r *root) scanAll() (map[string]bool, error) {
	select {
	case r.w.scans <- struct{}{}:
	case <-r.ctx.Done():
		return nil, r.ctx.Err()
	}
	defer func() { <-r.w.scans }()
	keep := map[string]bool{}
	r.nested = map[string]bool{}
	err := r.scan(".", keep)
	if err == nil && r.rules.GitDir != "" {
		err = r.watchGit(keep)
	}
	return keep, err
}

// scan watches a folder with all below it that the rules do not skip, and adds them to
// keep unless that is nil. A folder is read after it is watched, so that new files in
// between are reported.
func (r *root) scan(rel string, keep map[string]bool) error {
	todo := []string{rel}
	for len(todo) > 0 {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		rel := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		full := filepath.Join(r.at.Path, filepath.FromSlash(rel))
		// The folder may be a link by now, which leads elsewhere.
		info, err := os.Lstat(full)
		if err != nil || !info.IsDir() {
			continue
		}
		entries, err := r.watched(full)
		if isPassing(err) {
			continue
		}
		if err != nil {
			return err
		}
		if now, err := os.Lstat(full); err != nil || !os.SameFile(info, now) {
			continue // if it is another folder, an event will report it
		}
		if keep != nil {
			keep[full] = true
		}
		for _, e := range entries {
			if !e.IsDir() || e.Name() == ".git" {
				continue
			}
			if child := path.Join(rel, e.Name()); !r.leavesOut(child) {
				todo = append(todo, child)
			}
		}
	}
	return nil
}

// watched watches a folder and lists it.
func (r *root) watched(full string) ([]fs.DirEntry, error) {
	holds := 0
	if weight(1) > 1 {
		entries, err := os.ReadDir(full)
		if err != nil {
			return nil, err
		}
		holds = len(entries)
	}
	if err := r.w.system.watch(r, full, holds); err != nil {
		return nil, err
	}
	return os.ReadDir(full)
}

// watchGit watches the folder of git's own files.
func (r *root) watchGit(keep map[string]bool) error {
	err := r.w.system.watch(r, r.rules.GitDir, 16)
	if isPassing(err) {
		return nil
	}
	keep[r.rules.GitDir] = true
	return err
}

// isPassing reports whether a folder is gone, is not a folder any more, or may not be
// read. None of its files can be indexed.
func isPassing(err error) bool {
	return fsx.IsGone(err) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ELOOP)
}
