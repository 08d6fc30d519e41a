package fsx

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// A file or folder made in a repository is as open to other users as the folder it lies
// in. The umask must not decide: the daemon sets one that keeps its own files private.

// Create opens a file with os.O_CREATE and the given flags. A new file gets the bits of
// mode that its folder has as well.
func Create(at *os.Root, name string, flags int, mode fs.FileMode) (*os.File, error) {
	f, err := at.OpenFile(name, flags|os.O_CREATE|os.O_EXCL, mode)
	if flags&os.O_EXCL == 0 && errors.Is(err, fs.ErrExist) {
		return at.OpenFile(name, flags|os.O_CREATE, mode)
	}
	if err != nil {
		return nil, err
	}
	inheritMode(at, name, mode)
	return f, nil
}

// Mkdir creates a folder with the permissions of its parent.
func Mkdir(at *os.Root, name string) error {
	if err := at.Mkdir(name, 0o700); err != nil {
		return err
	}
	inheritMode(at, name, 0o777)
	return nil
}

// MkdirAll creates a folder and its missing parents.
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

// inheritMode sets the bits of mode that the parent folder has on a new file or folder. In a
// folder that everybody may write to, others may only read it. File systems without such
// bits (FAT on a memory card) refuse, which is ignored.
func inheritMode(at *os.Root, name string, mode fs.FileMode) {
	if runtime.GOOS == "windows" { // only the read-only bit exists there
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
