// Package sessiondir reads and writes sessions and their steps as files (contract 1):
// <dir>/<sessionId>/session.json, and each step as
// <dir>/<sessionId>/steps/<timestamp>-<tool>.json.
//
// A tree is a folder of sessions. The folder of a session has a session file, step files,
// and the pictures of steps under screenshots/. A bare session has no session file.
// Fields that this version does not know, or would write in another form, are kept as
// Extra and written back after the known ones. A batch is a bounded number of steps with
// their session. A problem is a file that was skipped; it never stops the others. A file
// is half-written if it is not JSON yet and was changed a moment ago.
//
// A tree is named by a root and a path below it, as in package fsx. Symbolic links below
// it are not followed. The name of a session's folder matters only if its files have no
// id.
package sessiondir

import (
	"errors"
	"io/fs"
	"os"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
)

// SchemaVersion is the version of the files that are written. Of files of a later version
// the known fields are read.
const SchemaVersion = 1

// MaxFile is the largest session or step file that is read, in bytes.
const MaxFile = 1 << 20

// The names in a session's folder.
const (
	sessionFile     = "session.json"
	stepsFolder     = "steps"
	picturesFolder  = "screenshots"
	fileSuffix      = ".json"
	newFileMode     = 0o666 // less the bits that the folder does not have
	maxFileTooLarge = "at most 1048576 bytes"
)

// openFolder opens a subfolder that is not a link, and creates it if asked to.
func openFolder(at *os.Root, name string, create bool) (*os.Root, error) {
	info, err := at.Lstat(name)
	if create && errors.Is(err, fs.ErrNotExist) {
		if err = fsx.Mkdir(at, name); err == nil || errors.Is(err, fs.ErrExist) {
			info, err = at.Lstat(name)
		}
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, memory.Errorf(memory.CodeForbidden, "%s is not a plain folder", name)
	}
	return fsx.OpenRootAt(at, name)
}

// readFile reads a regular file of at most MaxFile bytes. It returns CodeForbidden for
// other kinds of files and CodeInvalidInput for one that is too large.
func readFile(folder *os.Root, name string) ([]byte, error) {
	if err := fsx.CheckPlain(folder, name); err != nil {
		return nil, err
	}
	text, err := fsx.ReadBeginning(folder, name, MaxFile+1)
	if err == nil && len(text) > MaxFile {
		return nil, memory.Invalid("file", maxFileTooLarge, "is too large")
	}
	return text, err
}
