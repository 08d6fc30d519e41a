// Package sessiondir reads and writes sessions and their steps as files
// (contract 1): <dir>/<sessionId>/session.json, and each step as
// <dir>/<sessionId>/steps/<timestamp>-<tool>.json.
//
// Vocabulary. A tree is a folder of sessions; a session's folder is one folder
// of it, with a session file, step files, and the pictures that steps name under
// screenshots/. A bare session is one without a session file. The rest of a
// file is what this version does not know of it, or would write in another form:
// it is kept as Extra and put back when the file is written again, below what
// is known. A part is a bounded number of steps with their session; a problem
// is a file that was passed over, which never stops the others. A file is
// half-written when it is no JSON yet and was changed a moment ago.
//
// A tree is named by a root and a folder below it; an absolute folder is its own
// root. No symbolic link leads out of the root, and none is followed below the
// tree. Nothing depends on the name of a session's folder but the id of a
// session whose files do not tell it.
package sessiondir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/recalld/recalld/internal/memory"
)

// SchemaVersion is the version of the files that are written. What is known of
// files of a later one is read.
const SchemaVersion = 1

// MaxFile is the largest session or step file that is read, in bytes.
const MaxFile = 1 << 20

// The names in a session's folder.
const (
	sessionFile     = "session.json"
	stepsFolder     = "steps"
	picturesFolder  = "screenshots"
	fileSuffix      = ".json"
	newFileMode     = 0o666 // the user's umask decides, as for what else is in a repository
	newFolderMode   = 0o777
	maxFileTooLarge = "at most 1048576 bytes"
)

// locate returns the folder to open and the tree's folder below it.
func locate(root, dir string) (base, below string, err error) {
	switch {
	case dir == "":
		return "", "", memory.Invalid("dir", "", "no folder of sessions is named")
	case filepath.IsAbs(dir):
		return filepath.Clean(dir), ".", nil
	case !filepath.IsAbs(root):
		return "", "", memory.Invalid("dir", "", "%q is no absolute folder and has no root", dir)
	case !filepath.IsLocal(dir):
		return "", "", memory.Invalid("dir", "a folder below the repository", "%q leaves it", dir)
	}
	return filepath.Clean(root), filepath.Clean(dir), nil
}

// openTree opens a tree, made when asked for, and returns its path. The error is
// fs.ErrNotExist when there is none.
func openTree(root, dir string, create bool) (tree *os.Root, path string, err error) {
	base, below, err := locate(root, dir)
	if err != nil {
		return nil, "", err
	}
	path = filepath.Join(base, below)
	if create && below == "." {
		if err := os.MkdirAll(base, newFolderMode); err != nil {
			return nil, "", fmt.Errorf("create folder of sessions: %w", err)
		}
	}
	top, err := os.OpenRoot(base)
	if err != nil {
		return nil, "", fmt.Errorf("open folder of sessions: %w", err)
	}
	if below == "." {
		return top, path, nil
	}
	defer top.Close() // only its handle
	if create {
		if err := top.MkdirAll(below, newFolderMode); err != nil {
			return nil, "", fmt.Errorf("create folder of sessions: %w", err)
		}
	}
	if tree, err = top.OpenRoot(below); err != nil {
		return nil, "", fmt.Errorf("open folder of sessions: %w", err)
	}
	return tree, path, nil
}

// openFolder opens a folder of folder that is no link, made when asked for.
func openFolder(folder *os.Root, name string, create bool) (*os.Root, error) {
	info, err := folder.Lstat(name)
	if create && errors.Is(err, fs.ErrNotExist) {
		if err = folder.Mkdir(name, newFolderMode); err == nil || errors.Is(err, fs.ErrExist) {
			info, err = folder.Lstat(name)
		}
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, memory.Errorf(memory.CodeForbidden, "%s is not a plain folder", name)
	}
	return folder.OpenRoot(name)
}

// readFile reads a plain file of at most MaxFile bytes. The error is CodeForbidden
// for what is no plain file and CodeInvalidInput for one that is too large.
func readFile(folder *os.Root, name string) ([]byte, fs.FileInfo, error) {
	// A link may lead to what is no session, a pipe makes its reader wait.
	info, err := folder.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, info, memory.Errorf(memory.CodeForbidden, "is not a plain file")
	}
	f, err := folder.Open(name)
	if err != nil {
		return nil, info, err
	}
	defer f.Close() // only read
	text, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return nil, info, err
	}
	if len(text) > MaxFile {
		return nil, info, memory.Invalid("file", maxFileTooLarge, "is too large")
	}
	return text, info, nil
}
