package watch

import (
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// gitWork is what is known of git's work in a root.
type gitWork struct {
	// last is when git last wrote down something that belongs to it.
	last time.Time
}

// gitSteps are the files that git replaces as it works on a worktree: it builds the
// index as index.lock, changes the files, and renames it; HEAD moves last. The
// others stand for work of several steps. A status that finds nothing new touches
// none of them but index.lock, which is not a step.
var gitSteps = map[string]bool{
	"index": true, "HEAD": true, "ORIG_HEAD": true,
	"MERGE_HEAD": true, "CHERRY_PICK_HEAD": true, "REVERT_HEAD": true, "REBASE_HEAD": true,
	"AUTO_MERGE": true, "rebase-merge": true, "rebase-apply": true, "sequencer": true,
}

// event takes in an event of git's folder.
func (g *gitWork) event(base string, op fsnotify.Op) {
	if gitSteps[base] && op != fsnotify.Chmod {
		g.last = time.Now()
	}
}

// gitSequences exist while git works in several steps, with pauses between them.
// They also exist as long as a conflict waits for the user, who edits meanwhile:
// they only make the pauses longer that count as an end.
var gitSequences = []string{"rebase-merge", "rebase-apply", "sequencer"}

const (
	// sequenceFactor is how much longer git must be quiet in such work.
	sequenceFactor = 3
	// staleLock is the age at which a lock is what a git that died has left behind.
	staleLock = time.Minute
)

// busy reports whether git is at work on changes of which the first was heard of at
// some time.
func (g *gitWork) busy(o *Options, gitDir string, first time.Time) bool {
	if gitDir == "" || time.Since(first) >= o.GitHold {
		return false
	}
	if info, err := os.Lstat(filepath.Join(gitDir, "index.lock")); err == nil && time.Since(info.ModTime()) < staleLock {
		return true
	}
	if g.last.IsZero() {
		return false
	}
	quiet, since := o.GitQuiet, time.Since(g.last)
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
