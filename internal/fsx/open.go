package fsx

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ErrNotRegular is returned for anything that exists and is not a regular file.
var ErrNotRegular = errors.New("is not a regular file")

// OpenRoot is os.OpenRoot, without waiting. It fails for anything but a folder.
func OpenRoot(path string) (*os.Root, error) { return os.OpenRoot(path + folderOnly) }

// OpenRootAt opens the folder name below at. It fails for anything but a folder.
func OpenRootAt(at *os.Root, name string) (*os.Root, error) { return at.OpenRoot(name + folderOnly) }

// OpenDir opens a folder below at for listing. It fails for anything but a folder.
func OpenDir(at *os.Root, name string) (*os.File, error) { return at.Open(name + folderOnly) }

// OpenFile opens a regular file below at for reading. For anything else that exists the
// error wraps ErrNotRegular and info describes it.
func OpenFile(at *os.Root, name string) (f *os.File, info fs.FileInfo, err error) {
	return regular(at.OpenFile(name, os.O_RDONLY|nonblock, 0))
}

// Open opens a regular file for reading. A symbolic link is followed. The error wraps
// ErrNotRegular for anything else that exists.
func Open(path string) (*os.File, error) {
	f, _, err := regular(os.OpenFile(path, os.O_RDONLY|nonblock, 0))
	return f, err
}

// ReadFile reads a regular file of at most max bytes. A symbolic link is followed. The
// error wraps ErrNotRegular for anything else that exists.
func ReadFile(path string, max int64) ([]byte, error) {
	f, info, err := regular(os.OpenFile(path, os.O_RDONLY|nonblock, 0))
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	if info.Size() > max {
		return nil, fmt.Errorf("%s has more than %d bytes", path, max)
	}
	b, err := io.ReadAll(io.LimitReader(f, max+1))
	if err == nil && int64(len(b)) > max {
		err = fmt.Errorf("%s grew beyond %d bytes", path, max)
	}
	return b, err
}

// ReadBeginning reads at most max bytes of a regular file below at, with the errors of
// OpenFile. It says nothing of what follows them.
func ReadBeginning(at *os.Root, name string, max int64) ([]byte, error) {
	f, _, err := OpenFile(at, name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	return io.ReadAll(io.LimitReader(f, max))
}

// regular closes a file that was just opened if it is not a regular one.
func regular(f *os.File, err error) (*os.File, fs.FileInfo, error) {
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: f.Name(), Err: ErrNotRegular}
	}
	if err != nil {
		f.Close() // only read
		return nil, info, err
	}
	return f, info, nil
}
