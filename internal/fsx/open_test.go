package fsx

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestReadBeginning(t *testing.T) {
	at, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer at.Close()
	if err := at.WriteFile("f", []byte("12345"), 0o644); err != nil {
		t.Fatal(err)
	}
	for max, want := range map[int64]string{0: "", 4: "1234", 5: "12345", 9: "12345"} {
		if b, err := ReadBeginning(at, "f", max); err != nil || string(b) != want {
			t.Errorf("ReadBeginning of %d bytes = %q, %v; want %q", max, b, err, want)
		}
	}
	if _, err := ReadBeginning(at, ".", 4); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a folder is read: %v", err)
	}
	if _, err := ReadBeginning(at, "x", 4); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing is read: %v", err)
	}
}

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte("12345"), 0o644); err != nil {
		t.Fatal(err)
	}
	if b, err := ReadFile(path, 5); err != nil || string(b) != "12345" {
		t.Errorf("ReadFile = %q, %v", b, err)
	}
	for what, at := range map[string]string{"more than the bound": path, "a folder": dir, "nothing": filepath.Join(dir, "x")} {
		if _, err := ReadFile(at, 4); err == nil {
			t.Errorf("%s is read", what)
		}
	}
}
