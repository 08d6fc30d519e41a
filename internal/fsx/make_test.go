package fsx

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestMakeFolder: each folder that gets a new name in it is synced, and no other.
func TestMakeFolder(t *testing.T) {
	top := t.TempDir()
	var synced []string
	sync := func(parent string) { synced = append(synced, parent) }
	dir := filepath.Join(top, "a", "b", "c")
	if err := makeFolder(dir, 0o700, sync); err != nil {
		t.Fatal(err)
	}
	if want := []string{filepath.Join(top, "a", "b"), filepath.Join(top, "a"), top}; !slices.Equal(synced, want) {
		t.Errorf("synced %v, want %v", synced, want)
	}
	synced = nil
	if err := makeFolder(dir, 0o700, sync); err != nil || len(synced) > 0 {
		t.Errorf("a folder that exists: %v, synced %v", err, synced)
	}
	if err := os.WriteFile(filepath.Join(top, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := makeFolder(filepath.Join(top, "file", "x"), 0o700, sync); err == nil || len(synced) > 0 {
		t.Errorf("below a file: %v, synced %v", err, synced)
	}
	if err := MakeFolder(filepath.Join(top, "d", "e"), 0o700); err != nil {
		t.Error(err)
	}
}

// TestSyncNames: every folder above is synced, whether or not it is new.
func TestSyncNames(t *testing.T) {
	var synced []string
	syncNames(filepath.FromSlash("/a/b/c/"), func(parent string) { synced = append(synced, filepath.ToSlash(parent)) })
	if want := []string{"/a/b", "/a", "/"}; !slices.Equal(synced, want) {
		t.Errorf("synced %v, want %v", synced, want)
	}
	SyncNames(t.TempDir())
}
