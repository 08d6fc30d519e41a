package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/recalld/recalld/internal/memory"
)

// AppendLine adds a line, which ends in a newline, to the file name of the folder dir
// of root, both made if they are missing, and returns the file's path. The line is
// whole in the file, or the error says that it is not; it is not synced to disk.
// Writers may be many: each line is one write. The errors are those of Open and
// Append.
func AppendLine(root, dir, name string, line []byte) (path string, err error) {
	at, path, err := Open(root, dir, true)
	if err != nil {
		return "", err
	}
	defer at.Close() // only its handle
	if err := Append(at, name, line); err != nil {
		return "", fmt.Errorf("append to %s: %w", name, err)
	}
	return filepath.Join(path, name), nil
}

// Append adds text to a file of a folder by one write, and makes the file if it is
// missing. Behind a line that another writer left torn it begins on a new one.
// CodeForbidden when the file is not a plain one.
func Append(at *os.Root, name string, text []byte) (err error) {
	if err := CheckPlain(at, name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := Create(at, name, os.O_RDWR|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if size := info.Size(); size > 0 {
		last := make([]byte, 1)
		if _, err := f.ReadAt(last, size-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			text = append([]byte{'\n'}, text...)
		}
	}
	n, err := f.Write(text)
	if err != nil && n > 0 {
		// A disk that is full has taken a part. It is taken back, unless another writer
		// has come after it: behind a torn line that one began on a new one.
		if now, statErr := f.Stat(); statErr == nil && now.Size() == info.Size()+int64(n) {
			err = errors.Join(err, f.Truncate(info.Size()))
		}
	}
	return err
}

// CheckPlain refuses what is no regular file with CodeForbidden: a link, which may
// lead to a file of another kind, a folder, a pipe, which would make its reader
// wait. The error is fs.ErrNotExist when there is nothing.
func CheckPlain(at *os.Root, name string) error {
	info, err := at.Lstat(name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return memory.Errorf(memory.CodeForbidden, "%s is not a plain file", name)
	}
	return nil
}
