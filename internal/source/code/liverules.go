package code

import (
	"context"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

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
		before := excludeState(id)
		if err == nil && id.GitDir != "" {
			rules.tracked = trackedAnyway(ctx, root, opts)
		}
		rules.own = newIgnores(nil, recalldIgnore, nil)
		rules.git = newIgnores(nil, ".gitignore", excludes(id))
		return watch.Rules{GitDir: id.GitDir, Skip: rules.skip, Changed: func() bool { return excludeState(id) != before }}
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
		if base := path.Base(name); l.opts.skipDir(base) && !(l.tracked[name] && slices.Contains(outputDirs, base)) {
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

// trackedAnyway asks git for the files that it tracks although its rules exclude them, or
// although they are in a folder for output, and returns them with their folders. Without an
// answer the rules decide.
func trackedAnyway(ctx context.Context, root string, opts *Options) map[string]bool {
	if opts.Git == "none" {
		return nil
	}
	tracked, _ := listTracked(ctx, root, opts, git.TrackedIgnored, nil, func(string) bool { return true })
	outputs, _ := trackedOutputs(ctx, root, opts, nil)
	if tracked == nil {
		return outputs
	}
	maps.Copy(tracked, outputs)
	return tracked
}
