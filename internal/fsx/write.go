package fsx

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// WriteFile replaces the file at path with what write writes. A crash leaves the old
// file or the new one, never a part: the new one is written to a temporary file beside
// it, synced, and renamed. Its mode is mode without the bits of the umask, whether or
// not it replaces another file. If write or the disk fails, nothing is left behind. The
// folder must exist.
func WriteFile(path string, mode fs.FileMode, write func(io.Writer) error) error {
	err := replace(path, mode, write, (*os.File).Sync)
	if err == nil {
		syncFolder(os.Open(filepath.Dir(path)))
	}
	return err
}

// WriteBytes is WriteFile for content that is in memory.
func WriteBytes(path string, mode fs.FileMode, content []byte) error {
	return WriteFile(path, mode, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// WriteUnsynced is WriteFile for a file that is checked when it is read and can be made anew:
// a crash of the machine may leave a part of it.
func WriteUnsynced(path string, mode fs.FileMode, write func(io.Writer) error) error {
	return replace(path, mode, write, func(*os.File) error { return nil })
}

func replace(path string, mode fs.FileMode, write func(io.Writer) error, sync func(*os.File) error) error {
	tmp := path + "." + strings.ToLower(rand.Text()[:10]) + ".tmp"
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return fmt.Errorf("create file: %w", err)
	}
	buffered := bufio.NewWriter(f)
	if err = write(buffered); err == nil {
		err = errors.Join(buffered.Flush(), sync(f))
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	return nil
}

// Replace is WriteFile for a file below at, with the permissions of its folder (see
// Create). Its name may be a path.
func Replace(at *os.Root, name string, text []byte, mode fs.FileMode) (err error) {
	// The temporary name is hidden, so that other programs ignore the file until it is
	// whole, and random, so that two writers of one file do not mix.
	dir, base := filepath.Split(name)
	tmp := filepath.Join(dir, "."+base+"."+rand.Text()[:8])
	f, err := Create(at, tmp, os.O_WRONLY|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = at.Rename(tmp, name)
	}
	if err != nil {
		return errors.Join(err, at.Remove(tmp))
	}
	syncFolder(at.Open(filepath.Join(".", dir)))
	return nil
}

// syncFolder syncs and closes a folder that was just opened, which makes a rename in it
// durable. Errors are ignored: a crash of the machine may then undo the rename, but does
// not damage the file. Windows cannot sync a folder and does not need to.
func syncFolder(d *os.File, err error) {
	if err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}
