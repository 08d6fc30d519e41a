package fsx

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestMap: where files are mapped, the bytes stay readable after the file was replaced.
func TestMap(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, content := range [][]byte{nil, []byte("short"), bytes.Repeat([]byte("long "), 100_000)} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := Map(path)
		if err != nil {
			t.Fatal(err)
		}
		if Maps {
			if err := os.WriteFile(path+".new", []byte("new"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(path+".new", path); err != nil {
				t.Fatal(err)
			}
		}
		half := m.Len() / 2
		first, err := m.Bytes(0, half)
		if err != nil {
			t.Fatal(err)
		}
		second, err := m.Bytes(half, m.Len()-half)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(append(bytes.Clone(first), second...), content) {
			t.Errorf("%d and %d bytes are mapped, want the %d of the file", len(first), len(second), len(content))
		}
		runtime.KeepAlive(m)
	}
	for _, bad := range []string{path + ".missing", t.TempDir()} {
		if _, err := Map(bad); err == nil {
			t.Errorf("%s is mapped", bad)
		}
	}
}
