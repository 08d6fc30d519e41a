package watch

import (
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// gitWork is the state of git's work in a root.
type gitWork struct {
	// last is when git last wrote a file that belongs to it.
	last time.Time
}

// gitSteps are the files that git replaces as it works on a worktree: it builds the index
// as index.lock, changes the files, and renames it; HEAD moves last. The others mark work
// of several steps. A status without new results touches only index.lock, which is not a
// step.
var gitSteps = map[string]bool{
	"index": true, "HEAD": true, "ORIG_HEAD": true,
	"MERGE_HEAD": true, "CHERRY_PICK_HEAD": true, "REVERT_HEAD": true, "REBASE_HEAD": true,
	"AUTO_MERGE": true, "rebase-merge": true, "rebase-apply": true, "sequencer": true,
}

// event handles an event of git's folder.
func (g *gitWork) event(base string, op fsnotify.Op) {
	if gitSteps[base] && op != fsnotify.Chmod {
		g.last = time.Now()
	}
}

// gitSequences exist while git works in several steps, with pauses between them. They
// also exist while a conflict waits for the user, who edits meanwhile, so they only
// lengthen the pause that counts as the end.
var gitSequences = []string{"rebase-merge", "rebase-apply", "sequencer"}

const (
	// sequenceFactor is how much longer the pause must be in such work.
	sequenceFactor = 3
	// staleLock is the age from which a lock was left by a git that died.
	staleLock = time.Minute
)

// busy reports whether git is working on changes of which the first came at some time.
func (g *gitWork) busy(o *Options, gitDir string, first time.Time) bool {
	if gitDir == "" || time.Since(first) >= o.GitHold {
		return false
	}
	if info, err := os.Lstat(filepath.Join(gitDir, "index.lock")); err == nil && time.Since(info.ModTime()) < staleLock {
		return true
	}
	last := g.last
	// On a slow machine the event of the last step may come behind changes of files.
	if info, err := os.Lstat(filepath.Join(gitDir, "index")); err == nil && info.ModTime().After(last) && !info.ModTime().After(time.Now()) {
		last = info.ModTime()
	}
	if last.IsZero() {
		return false
	}
	quiet, since := o.GitQuiet, time.Since(last)
	if since < quiet {
		return true
	}
	if quiet *= sequenceFactor; since >= quiet {
		return false
	}
	for _, name := range gitSequences {
		if _, err := os.Lstat(filepath.Join(gitDir, name)); err == nil {
			return true
		}
	}
	return false
}
