package fsx

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/recalld/recalld/internal/memory"
)

// AppendLine appends a line, which ends in a newline, to the file name of the folder dir
// below root, and returns the file's path. It creates both if they are missing. Without
// an error the whole line is in the file, but it is not synced to disk. Several writers
// may append at once: each line is one write. It returns the errors of OpenFolder and
// Append.
func AppendLine(root, dir, name string, line []byte) (path string, err error) {
	at, path, err := OpenFolder(root, dir, true)
	if err != nil {
		return "", err
	}
	defer at.Close() // only its handle
	if err := Append(at, name, line); err != nil {
		return "", fmt.Errorf("append to %s: %w", name, err)
	}
	return filepath.Join(path, name), nil
}

// Append appends text to a file of a folder by one write and creates the file if it is
// missing. After a line that another writer left without its end, text begins on a new
// line. It returns CodeForbidden if the file is not a regular one.
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
		// A full disk has taken a part of the text. It is removed, unless another writer
		// appended after it, which then began on a new line.
		if now, statErr := f.Stat(); statErr == nil && now.Size() == info.Size()+int64(n) {
			err = errors.Join(err, f.Truncate(info.Size()))
		}
	}
	return err
}

// CheckPlain returns CodeForbidden for anything but a regular file: a link may lead to a
// file of another kind, and opening a pipe waits. It returns fs.ErrNotExist if there is
// nothing.
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
