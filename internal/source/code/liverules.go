package code

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/project"
	"github.com/recalld/recalld/internal/source/watch"
)

// rulesOf returns what of a sandbox is watched: what a walk of it would list, as far
// as names tell.
func (s *Sandboxes) rulesOf(root string) func(context.Context) watch.Rules {
	return func(ctx context.Context) watch.Rules {
		opts := &s.opts.Run
		rules := &liveRules{root: root, opts: opts}
		var exclude []ignoreRule
		id, err := project.Identify(root)
		if err == nil && id.GitDir != "" {
			if b, err := os.ReadFile(filepath.Join(id.CommonDir, "info", "exclude")); err == nil {
				exclude = parseIgnores(b, "")
			}
			rules.tracked = trackedAnyway(ctx, root, opts.Git)
		}
		rules.own = newIgnores(nil, recalldIgnore, nil)
		rules.git = newIgnores(nil, ".gitignore", exclude)
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

// skip says that a folder is not to be watched, or a file does not matter.
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
	root, err := os.OpenRoot(l.root)
	if err != nil {
		return false // it is gone, which is told in another way
	}
	defer root.Close() // only read
	l.own.root, l.git.root = root, root
	return l.own.match(name, dir) || !l.tracked[name] && l.git.match(name, dir)
}

const (
	// trackedTimeout is how long git may look for what it tracks anyway; without an
	// answer its rules decide, and such files are noticed by the next look at all.
	trackedTimeout = 2 * time.Second
	// maxTracked bounds the listing, in bytes.
	maxTracked = 1 << 20
)

// trackedAnyway asks git for the files that it tracks although its rules exclude
// them, and returns them with the folders that they lie in.
func trackedAnyway(ctx context.Context, root, program string) map[string]bool {
	if program == "none" {
		return nil
	}
	git, err := exec.LookPath(program)
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, trackedTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, git, "-c", "core.fsmonitor=false", "ls-files", "-z", "--cached", "--ignored", "--exclude-standard")
	cmd.Dir, cmd.Env = root, project.GitEnv()
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout = &limited{w: &out, left: maxTracked}
	if err := cmd.Run(); err != nil {
		return nil
	}
	tracked := map[string]bool{}
	for name := range strings.SplitSeq(strings.TrimRight(out.String(), "\x00"), "\x00") {
		for ; name != "." && name != "" && !tracked[name]; name = path.Dir(name) {
			tracked[name] = true
		}
	}
	return tracked
}
