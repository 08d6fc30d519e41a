// Package atomicfile writes files of ours whole: whatever happens meanwhile,
// there is the old file or the new one under the name, never a part of one.
package atomicfile

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

// Write replaces the file at path with what write writes. It is written beside
// its place, brought to disk, moved there, and the folder is brought to disk as
// well. A new file gets mode without the bits of the umask, as os.OpenFile gives
// it; so does one that replaces another. When write or the disk fails nothing is
// left behind. The folder must exist.
func Write(path string, mode fs.FileMode, write func(io.Writer) error) error {
	tmp := path + "." + strings.ToLower(rand.Text()[:10]) + ".tmp"
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return fmt.Errorf("create file: %w", err)
	}
	buffered := bufio.NewWriter(f)
	if err = write(buffered); err == nil {
		err = errors.Join(buffered.Flush(), f.Sync())
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	syncFolder(filepath.Dir(path))
	return nil
}

// syncFolder brings the name of a file to disk. What fails here costs the new
// name in a crash of the machine, not the file; Windows cannot, and needs not.
func syncFolder(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}
