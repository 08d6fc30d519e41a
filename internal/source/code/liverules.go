package code

import (
	"context"
	"os"
	"path"
	"path/filepath"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/git"
	"github.com/recalld/recalld/internal/project"
	"github.com/recalld/recalld/internal/source/watch"
)

// rulesOf returns the rules by which a sandbox is watched: a walk's rules, as far as they
// need file names only.
func (s *Sandboxes) rulesOf(root string) func(context.Context) watch.Rules {
	return func(ctx context.Context) watch.Rules {
		opts := &s.opts.Run
		rules := &liveRules{root: root, opts: opts}
		id, err := project.Identify(root)
		if err == nil && id.GitDir != "" {
			rules.tracked = trackedAnyway(ctx, root, opts.Git)
		}
		rules.own = newIgnores(nil, recalldIgnore, nil)
		rules.git = newIgnores(nil, ".gitignore", excludes(id))
		return watch.Rules{GitDir: id.GitDir, Skip: rules.skip}
	}
}

// liveRules are the rules of a sandbox at one time. They are for one goroutine at a time.
type liveRules struct {
	root     string
	opts     *Options
	own, git *ignores
	// tracked are the files that git tracks although its rules exclude them, and their
	// folders.
	tracked map[string]bool
}

// skip reports whether a folder need not be watched, or a file does not matter.
func (l *liveRules) skip(name string, dir bool) bool {
	if dir {
		if l.opts.skipDir(path.Base(name)) {
			return true
		}
		if _, err := os.Lstat(filepath.Join(l.root, filepath.FromSlash(name), ".git")); err == nil {
			return true // a separate repository
		}
	} else if l.opts.skipName(name) != "" {
		return true
	}
	// The folder is opened for each call: some systems do not let an open folder be
	// moved.
	root, err := fsx.OpenRoot(l.root)
	if err != nil {
		return false // the folder is gone; the watcher reports that
	}
	defer root.Close() // only read
	l.own.root, l.git.root = root, root
	return l.own.match(name, dir) || !l.tracked[name] && l.git.match(name, dir)
}

// maxTracked bounds the tracked files that are kept. Changes of the others are noticed by
// the next full rescan.
const maxTracked = 20_000

// trackedAnyway asks git for the files that it tracks although its rules exclude them,
// and returns them with their folders. Without an answer the rules decide.
func trackedAnyway(ctx context.Context, root, program string) map[string]bool {
	if program == "none" {
		return nil
	}
	tracked := map[string]bool{}
	_, err := git.List(ctx, program, root, git.TrackedIgnored, nil, func(name string) error {
		for ; name != "." && name != "" && !tracked[name] && len(tracked) < maxTracked; name = path.Dir(name) {
			tracked[name] = true
		}
		return nil
	})
	if err != nil {
		return nil
	}
	return tracked
}
