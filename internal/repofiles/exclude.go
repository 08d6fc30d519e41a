package repofiles

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/recalld/recalld/internal/git"
	"github.com/recalld/recalld/internal/logging"
	"github.com/recalld/recalld/internal/memory"
)

// exclude lists a file or folder that is about to be created in the caller's repository in
// its .git/info/exclude, so that git status stays clean. What is there already is left to
// its owner, and so is a pattern that was taken back ("!" before it).
func (w *writer) exclude(caller memory.Caller, name string) {
	id := w.roots.look(caller.Dir)
	if id == nil || id.CommonDir == "" || filepath.IsAbs(name) {
		return
	}
	if _, err := os.Lstat(filepath.Join(id.Root, name)); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err := git.Exclude(id.CommonDir, "/"+path.Clean(filepath.ToSlash(name))); err != nil {
		w.log.Warn("a new file shows in git status", logging.ErrorKey, err)
	}
}
