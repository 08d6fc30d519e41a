package code

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/project"
	"github.com/recalld/recalld/internal/source/watch"
)

const (
	// maxFound bounds the repositories found below one folder.
	maxFound = 1000
	// lookEvery is how often repositories are searched after something appeared below the
	// folders, and lookFor for how long: git makes a repository in several steps, and the
	// watcher reports the first.
	lookEvery = 500 * time.Millisecond
	lookFor   = 10 * time.Second
	// emptyFor is how long an empty repository is taken for one that is still being
	// fetched.
	emptyFor = 2 * time.Second
	// unfinishedFor bounds how long a repository is awaited that git is filling.
	unfinishedFor = time.Hour
)

// sayMissing logs the folders that do not exist, each once until it exists: most likely
// its name is misspelt and would never be indexed.
func (r *refresher) sayMissing() {
	for _, dir := range r.folders {
		info, err := os.Stat(dir)
		if err == nil && !info.IsDir() {
			err = errors.New("it is not a folder")
		}
		if err != nil && !r.missing[dir] {
			r.s.opts.Logger.Error("folder of the setting sandboxes cannot be used", "part", "code", "folder", dir, "error", err)
		}
		r.missing[dir] = err != nil
	}
}

// watchFolders watches the folders as deep as repositories are searched.
func (r *refresher) watchFolders() {
	for _, dir := range r.folders {
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			real = dir // it may be created later
		}
		if r.watched[real] != nil {
			continue // it is a sandbox, and contains no other
		}
		if err := r.watcher.Add(watch.Root{Path: real, Rules: func(context.Context) watch.Rules { return watch.Rules{Skip: folderRules(real)} }}); err != nil {
			r.s.opts.Logger.Error("folder is not watched", "part", "code", "folder", dir, "error", err)
		}
	}
}

// folderRules are the rules of a folder in which only repositories matter.
func folderRules(root string) func(string, bool) bool {
	return func(name string, dir bool) bool {
		if !dir || !project.LooksInto(name) {
			return true
		}
		_, err := os.Lstat(filepath.Join(root, filepath.FromSlash(name), ".git", "HEAD"))
		return err == nil // it was found and is watched as a sandbox
	}
}

// appearing searches for repositories now and for a while.
func (r *refresher) appearing() {
	r.lookUntil = time.Now().Add(lookFor)
	r.look.Reset(0)
}

// discover queues unknown repositories below the folders, and schedules the next search
// while some are still being made.
func (r *refresher) discover(ctx context.Context) {
	seen := map[string]bool{}
	for _, dir := range r.folders {
		for _, root := range project.Below(dir, maxFound) {
			id, err := project.Identify(root)
			if err != nil {
				continue
			}
			if _, err := r.s.opts.Store.Sandbox(project.SandboxID(id.Root)); err == nil {
				continue
			}
			seen[id.Root] = true
			if !r.finished(id) {
				continue
			}
			delete(r.candidates, id.Root)
			if _, err := r.s.request(ctx, memory.IndexRequest{Path: id.Root}, refreshPriority); err != nil && ctx.Err() == nil {
				if why := err.Error(); r.refused[id.Root] != why {
					r.refused[id.Root] = why
					r.s.opts.Logger.Warn("repository is not indexed", "part", "code", "root", id.Root, "error", err)
				}
			}
		}
	}
	maps.DeleteFunc(r.candidates, func(root string, _ time.Time) bool { return !seen[root] })
	if len(r.candidates) > 0 || time.Now().Before(r.lookUntil) {
		r.look.Reset(lookEvery)
	}
}

// finished reports whether a repository is complete. Its project is not known earlier:
// the remote is written after the folder.
func (r *refresher) finished(id project.Identity) bool {
	since, waited := r.candidates[id.Root]
	if !waited {
		since = time.Now()
	}
	age := time.Since(since)
	if isFilling(id) && age < unfinishedFor || age < emptyFor && isEmpty(id) {
		r.candidates[id.Root] = since
		return false
	}
	return true
}

// isFilling reports whether git is fetching objects into a repository or writing its
// files: it uses temporary names until it is done.
func isFilling(id project.Identity) bool {
	if _, err := os.Lstat(filepath.Join(id.GitDir, "index.lock")); err == nil {
		return true
	}
	objects := os.DirFS(filepath.Join(id.CommonDir, "objects"))
	for _, pattern := range []string{"pack/tmp_*", "tmp_objdir-*"} {
		if found, err := fs.Glob(objects, pattern); err == nil && len(found) > 0 {
			return true
		}
	}
	return false
}

// isEmpty reports whether a repository contains only git's own files.
func isEmpty(id project.Identity) bool {
	dir, err := os.Open(id.Root)
	if err != nil {
		return false
	}
	defer dir.Close() // only read
	names, _ := dir.Readdirnames(2)
	return len(names) == 0 || len(names) == 1 && path.Base(names[0]) == ".git"
}
