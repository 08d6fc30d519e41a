package fsx

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// MakeFolder creates a folder and its missing parents, and makes their names durable: a
// file that is synced in a folder without a name is lost when the power fails.
func MakeFolder(dir string, mode fs.FileMode) error {
	return makeFolder(dir, mode, func(parent string) { syncFolder(os.Open(parent)) })
}

func makeFolder(dir string, mode fs.FileMode, sync func(parent string)) error {
	var parents []string // of the missing folders, the lowest first
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			break
		}
		parents = append(parents, filepath.Dir(at))
	}
	if err := os.MkdirAll(dir, mode); err != nil {
		return err
	}
	for _, parent := range parents {
		sync(parent)
	}
	return nil
}

// SyncNames makes the name of a folder durable, and those of the folders above it, whoever
// created them. What cannot be synced is left: not every folder may be opened.
func SyncNames(dir string) {
	syncNames(dir, func(parent string) { syncFolder(os.Open(parent)) })
}

func syncNames(dir string, sync func(parent string)) {
	for at := filepath.Clean(dir); at != filepath.Dir(at); at = filepath.Dir(at) {
		sync(filepath.Dir(at))
	}
}
