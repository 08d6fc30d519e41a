// Package lessonlog reads and writes the lesson logs of a repository: one JSON
// line per event, one file per repository name (contract 2).
//
// Vocabulary. A log is one file, <name>.jsonl, of a folder of logs; it only
// grows. A line is one event of it, and its hash names it by its content: a
// line that recalld wrote is known by its hash when it is read again. A torn
// line is a last line without its end, because its writer was stopped or has
// not finished. The lock orders the writers of a log, the script of other
// programs among them. A part is a bounded run of lines; a problem is a line or
// file that was passed over, which never stops the rest. The script is
// log_memory.sh, which writes lines where no daemon runs.
//
// A folder of logs is named by a root and a folder below it; an absolute folder
// is its own root. No symbolic link leads out of the root.
package lessonlog

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/recalld/recalld/internal/memory"
)

// MaxLine is the longest line, in bytes, its line end included. One write of
// that size stays whole on every system that recalld runs on.
const MaxLine = 64 << 10

// suffix is what the name of every log ends in.
const suffix = ".jsonl"

// locate returns the folder to open and the folder below it.
func locate(root, dir string) (base, below string, err error) {
	switch {
	case dir == "":
		return "", "", memory.Invalid("dir", "", "no folder of logs is named")
	case filepath.IsAbs(dir):
		return filepath.Clean(dir), ".", nil
	case !filepath.IsAbs(root):
		return "", "", memory.Invalid("dir", "", "%q is no absolute folder and has no root", dir)
	case !filepath.IsLocal(dir):
		return "", "", memory.Invalid("dir", "a folder below the repository", "%q leaves it", dir)
	}
	return filepath.Clean(root), filepath.Clean(dir), nil
}

// openFolder opens a folder of logs, made when asked for. The error is
// fs.ErrNotExist when there is none.
func openFolder(root, dir string, create bool) (folder *os.Root, path string, err error) {
	base, below, err := locate(root, dir)
	if err != nil {
		return nil, "", err
	}
	path = filepath.Join(base, below)
	if create && below == "." {
		if err := os.MkdirAll(base, 0o777); err != nil {
			return nil, "", fmt.Errorf("create folder of logs: %w", err)
		}
	}
	top, err := os.OpenRoot(base)
	if err != nil {
		return nil, "", fmt.Errorf("open folder of logs: %w", err)
	}
	if below == "." {
		return top, path, nil
	}
	defer top.Close() // only its handle
	if create {
		if err := top.MkdirAll(below, 0o777); err != nil {
			return nil, "", fmt.Errorf("create folder of logs: %w", err)
		}
	}
	folder, err = top.OpenRoot(below)
	if err != nil {
		return nil, "", fmt.Errorf("open folder of logs: %w", err)
	}
	return folder, path, nil
}
