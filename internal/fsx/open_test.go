package fsx

import (
	"os"
	"path/filepath"
	"testing"
)

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
