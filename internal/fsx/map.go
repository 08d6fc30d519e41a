package fsx

import (
	"errors"
	"fmt"
	"os"
)

// Map maps a file into memory where the system can (see Maps): a page is read when it is
// used, and counts as the system's cache. Elsewhere parts of it are read. Nobody may change
// the file or cut it short; it may be replaced and removed.
func Map(path string) (*Mapped, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	var m *Mapped
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = errors.New("it is not a file")
	default:
		m, err = newMapped(f, info.Size())
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("map %s: %w", path, err)
	}
	return m, nil
}
