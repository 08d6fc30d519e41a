package folder

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// What is made in a repository is as open to other users as the folder it lies
// in. The umask does not decide: the daemon's keeps everything private, for its
// own files.

// Create opens a file with os.O_CREATE and some more flags. A file that it makes
// has the bits of mode that its folder has.
func Create(at *os.Root, name string, flags int, mode fs.FileMode) (*os.File, error) {
	f, err := at.OpenFile(name, flags|os.O_CREATE|os.O_EXCL, mode)
	if flags&os.O_EXCL == 0 && errors.Is(err, fs.ErrExist) {
		return at.OpenFile(name, flags|os.O_CREATE, mode)
	}
	if err != nil {
		return nil, err
	}
	open(at, name, mode)
	return f, nil
}

// Mkdir makes a folder with the bits that the one above it has.
func Mkdir(at *os.Root, name string) error {
	if err := at.Mkdir(name, 0o700); err != nil {
		return err
	}
	open(at, name, 0o777)
	return nil
}

// MkdirAll makes a folder and those above it that are missing.
func MkdirAll(at *os.Root, name string) error {
	path := ""
	for part := range strings.SplitSeq(filepath.ToSlash(filepath.Clean(name)), "/") {
		path = filepath.Join(path, part)
		if err := Mkdir(at, path); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// open gives what was just made the bits of mode that its folder has. In a folder
// that everybody may write to, others may read it at most. A file system that
// keeps no such bits, as that of many memory cards, refuses: there it stays as it is.
func open(at *os.Root, name string, mode fs.FileMode) {
	if runtime.GOOS == "windows" { // its only such bit is that of a read-only file
		return
	}
	parent, err := at.Stat(filepath.Dir(name))
	if err != nil {
		return
	}
	bits := parent.Mode().Perm()
	if bits&0o002 != 0 {
		bits &^= 0o022
	}
	_ = at.Chmod(name, bits&mode)
}
