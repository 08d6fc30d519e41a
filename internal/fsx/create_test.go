package fsx

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// What is made in a repository is as open as the folder it lies in, whatever the
// umask; below a folder that everybody may write to, nobody else may write.
func TestAsOpenAsTheFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no permission bits: run it on Linux or macOS")
	}
	for _, test := range []struct{ root, folder, file os.FileMode }{
		{0o755, 0o755, 0o644}, {0o700, 0o700, 0o600}, {0o775, 0o775, 0o664}, {0o777, 0o755, 0o644},
	} {
		root := t.TempDir()
		if err := os.Chmod(root, test.root); err != nil {
			t.Fatal(err)
		}
		if _, err := AppendLine(root, "a/b", "log", []byte("line\n")); err != nil {
			t.Fatal(err)
		}
		at, _, err := OpenFolder(root, "a", true)
		if err != nil {
			t.Fatal(err)
		}
		defer at.Close()
		if err := Replace(at, "whole", []byte("x"), 0o666); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]os.FileMode{"a": test.folder, "a/b": test.folder, "a/b/log": test.file, "a/whole": test.file} {
			info, err := os.Stat(filepath.Join(root, name))
			if err != nil {
				t.Fatal(err)
			}
			if got := info.Mode().Perm(); got != want {
				t.Errorf("in a folder of mode %o, %s has %o, want %o", test.root, name, got, want)
			}
		}
	}
}
