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

// rulesOf returns what of a sandbox is watched: what a walk of it would list, as far
// as names tell.
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

// liveRules are the rules of a sandbox as they were when they were last read. They
// are for one goroutine at a time.
type liveRules struct {
	root     string
	opts     *Options
	own, git *ignores
	// tracked are the files that git tracks although its rules exclude them, and the
	// folders that they lie in.
	tracked map[string]bool
}

// skip reports whether a folder is not to be watched, or a file does not matter.
func (l *liveRules) skip(name string, dir bool) bool {
	if dir {
		if l.opts.skipDir(path.Base(name)) {
			return true
		}
		if _, err := os.Lstat(filepath.Join(l.root, filepath.FromSlash(name), ".git")); err == nil {
			return true // a repository of its own
		}
	} else if l.opts.skipName(name) != "" {
		return true
	}
	// The folder is opened for each answer: as long as it is open, some systems keep
	// it from being moved.
	root, err := fsx.OpenRoot(l.root)
	if err != nil {
		return false // it is gone, which is told in another way
	}
	defer root.Close() // only read
	l.own.root, l.git.root = root, root
	return l.own.match(name, dir) || !l.tracked[name] && l.git.match(name, dir)
}

// maxTracked bounds how many files are kept that git tracks anyway. Changes of the
// others are noticed by the next look at everything.
const maxTracked = 20_000

// trackedAnyway asks git for the files that it tracks although its rules exclude
// them, and returns them with the folders that they lie in. Without an answer the
// rules decide.
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
