//go:build unix

package fsx

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestNothingWaits opens a named pipe, and a link to one, in every way: each fails at
// once, and so does what is missing. What is right opens.
func TestNothingWaits(t *testing.T) {
	dir := t.TempDir()
	for _, err := range []error{
		syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600), os.Symlink("pipe", filepath.Join(dir, "link")),
		os.Mkdir(filepath.Join(dir, "folder"), 0o700), os.WriteFile(filepath.Join(dir, "file"), []byte("text"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	at, err := OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer at.Close()
	ways := map[string]struct {
		folder bool
		open   func(name string) error
	}{
		"Root":   {true, func(name string) error { r, err := OpenRoot(filepath.Join(dir, name)); return closing(r, err) }},
		"Sub":    {true, func(name string) error { r, err := OpenRootAt(at, name); return closing(r, err) }},
		"Folder": {true, func(name string) error { f, err := OpenDir(at, name); return closing(f, err) }},
		"File":   {false, func(name string) error { f, _, err := OpenFile(at, name); return closing(f, err) }},
		"ReadFile": {false, func(name string) error {
			_, err := ReadFile(filepath.Join(dir, name), 4)
			return err
		}},
	}
	for way, w := range ways {
		right, wrong := "file", "folder"
		if w.folder {
			right, wrong = wrong, right
		}
		for _, name := range []string{"pipe", "link", wrong, "missing", right} {
			done := make(chan error, 1)
			go func() { done <- w.open(name) }()
			select {
			case err := <-done:
				if (err == nil) != (name == right) {
					t.Errorf("%s(%s) = %v", way, name, err)
				}
				if name == "missing" && !errors.Is(err, fs.ErrNotExist) || name == "pipe" && !w.folder && !errors.Is(err, ErrNotRegular) {
					t.Errorf("%s(%s) = %v, want an error that says so", way, name, err)
				}
			case <-time.After(10 * time.Second):
				t.Fatalf("%s(%s) waits", way, name)
			}
		}
	}
}

type closer interface{ Close() error }

func closing(c closer, err error) error {
	if err != nil {
		return err
	}
	return c.Close()
}
