package connect

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
)

// Applied is the result of a change.
type Applied struct {
	// Changed says that the file was written or deleted.
	Changed bool
	// Backup is the copy of the former file; empty for a new file, and for one that is as
	// it was before recalld was in it.
	Backup string

	target string // the file that Path leads to
	mode   fs.FileMode
}

// Apply carries out a change: it copies the former file beside itself, with the time in the
// copy's name, and replaces the file atomically. It follows a link. It returns CodeConflict
// if the file has changed since the plan. What it makes is noted in created. If byClient is
// not nil, it may write the file in Apply's place, and says whether it has.
func Apply(c Change, now time.Time, created *Created, byClient func() bool) (done Applied, err error) {
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
	done = Applied{Changed: true, mode: 0o600} // settings contain the keys of other servers
	if c.What == whatInstructions {
		done.mode = 0o644
	}
	if done.target, err = follow(c.Path); err != nil {
		return Applied{}, err
	}
	ours := c.goes && created.has(done.target)
	defer func() {
		if err != nil {
			err = errors.Join(err, Undo(c, done, created))
		}
	}()
	if c.Before == nil {
		var made []string
		if made, err = makeFolders(filepath.Dir(done.target)); err != nil {
			return done, err
		}
		err = created.add(append(made, done.target))
	} else {
		var info fs.FileInfo
		if info, err = os.Stat(done.target); err != nil {
			return done, fmt.Errorf("look at %s: %w", done.target, err)
		}
		done.mode = info.Mode().Perm()
		if !c.follows && !c.exact && !ours {
			done.Backup, err = backup(done.target, done.mode, c.Before, now)
		}
	}
	if err != nil {
		return done, err
	}
	if c.After == nil {
		if err = os.Remove(done.target); err != nil {
			return done, fmt.Errorf("remove %s: %w", done.target, err)
		}
		if ours {
			dropBackups(c.drops)
		}
		return done, created.removeFolders(done.target)
	}
	if byClient != nil && byClient() {
		return done, nil
	}
	if err = write(done.target, done.mode, c.After); err == nil && c.exact {
		dropBackups(c.drops)
	}
	return done, err
}

// Undo takes a change back that Apply has carried out.
func Undo(c Change, done Applied, created *Created) error {
	if !done.Changed {
		return nil
	}
	var err error
	if c.Before == nil {
		if err = os.Remove(done.target); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return errors.Join(err, created.removeFolders(done.target))
	}
	if is, readErr := readFile(c.Path); readErr != nil || !bytes.Equal(is, c.Before) || is == nil {
		if err = os.MkdirAll(filepath.Dir(done.target), 0o755); err == nil {
			err = write(done.target, done.mode, c.Before)
		}
	}
	if err == nil && done.Backup != "" {
		err = os.Remove(done.Backup)
	}
	return err
}

// follow returns the file that a path leads to. A link may lead to a file that does not
// exist yet.
func follow(path string) (string, error) {
	for range 40 { // as many as systems follow
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode()&fs.ModeSymlink == 0 {
			return path, nil
		}
		if err != nil {
			return "", fmt.Errorf("follow %s: %w", path, err)
		}
		to, err := os.Readlink(path)
		if err != nil {
			return "", fmt.Errorf("follow %s: %w", path, err)
		}
		if !filepath.IsAbs(to) {
			dir := filepath.Dir(path)
			// The folder may be a link, too: ".." leads out of what it leads to.
			if real, err := filepath.EvalSymlinks(dir); err == nil {
				dir = real
			}
			to = filepath.Join(dir, to)
		}
		path = to
	}
	return "", memory.Errorf(memory.CodeConflict, "%s is a link in a circle", path)
}

// write replaces a file's text and keeps its mode despite the umask.
func write(path string, mode fs.FileMode, text []byte) error {
	if err := fsx.WriteBytes(path, mode, text); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Chmod(path, mode); err != nil {
		return fmt.Errorf("set mode of %s: %w", path, err)
	}
	return nil
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
