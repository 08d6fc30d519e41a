package fsx

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// Canonical returns one spelling for a folder that may be named in several:
// absolute, and with symbolic links resolved as far as the path exists.
func Canonical(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	existing, rest := abs, ""
	for {
		resolved, err := filepath.EvalSymlinks(existing)
		if err == nil {
			return filepath.Join(resolved, rest), nil
		}
		parent := filepath.Dir(existing)
		if !errors.Is(err, fs.ErrNotExist) || parent == existing {
			return "", err
		}
		existing, rest = parent, filepath.Join(filepath.Base(existing), rest)
	}
}
