package repofiles

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/fsx"
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
	if err := excludeFrom(id.CommonDir, "/"+path.Clean(filepath.ToSlash(name))); err != nil {
		w.log.Warn("a new file shows in git status", logging.ErrorKey, err)
	}
}

// excludeFrom adds a pattern to the file info/exclude of a git folder.
func excludeFrom(commonDir, pattern string) error {
	at, err := fsx.OpenRoot(commonDir) // a link in it does not lead out
	if err != nil {
		return err
	}
	defer at.Close()
	const name = "info/exclude"
	text, err := readExclude(at, name)
	if err != nil {
		return err
	}
	known := func(line string) bool {
		line = strings.TrimSuffix(strings.TrimSpace(line), "/")
		return line == pattern || line == "!"+pattern
	}
	if slices.ContainsFunc(strings.Split(string(text), "\n"), known) {
		return nil
	}
	if err := at.MkdirAll("info", 0o777); err != nil {
		return err
	}
	return fsx.Append(at, name, []byte(pattern+"\n"))
}

// maxExclude bounds what is read of a file info/exclude, in bytes.
const maxExclude = 1 << 20

func readExclude(at *os.Root, name string) ([]byte, error) {
	f, _, err := fsx.OpenFile(at, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxExclude))
}
