package code

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/project"
	"github.com/recalld/recalld/internal/source/watch"
)

const (
	// maxFound bounds the repositories looked for under one folder.
	maxFound = 1000
	// lookEvery is how often repositories are looked for after something has appeared
	// below the folders, and lookFor for how long: git makes a repository in steps,
	// of which the watch sees the first.
	lookEvery = 500 * time.Millisecond
	lookFor   = 10 * time.Second
	// emptyFor is how long a repository may hold nothing before it is taken for one
	// that was just made, and not for one that is still being fetched.
	emptyFor = 2 * time.Second
	// unfinishedFor is how long a repository that git is filling is waited for.
	unfinishedFor = time.Hour
)

// timer is when repositories are looked for next.
type timer interface{ Reset(time.Duration) bool }

// sayMissing returns which folders do not exist, each once until it is there: most
// likely its name is misspelt, and nothing of it would ever be indexed.
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

// watchFolders has the folders watched as deep as repositories are looked for.
func (r *refresher) watchFolders() {
	for _, dir := range r.folders {
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			real = dir // it may come
		}
		if r.watched[real] != nil {
			continue // it is a sandbox, and nothing in it is another one
		}
		if err := r.watcher.Add(watch.Root{Path: real, Rules: func(context.Context) watch.Rules { return watch.Rules{Skip: folderRules(real)} }}); err != nil {
			r.s.opts.Logger.Error("folder is not watched", "part", "code", "folder", dir, "error", err)
		}
	}
}

// folderRules are those of a folder in which only repositories matter.
func folderRules(root string) func(string, bool) bool {
	return func(name string, dir bool) bool {
		if !dir || !project.LooksInto(name) {
			return true
		}
		_, err := os.Lstat(filepath.Join(root, filepath.FromSlash(name), ".git", "HEAD"))
		return err == nil // found, and watched by itself
	}
}

// appearing has repositories looked for now and for a while.
func (r *refresher) appearing(look timer) {
	r.lookUntil = time.Now().Add(lookFor)
	look.Reset(0)
}

// discover queues the repositories below the folders that are not known, and looks
// again soon while there is something to wait for.
func (r *refresher) discover(ctx context.Context, look timer) {
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
	for root := range r.candidates {
		if !seen[root] {
			delete(r.candidates, root)
		}
	}
	if len(r.candidates) > 0 || time.Now().Before(r.lookUntil) {
		look.Reset(lookEvery)
	}
}

// finished reports whether a repository is not being made any more. What it belongs to is
// not known earlier: its remote is written after its folder.
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

// isFilling reports whether git is fetching objects into a repository, or writing its
// files: what it makes then has names of its own until it is whole.
func isFilling(id project.Identity) bool {
	if _, err := os.Lstat(filepath.Join(id.GitDir, "index.lock")); err == nil {
		return true
	}
	for _, pattern := range []string{"pack/tmp_*", "tmp_objdir-*"} {
		if found, err := filepath.Glob(filepath.Join(escaped(id.CommonDir), "objects", filepath.FromSlash(pattern))); err == nil && len(found) > 0 {
			return true
		}
	}
	return false
}

// escaped keeps the characters of a path from being taken for a pattern's. Windows
// has no way to, and paths there seldom hold any.
func escaped(path string) string {
	if filepath.Separator != '/' {
		return path
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// isEmpty reports whether there is nothing in a repository but git's own files.
func isEmpty(id project.Identity) bool {
	dir, err := os.Open(id.Root)
	if err != nil {
		return false
	}
	defer dir.Close() // only read
	names, _ := dir.Readdirnames(2)
	return len(names) == 0 || len(names) == 1 && path.Base(names[0]) == ".git"
}
