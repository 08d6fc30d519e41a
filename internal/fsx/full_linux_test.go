package fsx

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A line that a full disk takes in part is taken back.
func TestAppendToFullDisk(t *testing.T) {
	root := t.TempDir()
	if err := syscall.Mount("tmpfs", root, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("this test needs a small disk, which root can mount: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(root, 0); err != nil {
			t.Error(err)
		}
	})
	line := strings.Repeat("x", 25_000) + "\n"
	if _, err := AppendLine(root, "logs", "a.jsonl", []byte(line)); err != nil {
		t.Fatal(err)
	}
	if _, err := AppendLine(root, "logs", "a.jsonl", []byte(strings.Repeat(line, 3))); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("a line for which there is no room gives %v, want %v", err, syscall.ENOSPC)
	}
	if got, err := os.ReadFile(filepath.Join(root, "logs", "a.jsonl")); err != nil || string(got) != line {
		t.Errorf("the log has %d bytes, %v; want the %d of the whole line", len(got), err, len(line))
	}
}
