// Package folder is what the sources share that keep their memories in files of a
// repository: opening a folder that nothing leads out of, writing a file whole,
// and what foreign names and times may look like.
//
// Vocabulary. A folder is named by a root, the repository's, and a path below it;
// an absolute path is its own root. No symbolic link leads out of the root.
package folder

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/nowait"
)

// Path returns the path of the folder dir of root. CodeInvalidInput, of the field
// dir, for one that is not named, leaves the root or has none.
func Path(root, dir string) (string, error) {
	base, below, err := locate(root, dir)
	return filepath.Join(base, below), err
}

// locate returns the folder to open and the one below it.
func locate(root, dir string) (base, below string, err error) {
	switch {
	case dir == "":
		return "", "", memory.Invalid("dir", "", "no folder is named")
	case filepath.IsAbs(dir):
		return filepath.Clean(dir), ".", nil
	case !filepath.IsAbs(root):
		return "", "", memory.Invalid("dir", "", "%q is no absolute folder and has no root", dir)
	case !filepath.IsLocal(dir):
		return "", "", memory.Invalid("dir", "a folder below the repository", "%q leaves it", dir)
	}
	return filepath.Clean(root), filepath.Clean(dir), nil
}

// Open opens the folder dir of root, made when asked for, and returns its path. The
// error is fs.ErrNotExist when there is none, CodeForbidden when it lies in git's own
// folder, by a link for instance, and those of Path.
func Open(root, dir string, create bool) (at *os.Root, path string, err error) {
	base, below, err := locate(root, dir)
	if err != nil {
		return nil, "", err
	}
	path = filepath.Join(base, below)
	if create && below == "." {
		if err := os.MkdirAll(base, 0o777); err != nil {
			return nil, "", fmt.Errorf("create folder: %w", err)
		}
	}
	top, err := nowait.Root(base)
	if err != nil {
		return nil, "", fmt.Errorf("open folder: %w", err)
	}
	if below == "." {
		return top, path, nil
	}
	defer top.Close() // only its handle
	if inGit(base, path) {
		return nil, "", memory.Errorf(memory.CodeForbidden, "%s leads into git's own folder", path)
	}
	if create {
		if err := MkdirAll(top, below); err != nil {
			return nil, "", fmt.Errorf("create folder: %w", err)
		}
	}
	if at, err = nowait.Sub(top, below); err != nil {
		return nil, "", fmt.Errorf("open folder: %w", err)
	}
	return at, path, nil
}

// inGit says that a folder, or as much of its path as exists, lies in a .git folder of
// base where its links lead: what is written there could be a reference or a hook.
func inGit(base, folder string) bool {
	real, err := filepath.EvalSymlinks(folder)
	for errors.Is(err, fs.ErrNotExist) && len(folder) > len(base) {
		folder = filepath.Dir(folder)
		real, err = filepath.EvalSymlinks(folder)
	}
	if err != nil {
		return false // opening it tells why
	}
	if base, err = filepath.EvalSymlinks(base); err != nil {
		return false
	}
	below, err := filepath.Rel(base, real)
	return err == nil && slices.ContainsFunc(strings.Split(below, string(filepath.Separator)), func(part string) bool { return strings.EqualFold(part, ".git") })
}

// MakeEmpty makes sure that a folder exists and holds nothing. CodeConflict, of the
// field path, when it holds something or is a file.
func MakeEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return fmt.Errorf("create folder of export: %w", err)
		}
		return nil
	case err == nil && len(entries) == 0:
		return nil
	}
	if info, statErr := os.Stat(dir); err != nil && (statErr != nil || info.IsDir()) {
		return fmt.Errorf("read folder of export: %w", err)
	}
	return &memory.Error{Code: memory.CodeConflict, Field: "path", Limit: "a folder that is empty or does not exist",
		Message: dir + " is not an empty folder", Hint: "name a new folder: an export never overwrites"}
}

// Replace writes a file of a folder so that it is there whole or not at all. Its
// name may be a path below the folder.
func Replace(at *os.Root, name string, text []byte, mode fs.FileMode) (err error) {
	// Its name is hidden, so that nobody takes it for what it is not yet, and its
	// own: two writers of one file do not mix.
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
	// Windows cannot sync a folder, and needs not.
	if d, err := at.Open(filepath.Join(".", dir)); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
	return nil
}

// IsDevice says that Windows takes a name for a device, whatever follows its first
// dot.
func IsDevice(name string) bool {
	stem, _, _ := strings.Cut(strings.ToLower(name), ".")
	switch stem {
	case "con", "prn", "aux", "nul", "conin$", "conout$":
		return true
	}
	port := strings.HasPrefix(stem, "com") || strings.HasPrefix(stem, "lpt")
	return port && len(stem) == 4 && '0' <= stem[3] && stem[3] <= '9'
}

// layouts are the forms of a time that are read. A time without a zone is taken as
// UTC: it is what many programs write.
var layouts = []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00",
	"2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", time.DateOnly}

// ParseTime reads a time as other programs write it, in UTC. It is not ok for what
// is none, or cannot be written with four digits of a year.
func ParseTime(text string) (t time.Time, ok bool) {
	for _, layout := range layouts {
		// Moved to UTC, a year may leave what can be written.
		if t, err := time.Parse(layout, text); err == nil && t.UTC().Year() >= 0 && t.UTC().Year() <= 9999 {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}
