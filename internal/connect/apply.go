package connect

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
)

// Applied is the result of a change.
type Applied struct {
	// Changed says that the file was written, Removed that it was deleted.
	Changed bool
	Removed bool
	// Backup is the copy of the former file; empty for a new file.
	Backup string
}

// Apply carries out a change: it copies the former file beside itself, with the time in the
// copy's name, and replaces the file atomically. It follows a link. It returns CodeConflict
// if the file has changed since the plan.
func Apply(c Change, now time.Time) (Applied, error) {
	if c.None() {
		return Applied{}, nil
	}
	is, err := readFile(c.Path)
	if err != nil {
		return Applied{}, err
	}
	if !bytes.Equal(is, c.Before) || (is == nil) != (c.Before == nil) {
		return Applied{}, &memory.Error{Code: memory.CodeConflict, Field: "file", Message: c.Path + " was changed meanwhile", Hint: "try again"}
	}
	target := c.Path
	mode := fs.FileMode(0o600) // settings contain the keys of other servers
	if c.Before == nil {
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return Applied{}, fmt.Errorf("create folder of %s: %w", target, err)
		}
		if c.What == whatInstructions {
			mode = 0o644
		}
	} else {
		if target, err = filepath.EvalSymlinks(target); err != nil {
			return Applied{}, fmt.Errorf("follow %s: %w", c.Path, err)
		}
		info, err := os.Stat(target)
		if err != nil {
			return Applied{}, fmt.Errorf("look at %s: %w", target, err)
		}
		mode = info.Mode().Perm()
	}
	out := Applied{Changed: true}
	if c.Before != nil {
		if out.Backup, err = backup(target, mode, c.Before, now); err != nil {
			return Applied{}, err
		}
	}
	if c.After == nil {
		if err := os.Remove(target); err != nil {
			return Applied{}, fmt.Errorf("remove %s: %w", target, err)
		}
		out.Removed = true
		return out, nil
	}
	if err := write(target, mode, c.After); err != nil {
		return Applied{}, err
	}
	return out, nil
}

// write replaces a file's text and keeps its mode despite the umask.
func write(path string, mode fs.FileMode, text []byte) error {
	err := fsx.WriteFile(path, mode, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Chmod(path, mode); err != nil {
		return fmt.Errorf("set mode of %s: %w", path, err)
	}
	return nil
}

// backup copies a file to <file>.recalld-YYYYMMDD-HHMMSS.bak, with a number if
// that is taken.
func backup(path string, mode fs.FileMode, text []byte, now time.Time) (string, error) {
	for n := 1; ; n++ {
		to := fmt.Sprintf("%s.recalld-%s.bak", path, now.Format("20060102-150405"))
		if n > 1 {
			to = fmt.Sprintf("%s.recalld-%s-%d.bak", path, now.Format("20060102-150405"), n)
		}
		if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			return to, write(to, mode, text)
		} else if err != nil {
			return "", fmt.Errorf("name backup: %w", err)
		}
	}
}

// writable returns an error for a file that its owner has made read-only. Replacing it
// would be possible, but its mode says that it must not change.
func writable(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at %s: %w", path, err)
	}
	if info.Mode().Perm()&0o200 == 0 {
		return &memory.Error{Code: memory.CodeForbidden, Field: "file", Message: path + " is read-only",
			Hint: "make it writable, or paste what --print shows"}
	}
	return nil
}
