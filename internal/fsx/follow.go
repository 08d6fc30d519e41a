package fsx

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Followed is what a follower knows of the folders that it polls, by path. It is in
// memory only and for one goroutine.
type Followed[T any] map[string]*T

// Open opens the folder dir below root and returns what is known of it, from fresh the
// first time. at is nil if the folder does not exist, and nothing is known of it then.
func (f Followed[T]) Open(root, dir string, fresh func() *T) (at *os.Root, path string, known *T, err error) {
	at, path, err = OpenFolder(root, dir, false)
	if errors.Is(err, fs.ErrNotExist) {
		f.Forget(root, dir)
		return nil, "", nil, nil
	}
	if err != nil {
		return nil, "", nil, err
	}
	if f[path] == nil {
		f[path] = fresh()
	}
	return at, path, f[path], nil
}

// Forget makes the next poll of a folder read all of it.
func (f Followed[T]) Forget(root, dir string) {
	if base, below, err := locate(root, dir); err == nil {
		delete(f, filepath.Join(base, below))
	}
}

// Sync makes states hold exactly the sorted names: it deletes those that are gone and
// adds the zero state for new ones.
func Sync[T any](states map[string]*T, names []string) {
	for name := range states {
		if _, ok := slices.BinarySearch(names, name); !ok {
			delete(states, name)
		}
	}
	for _, name := range names {
		if states[name] == nil {
			states[name] = new(T)
		}
	}
}
