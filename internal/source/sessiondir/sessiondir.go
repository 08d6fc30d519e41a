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
// A tree is named as package folder has it, and no symbolic link is followed below
// it. Nothing depends on the name of a session's folder but the id of a
// session whose files do not tell it.
package sessiondir

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/recalld/recalld/internal/fsx"
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
	newFileMode     = 0o666 // of which a file has what its folder has
	maxFileTooLarge = "at most 1048576 bytes"
)

// openFolder opens a folder of another that is no link, made when asked for.
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
	f, _, err := fsx.OpenFile(folder, name)
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
